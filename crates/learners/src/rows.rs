//! The rows of a linear classification problem, from decisions (Runarsson & Lucas, 2014, sections V
//! and VI).
//!
//! Preference rows: for each decision and each move that was not chosen, the features of the chosen
//! afterstate minus those of the other afterstate. Class rows: the features of each afterstate,
//! with sign +1 if the move was chosen and -1 otherwise.
//!
//! The rows of a decision form a group and share most entries, so each row is stored in two parts:
//!
//! | rows | head, shared by the group | member, one per row | row |
//! |---|---|---|---|
//! | preference | change by the chosen move | change by the other move | head - member |
//! | class | position before the move | change by the move | head + member |
//!
//! With the paper's tuples, a head or member has 33 entries and a difference of two afterstates has
//! 65. Compared with explicit rows, a product with all rows takes half the time and a quarter of
//! the memory.

mod build;
mod sparse;
#[cfg(test)]
mod tests;

pub use build::{class_rows, preference_rows};

pub(crate) use sparse::SparseVector;
use sparse::SparseVectors;
use std::ops::Range;

/// Sparse rows with signs and weights. The margin of a row is violated if sign * (w . row) < 1.
#[derive(Clone, Debug)]
pub struct SparseRows {
    columns: usize,
    /// For each group its head, then its members.
    vectors: SparseVectors,
    /// The first row of each group, and the number of rows at the end.
    groups: Vec<u32>,
    /// The factor of members in their rows: +1 or -1.
    member_sign: f64,
    signs: Vec<i8>,
    /// The weight of each row; empty if all weights are 1.
    weights: Vec<f64>,
}

/// Rows that share a head; at most 64.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Group<'a> {
    rows: &'a SparseRows,
    number: usize,
    first: usize,
    end: usize,
}

impl SparseRows {
    fn empty(columns: usize, member_sign: f64) -> SparseRows {
        SparseRows {
            columns,
            vectors: SparseVectors::with_capacity(columns, 0, 0, 0),
            groups: vec![0],
            member_sign,
            signs: Vec::new(),
            weights: Vec::new(),
        }
    }

    /// Creates empty rows with `factor` times the size of these rows as capacity, plus a reserve.
    fn with_scaled_capacity(&self, factor: f64) -> SparseRows {
        let scaled = |size: usize| (size as f64 * factor * 1.05) as usize + 64;
        let (units, others) = self.vectors.sizes();
        let count = scaled(self.signs.len()) + scaled(self.groups.len());
        let mut rows = SparseRows::empty(self.columns, self.member_sign);
        rows.vectors =
            SparseVectors::with_capacity(self.columns, count, scaled(units), scaled(others));
        rows.groups.reserve_exact(scaled(self.groups.len()));
        rows.signs.reserve_exact(scaled(self.signs.len()));
        rows.weights.reserve_exact(if self.weights.is_empty() { 0 } else { scaled(self.len()) });
        rows
    }

    /// Memory size in bytes.
    pub(crate) fn bytes(&self) -> usize {
        let SparseRows { groups, signs, weights, .. } = self;
        self.vectors.bytes() + size_of_val(&groups[..]) + signs.len() + size_of_val(&weights[..])
    }

    /// The number of rows.
    #[must_use]
    pub fn len(&self) -> usize {
        self.signs.len()
    }

