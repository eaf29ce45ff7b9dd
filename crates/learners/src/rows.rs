//! Decisions as rows of a linear problem (paper 0, V and VI).
//!
//! As preferences: for each decision and each move that was not chosen, the features of the
//! position that the chosen move leads to, less those of the other. As classes: the features of
//! the position that each move leads to, with a sign that says whether it was chosen.
//!
//! The rows of one decision have much in common, and are kept as what they are made of: a head
//! that all share (what the chosen move changes; the position before the move) and a member for
//! each (what another move changes; what this move changes). A row is the head less the member, or
//! with it. For paper 0's tuples a head or a member has 33 entries where a difference of two moves
//! has 65, and a product with all rows takes half as long and a quarter of the memory.

mod build;
mod parts;
#[cfg(test)]
mod tests;

pub use build::{class_rows, preference_rows};

pub(crate) use parts::Part;
use parts::Parts;
use std::ops::Range;

/// Sparse rows. Every row wants a product with the weights of at least +1 times its sign, and is
/// charged for what is missing as often as its own weight says: once, where nothing else was said.
#[derive(Clone, Debug)]
pub struct Rows {
    columns: usize,
    /// For each group its head and then its members.
    parts: Parts,
    /// The first row of each group, and how many rows there are.
    groups: Vec<u32>,
    /// What a member counts in its row: +1 or -1.
    member: f64,
    signs: Vec<i8>,
    /// One for each row, or none at all where every row counts once.
    weights: Vec<f64>,
}

/// Rows that share a head; at most 64.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Group<'a> {
    rows: &'a Rows,
    number: usize,
    first: usize,
    end: usize,
}

impl Rows {
    fn empty(columns: usize, member: f64) -> Rows {
        Rows {
            columns,
            parts: Parts::with_room(columns, 0, 0, 0),
            groups: vec![0],
            member,
            signs: Vec::new(),
            weights: Vec::new(),
        }
    }

    /// Empty rows with room for so many times as many, and a little more.
    fn room_for_more(&self, times: f64) -> Rows {
        let room = |size: usize| (size as f64 * times * 1.05) as usize + 64;
        let (units, others) = self.parts.sizes();
        let vectors = room(self.signs.len()) + room(self.groups.len());
        let mut rows = Rows::empty(self.columns, self.member);
        rows.parts = Parts::with_room(self.columns, vectors, room(units), room(others));
        rows.groups.reserve_exact(room(self.groups.len()));
        rows.signs.reserve_exact(room(self.signs.len()));
        rows.weights.reserve_exact(if self.weights.is_empty() { 0 } else { room(self.len()) });
        rows
    }

    /// How much memory they take.
    pub(crate) fn bytes(&self) -> usize {
        let Rows { groups, signs, weights, .. } = self;
        self.parts.bytes() + size_of_val(&groups[..]) + signs.len() + size_of_val(&weights[..])
    }

    /// How many rows there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.signs.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.signs.is_empty()
    }

    /// How many columns a row has, most of them zero.
    #[must_use]
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// The heads and members.
    pub(crate) fn parts(&self) -> &Parts {
        &self.parts
    }

    /// How many groups there are.
    pub(crate) fn groups(&self) -> usize {
        self.groups.len() - 1
    }

    /// A group.
    #[inline]
    pub(crate) fn group(&self, number: usize) -> Group<'_> {
        let (first, end) = (self.groups[number] as usize, self.groups[number + 1] as usize);
        Group { rows: self, number, first, end }
    }

    /// The group of a row.
    pub(crate) fn group_of(&self, row: usize) -> usize {
        self.groups.partition_point(|&first| first as usize <= row) - 1
    }

    /// What a member counts in its row: +1 or -1.
    pub(crate) fn member_counts(&self) -> f64 {
        self.member
    }

    /// The sign of a row.
    #[inline]
    #[must_use]
    pub fn sign(&self, row: usize) -> f64 {
        f64::from(self.signs[row])
    }

    /// How many entries of all rows together are not zero.
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
                // What both have is counted once, and what cancels not at all.
                count += own;
                for (index, value) in group.member(row).entries() {
                    match head[index as usize] {
                        0.0 => count += 1,
                        shared if shared + self.member as f32 * value == 0.0 => count -= 1,
                        _ => {}
                    }
                }
            }
            group.head().entries().for_each(|(index, _)| head[index as usize] = 0.0);
        }
        count
    }

    /// The columns of a row that are not zero in their order, their values, and the row's sign.
    #[must_use]
    pub fn row(&self, row: usize) -> (Vec<u32>, Vec<f32>, f64) {
        let group = self.group(self.group_of(row));
        let member = group.member(row).entries().map(|(i, v)| (i, v * self.member as f32));
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

    /// How many times the row counts: a row of weight 2 is the same as the row twice.
    #[inline]
    #[must_use]
    pub fn weight(&self, row: usize) -> f64 {
        self.weights.get(row).copied().unwrap_or(1.0)
    }

    /// The same rows, each counting so many times; `None` unless there is a positive number for
    /// each row.
    #[must_use]
    pub fn with_weights(mut self, weights: Vec<f64>) -> Option<Rows> {
        let sound =
            weights.len() == self.len() && weights.iter().all(|&w| w > 0.0 && w.is_finite());
        self.weights = weights;
        sound.then_some(self)
    }

    /// Rows of given columns, each a list of entries and a sign; no column stands twice in a list.
    #[must_use]
    pub fn from_lists(columns: usize, lists: &[(Vec<(u32, f32)>, i8)]) -> Rows {
        let mut rows = Rows::empty(columns, 1.0);
        for (entries, sign) in lists {
            rows.parts.push(&[]);
            rows.parts.push(entries);
            rows.signs.push(*sign);
            rows.groups.push(rows.signs.len() as u32);
        }
        rows
    }
}

impl<'a> Group<'a> {
    /// The numbers of its rows.
    #[inline]
    pub fn rows(self) -> Range<usize> {
        self.first..self.end
    }

    /// What all its rows share.
    #[inline]
    pub fn head(self) -> Part<'a> {
        self.rows.parts.get(self.first + self.number)
    }

    /// What is a row's own.
    #[inline]
    pub fn member(self, row: usize) -> Part<'a> {
        self.rows.parts.get(row + self.number + 1)
    }
}
