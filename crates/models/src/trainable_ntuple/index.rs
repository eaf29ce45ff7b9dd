//! Index types of n-tuple tables: 16 bits for small networks, 32 bits for large ones.

/// Number of entries that a 16-bit index can address.
pub(super) const ENTRIES_16_BIT: usize = 1 << 16;

/// An index type and its weight table.
pub(super) trait TableIndex: Copy + Default + std::fmt::Debug {
    /// Storage of the weights that suits the index type.
    type Table: Clone + std::fmt::Debug;

    fn from(index: usize) -> Self;
    fn plus(self, step: Self) -> Self;
    fn minus(self, step: Self) -> Self;
    fn read(table: &Self::Table, index: Self) -> f64;
    fn entry(table: &mut Self::Table, index: Self) -> &mut f64;
    fn table(weights: &[f32]) -> Self::Table;
}

impl TableIndex for u16 {
    /// One entry per 16-bit index, so that no index can be out of bounds.
    type Table = Box<[f64; ENTRIES_16_BIT]>;

    #[inline(always)]
    fn from(index: usize) -> u16 {
        index as u16
    }

    #[inline(always)]
    fn plus(self, step: u16) -> u16 {
        self.wrapping_add(step)
    }

    #[inline(always)]
    fn minus(self, step: u16) -> u16 {
        self.wrapping_sub(step)
    }

    #[inline(always)]
    fn read(table: &Self::Table, index: u16) -> f64 {
        table[usize::from(index)]
    }

    #[inline(always)]
    fn entry(table: &mut Self::Table, index: u16) -> &mut f64 {
        &mut table[usize::from(index)]
    }

    fn table(weights: &[f32]) -> Self::Table {
        let mut table = vec![0.0; ENTRIES_16_BIT];
        table.iter_mut().zip(weights).for_each(|(to, &from)| *to = f64::from(from));
        table.into_boxed_slice().try_into().unwrap_or_else(|_| Box::new([0.0; ENTRIES_16_BIT]))
    }
}

impl TableIndex for i32 {
    type Table = Vec<f64>;

    #[inline(always)]
    fn from(index: usize) -> i32 {
        index as i32
    }

    #[inline(always)]
    fn plus(self, step: i32) -> i32 {
        self + step
    }

    #[inline(always)]
    fn minus(self, step: i32) -> i32 {
        self - step
    }

    #[inline(always)]
    fn read(table: &Vec<f64>, index: i32) -> f64 {
        table[index as usize]
    }

    #[inline(always)]
    fn entry(table: &mut Vec<f64>, index: i32) -> &mut f64 {
        &mut table[index as usize]
    }

    fn table(weights: &[f32]) -> Vec<f64> {
        // Padding reads the zero after the last table.
        weights.iter().map(|&w| f64::from(w)).chain([0.0]).collect()
    }
}