    /// Whether there are no rows.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.signs.is_empty()
    }

    /// The number of columns.
    #[must_use]
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// The heads and members.
    pub(crate) fn vectors(&self) -> &SparseVectors {
        &self.vectors
    }

    /// The number of groups.
    pub(crate) fn groups(&self) -> usize {
        self.groups.len() - 1
    }

    /// Returns a group.
    #[inline]
    pub(crate) fn group(&self, number: usize) -> Group<'_> {
        let (first, end) = (self.groups[number] as usize, self.groups[number + 1] as usize);
        Group { rows: self, number, first, end }
    }

    /// Returns the group of a row.
    pub(crate) fn group_of(&self, row: usize) -> usize {
        self.groups.partition_point(|&first| first as usize <= row) - 1
    }

    /// The factor of members in their rows: +1 or -1.
    pub(crate) fn member_sign(&self) -> f64 {
        self.member_sign
    }

    /// The sign of a row.
    #[inline]
    #[must_use]
    pub fn sign(&self, row: usize) -> f64 {
        f64::from(self.signs[row])
    }

    /// Counts the nonzero entries of all rows.
    #[must_use]
    pub fn entries(&self) -> usize {
        let mut head = vec![0.0; self.columns];
        let mut count = 0;
        for group in (0..self.groups()).map(|number| self.group(number)) {
            let mut own = 0;
            for (index, value) in group.head().entries() {
                head[index as usize] = value;
                own += 1;
            }
            for row in group.rows() {
                // An entry in both parts counts once, or not at all if the two values cancel.
                count += own;
                for (index, value) in group.member(row).entries() {
                    match head[index as usize] {
                        0.0 => count += 1,
                        shared if shared + self.member_sign as f32 * value == 0.0 => count -= 1,
                        _ => {}
                    }
                }
            }
            group.head().entries().for_each(|(index, _)| head[index as usize] = 0.0);
        }
        count
    }

    /// Returns the nonzero columns of a row in ascending order, their values, and the sign of the
    /// row.
    #[must_use]
    pub fn row(&self, row: usize) -> (Vec<u32>, Vec<f32>, f64) {
        let group = self.group(self.group_of(row));
        let member = group.member(row).entries().map(|(i, v)| (i, v * self.member_sign as f32));
        let mut entries: Vec<(u32, f32)> = group.head().entries().chain(member).collect();
        entries.sort_unstable_by_key(|entry| entry.0);
        entries.dedup_by(|next, entry| {
            let same = next.0 == entry.0;
            entry.1 += if same { next.1 } else { 0.0 };
            same
        });
        entries.retain(|entry| entry.1 != 0.0);
        let (indices, values) = entries.into_iter().unzip();
        (indices, values, self.sign(row))
    }

    /// The weight of a row; a row of weight 2 is equivalent to two equal rows.
    #[inline]
    #[must_use]
    pub fn weight(&self, row: usize) -> f64 {
        self.weights.get(row).copied().unwrap_or(1.0)
    }

    /// Sets the weights of the rows; `None` unless there is a positive finite weight for each row.
    #[cfg(test)]
    #[must_use]
    pub(crate) fn with_weights(mut self, weights: Vec<f64>) -> Option<SparseRows> {
        let valid =
            weights.len() == self.len() && weights.iter().all(|&w| w > 0.0 && w.is_finite());
        self.weights = weights;
        valid.then_some(self)
    }

    /// Creates rows from lists of entries and signs; no column may occur twice in a list.
    #[cfg(test)]
    #[must_use]
    pub(crate) fn from_lists(columns: usize, lists: &[(Vec<(u32, f32)>, i8)]) -> SparseRows {
        let mut rows = SparseRows::empty(columns, 1.0);
        for (entries, sign) in lists {
            rows.vectors.push(&[]);
            rows.vectors.push(entries);
            rows.signs.push(*sign);
            rows.groups.push(rows.signs.len() as u32);
        }
        rows
    }
}

impl<'a> Group<'a> {
    /// The indices of its rows.
    #[inline]
    pub fn rows(self) -> Range<usize> {
        self.first..self.end
    }

    /// The entries that all its rows share.
    #[inline]
    pub fn head(self) -> SparseVector<'a> {
        self.rows.vectors.get(self.first + self.number)
    }

    /// The entries of one row.
    #[inline]
    pub fn member(self, row: usize) -> SparseVector<'a> {
        self.rows.vectors.get(row + self.number + 1)
    }
}
