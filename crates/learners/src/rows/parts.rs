//! Sparse vectors, one behind the other, most of whose entries are +1 or -1.
//!
//! A tuple reads one entry of its table, so that the difference of two boards has an entry that
//! came for each that went. Those need no value and no multiplication. So that one loop without
//! any decision goes over both, a full vector is laid out twice, once as it is and once negated
//! ([`Parts::spread`]): an entry +1 is its index, an entry -1 its index in the second half, and
//! lists are filled up to fours with indices behind both, where there is always zero. Entries of
//! any other value stand apart with it.

/// Lists are filled up to a multiple of this.
const LANES: usize = 4;

/// Where the entries of a vector begin.
#[derive(Clone, Copy, Debug, Default)]
struct Start {
    /// Those of value +1 or -1, in fours.
    units: u32,
    /// Those of another value.
    others: u32,
}

/// The vectors.
#[derive(Clone, Debug)]
pub(crate) struct Parts {
    /// How many columns there are.
    columns: u32,
    /// One for each vector, and one behind the last.
    starts: Vec<Start>,
    units: Vec<[u32; LANES]>,
    others: Vec<(u32, f32)>,
}

/// One vector.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Part<'a> {
    columns: u32,
    units: &'a [[u32; LANES]],
    others: &'a [(u32, f32)],
}

impl Parts {
    /// None, with room for so many with so many entries of either kind in all.
    pub fn with_room(columns: usize, vectors: usize, units: usize, others: usize) -> Parts {
        let mut starts = Vec::with_capacity(vectors + 1);
        starts.push(Start::default());
        Parts {
            columns: columns as u32,
            starts,
            units: Vec::with_capacity(units),
            others: Vec::with_capacity(others),
        }
    }

    /// How many fours of entries +1 or -1 there are, and how many other entries.
    pub fn sizes(&self) -> (usize, usize) {
        (self.units.len(), self.others.len())
    }

    /// How much memory they take.
    pub fn bytes(&self) -> usize {
        size_of_val(&self.starts[..]) + size_of_val(&self.units[..]) + size_of_val(&self.others[..])
    }

    /// A vector.
    #[inline]
    pub fn get(&self, at: usize) -> Part<'_> {
        let (start, end) = (self.starts[at], self.starts[at + 1]);
        Part {
            columns: self.columns,
            units: &self.units[start.units as usize..end.units as usize],
            others: &self.others[start.others as usize..end.others as usize],
        }
    }

    /// Appends a vector with these entries, of which none stands twice.
    pub fn push(&mut self, entries: &[(u32, f32)]) {
        let behind = 2 * self.columns;
        let (mut four, mut filled) = ([0; LANES], 0);
        for &(index, value) in entries {
            if value.abs() != 1.0 {
                self.others.push((index, value));
                continue;
            }
            four[filled] = if value > 0.0 { index } else { index + self.columns };
            filled += 1;
            if filled == LANES {
                self.units.push(four);
                filled = 0;
            }
        }
        if filled > 0 {
            (filled..LANES).for_each(|lane| four[lane] = behind + lane as u32);
            self.units.push(four);
        }
        let (units, others) = (self.units.len() as u32, self.others.len() as u32);
        self.starts.push(Start { units, others });
    }

    /// A full vector laid out so that [`Part::dot`] can read it.
    pub fn spread(&self, vector: &[f64]) -> Vec<f64> {
        let mut spread = Vec::with_capacity(2 * vector.len() + LANES);
        spread.extend_from_slice(vector);
        spread.extend(vector.iter().map(|x| -x));
        spread.resize(2 * vector.len() + LANES, 0.0);
        spread
    }

    /// Zeros laid out so that [`Part::add_to`] can add to them.
    pub fn zeros(&self) -> Vec<f64> {
        vec![0.0; 2 * self.columns as usize + LANES]
    }

    /// Adds a multiple of what was added up in [`Parts::zeros`] to a full vector.
    pub fn gather(&self, to: &mut [f64], times: f64, sums: &[f64]) {
        let (plus, minus) = sums.split_at(self.columns as usize);
        for ((to, plus), minus) in to.iter_mut().zip(plus).zip(minus) {
            *to += times * (plus - minus);
        }
    }
}

impl<'a> Part<'a> {
    /// The product with a full vector that was laid out by [`Parts::spread`]. Four sums side by
    /// side do not wait for each other.
    #[inline]
    pub fn dot(self, spread: &[f64]) -> f64 {
        let mut sums = [0.0; LANES];
        for four in self.units {
            for lane in 0..LANES {
                sums[lane] += spread[four[lane] as usize];
            }
        }
        let mut sum = (sums[0] + sums[1]) + (sums[2] + sums[3]);
        for &(index, value) in self.others {
            sum += spread[index as usize] * f64::from(value);
        }
        sum
    }

    /// Adds a multiple of it to sums that [`Parts::zeros`] began.
    #[inline]
    pub fn add_to(self, sums: &mut [f64], times: f64) {
        for four in self.units {
            for &index in four {
                sums[index as usize] += times;
            }
        }
        for &(index, value) in self.others {
            sums[index as usize] += times * f64::from(value);
        }
    }

    /// Its entries, the columns as they are.
    #[inline]
    pub fn entries(self) -> impl Iterator<Item = (u32, f32)> + 'a {
        let columns = self.columns;
        let units = self.units.as_flattened().iter().filter(move |&&index| index < 2 * columns);
        let units = units.map(move |&index| match index.checked_sub(columns) {
            None => (index, 1.0),
            Some(index) => (index, -1.0),
        });
        units.chain(self.others.iter().copied())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_and_sums_are_those_of_the_entries() {
        let vectors: [&[(u32, f32)]; 4] = [
            &[],
            &[(0, 1.0), (4, -1.0), (2, 3.0)],
            &[(4, -1.0), (3, -1.0), (1, 1.0), (0, -1.0), (2, 1.0)],
            &[(3, -0.5)],
        ];
        let mut parts = Parts::with_room(5, 0, 0, 0);
        vectors.iter().for_each(|vector| parts.push(vector));
        let full = [0.1, 0.7, -0.3, 11.0, 5.0];
        let spread = parts.spread(&full);
        for (at, vector) in vectors.iter().enumerate() {
            let part = parts.get(at);
            let product: f64 = vector.iter().map(|&(i, v)| full[i as usize] * f64::from(v)).sum();
            assert!((part.dot(&spread) - product).abs() < 1e-12);
            let (mut sums, mut added) = (parts.zeros(), [1.0; 5]);
            part.add_to(&mut sums, 2.0);
            parts.gather(&mut added, 10.0, &sums);
            let mut expected = [1.0; 5];
            vector.iter().for_each(|&(i, v)| expected[i as usize] += 20.0 * f64::from(v));
            assert_eq!(added, expected);
            let mut entries: Vec<_> = part.entries().collect();
            let mut vector = vector.to_vec();
            [&mut entries, &mut vector].iter_mut().for_each(|list| list.sort_by_key(|e| e.0));
            assert_eq!(entries, vector);
        }
    }
}
