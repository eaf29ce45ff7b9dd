//! Sparse vectors in contiguous memory, optimized for entries +1 and -1.
//!
//! Each tuple reads one entry of its table, so the difference of two positions has one +1 and one
//! -1 per changed tuple. These entries need no value and no multiplication. A dense vector is
//! stored twice, unchanged and negated ([`SparseVectors::mirror`]): an entry +1 is stored as its
//! index and an entry -1 as its index in the second half, so that one loop without branches covers
//! both. Lists are padded to multiples of four with indices behind both halves, where the value is
//! zero. Other entries are stored with their values.

/// Lists are padded to a multiple of this.
const LANES: usize = 4;

/// The start of the entries of a vector.
#[derive(Clone, Copy, Debug, Default)]
struct Start {
    /// Entries +1 or -1, in groups of [`LANES`].
    units: u32,
    /// Entries of other values.
    others: u32,
}

/// A list of sparse vectors.
#[derive(Clone, Debug)]
pub(crate) struct SparseVectors {
    /// The number of columns.
    columns: u32,
    /// The start of each vector, and the end of the last.
    starts: Vec<Start>,
    units: Vec<[u32; LANES]>,
    others: Vec<(u32, f32)>,
}

/// A sparse vector.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SparseVector<'a> {
    columns: u32,
    units: &'a [[u32; LANES]],
    others: &'a [(u32, f32)],
}

impl SparseVectors {
    /// Creates an empty list with the given capacities.
    pub fn with_capacity(
        columns: usize,
        vectors: usize,
        units: usize,
        others: usize,
    ) -> SparseVectors {
        let mut starts = Vec::with_capacity(vectors + 1);
        starts.push(Start::default());
        SparseVectors {
            columns: columns as u32,
            starts,
            units: Vec::with_capacity(units),
            others: Vec::with_capacity(others),
        }
    }

    /// The numbers of groups of unit entries and of other entries.
    pub fn sizes(&self) -> (usize, usize) {
        (self.units.len(), self.others.len())
    }

    /// Memory size in bytes.
    pub fn bytes(&self) -> usize {
        size_of_val(&self.starts[..]) + size_of_val(&self.units[..]) + size_of_val(&self.others[..])
    }

    /// Returns a vector.
    #[inline]
    pub fn get(&self, at: usize) -> SparseVector<'_> {
        let (start, end) = (self.starts[at], self.starts[at + 1]);
        SparseVector {
            columns: self.columns,
            units: &self.units[start.units as usize..end.units as usize],
            others: &self.others[start.others as usize..end.others as usize],
        }
    }

    /// Appends a vector; no column may occur twice.
    pub fn push(&mut self, entries: &[(u32, f32)]) {
        let padding = 2 * self.columns;
        let (mut group, mut filled) = ([0; LANES], 0);
        for &(index, value) in entries {
            if value.abs() != 1.0 {
                self.others.push((index, value));
                continue;
            }
            group[filled] = if value > 0.0 { index } else { index + self.columns };
            filled += 1;
            if filled == LANES {
                self.units.push(group);
                filled = 0;
            }
        }
        if filled > 0 {
            (filled..LANES).for_each(|lane| group[lane] = padding + lane as u32);
            self.units.push(group);
        }
        let (units, others) = (self.units.len() as u32, self.others.len() as u32);
        self.starts.push(Start { units, others });
    }

    /// Returns the mirrored layout of a dense vector (unchanged, then negated), for
    /// [`SparseVector::dot`].
    pub fn mirror(&self, vector: &[f64]) -> Vec<f64> {
        let mut mirror = Vec::with_capacity(2 * vector.len() + LANES);
        mirror.extend_from_slice(vector);
        mirror.extend(vector.iter().map(|x| -x));
        mirror.resize(2 * vector.len() + LANES, 0.0);
        mirror
    }

    /// Returns zeros in the mirrored layout, for [`SparseVector::add_to`].
    pub fn zeros(&self) -> Vec<f64> {
        vec![0.0; 2 * self.columns as usize + LANES]
    }

    /// Adds a multiple of mirrored sums to a dense vector.
    pub fn fold_into(&self, to: &mut [f64], factor: f64, sums: &[f64]) {
        let (plus, minus) = sums.split_at(self.columns as usize);
        for ((to, plus), minus) in to.iter_mut().zip(plus).zip(minus) {
            *to += factor * (plus - minus);
        }
    }
}

impl<'a> SparseVector<'a> {
    /// Computes the product with a mirrored dense vector. Four independent sums avoid waiting for
    /// each addition.
    #[inline]
    pub fn dot(self, mirror: &[f64]) -> f64 {
        let mut sums = [0.0; LANES];
        for group in self.units {
            for lane in 0..LANES {
                sums[lane] += mirror[group[lane] as usize];
            }
        }
        let mut sum = (sums[0] + sums[1]) + (sums[2] + sums[3]);
        for &(index, value) in self.others {
            sum += mirror[index as usize] * f64::from(value);
        }
        sum
    }

    /// Adds a multiple of the vector to mirrored sums.
    #[inline]
    pub fn add_to(self, sums: &mut [f64], factor: f64) {
        for group in self.units {
            for &index in group {
                sums[index as usize] += factor;
            }
        }
        for &(index, value) in self.others {
            sums[index as usize] += factor * f64::from(value);
        }
    }

    /// Returns the entries as columns and values.
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
    fn products_and_sums_match_the_entries() {
        let lists: [&[(u32, f32)]; 4] = [
            &[],
            &[(0, 1.0), (4, -1.0), (2, 3.0)],
            &[(4, -1.0), (3, -1.0), (1, 1.0), (0, -1.0), (2, 1.0)],
            &[(3, -0.5)],
        ];
        let mut vectors = SparseVectors::with_capacity(5, 0, 0, 0);
        lists.iter().for_each(|list| vectors.push(list));
        let dense = [0.1, 0.7, -0.3, 11.0, 5.0];
        let mirrored = vectors.mirror(&dense);
        for (index, list) in lists.iter().enumerate() {
            let vector = vectors.get(index);
            let product: f64 = list.iter().map(|&(i, v)| dense[i as usize] * f64::from(v)).sum();
            assert!((vector.dot(&mirrored) - product).abs() < 1e-12);
            let (mut sums, mut added) = (vectors.zeros(), [1.0; 5]);
            vector.add_to(&mut sums, 2.0);
            vectors.fold_into(&mut added, 10.0, &sums);
            let mut expected = [1.0; 5];
            list.iter().for_each(|&(i, v)| expected[i as usize] += 20.0 * f64::from(v));
            assert_eq!(added, expected);
            let mut entries: Vec<_> = vector.entries().collect();
            let mut sorted = list.to_vec();
            [&mut entries, &mut sorted].iter_mut().for_each(|list| list.sort_by_key(|e| e.0));
            assert_eq!(entries, sorted);
        }
    }
}
