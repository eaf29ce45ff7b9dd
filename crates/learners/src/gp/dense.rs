//! Small dense matrices whose every sum is taken in one fixed order.
//!
//! A library that picks its instructions by the processor may add in another order on another
//! machine; then a seed would no longer be a promise. Here a sum has eight lanes everywhere.

/// A square matrix, row by row.
#[derive(Clone, Debug, PartialEq)]
pub struct Matrix {
    size: usize,
    cells: Vec<f64>,
}

impl Matrix {
    /// All zeros.
    pub fn zero(size: usize) -> Matrix {
        Matrix { size, cells: vec![0.0; size * size] }
    }

    /// How many rows and columns it has.
    pub fn size(&self) -> usize {
        self.size
    }

    /// A row.
    #[inline]
    pub fn row(&self, row: usize) -> &[f64] {
        &self.cells[row * self.size..(row + 1) * self.size]
    }

    /// A row, to be changed.
    #[inline]
    pub fn row_mut(&mut self, row: usize) -> &mut [f64] {
        &mut self.cells[row * self.size..(row + 1) * self.size]
    }

    /// A cell.
    #[inline]
    pub fn at(&self, row: usize, column: usize) -> f64 {
        self.cells[row * self.size + column]
    }

    /// Adds to a cell.
    #[inline]
    pub fn add(&mut self, row: usize, column: usize, value: f64) {
        self.cells[row * self.size + column] += value;
    }

    /// The product with a vector.
    pub fn times(&self, vector: &[f64]) -> Vec<f64> {
        (0..self.size).map(|row| dot(self.row(row), vector)).collect()
    }

    /// The same with rows and columns exchanged.
    #[must_use]
    pub fn transposed(&self) -> Matrix {
        let mut other = Matrix::zero(self.size);
        for row in 0..self.size {
            for (column, &value) in self.row(row).iter().enumerate() {
                other.add(column, row, value);
            }
        }
        other
    }

    /// The product with another matrix and a factor, quick where this one has many zeros.
    #[must_use]
    pub fn sparse_times(&self, other: &Matrix, factor: f64) -> Matrix {
        let mut product = Matrix::zero(self.size);
        for row in 0..self.size {
            for (column, &value) in self.row(row).iter().enumerate() {
                if value != 0.0 {
                    add_scaled(product.row_mut(row), factor * value, other.row(column));
                }
            }
        }
        product
    }

    /// Adds another matrix.
    pub fn add_all(&mut self, other: &Matrix) {
        add_scaled(&mut self.cells, 1.0, &other.cells);
    }

    /// The lower triangle L with L Lᵀ equal to this symmetric matrix, of which only the lower
    /// triangle is looked at; `None` unless it is positive definite.
    pub fn cholesky(&self) -> Option<Matrix> {
        let mut lower = Matrix::zero(self.size);
        for row in 0..self.size {
            let (above, below) = lower.cells.split_at_mut(row * self.size);
            let current = &mut below[..self.size];
            for column in 0..row {
                let other = &above[column * self.size..][..=column];
                let rest = self.at(row, column) - dot(&current[..column], &other[..column]);
                current[column] = rest / other[column];
            }
            let square = self.at(row, row) - dot(&current[..row], &current[..row]);
            if !(square.is_finite() && square > 0.0) {
                return None;
            }
            current[row] = libm::sqrt(square);
        }
        Some(lower)
    }

    /// Solves L x = b in place, this matrix being a lower triangle.
    pub fn solve_lower(&self, b: &mut [f64]) {
        for row in 0..self.size {
            let (known, rest) = b.split_at_mut(row);
            let line = &self.row(row)[..=row];
            rest[0] = (rest[0] - dot(&line[..row], known)) / line[row];
        }
    }
}

/// The sum of products, eight lanes side by side.
#[inline]
pub fn dot(a: &[f64], b: &[f64]) -> f64 {
    let (a8, a_rest) = a.as_chunks::<8>();
    let (b8, b_rest) = b.as_chunks::<8>();
    let mut lanes = [0.0; 8];
    for (x, y) in a8.iter().zip(b8) {
        for lane in 0..8 {
            lanes[lane] += x[lane] * y[lane];
        }
    }
    let mut rest = 0.0;
    for (x, y) in a_rest.iter().zip(b_rest) {
        rest += x * y;
    }
    let fours = [0, 1, 2, 3].map(|lane| lanes[lane] + lanes[lane + 4]);
    ((fours[0] + fours[2]) + (fours[1] + fours[3])) + rest
}

/// Adds a multiple of one vector to another.
#[inline]
pub fn add_scaled(to: &mut [f64], factor: f64, from: &[f64]) {
    for (to, from) in to.iter_mut().zip(from) {
        *to += factor * from;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_factor_multiplies_back_and_solves() {
        let size = 19;
        let mut matrix = Matrix::zero(size);
        for row in 0..size {
            for column in 0..size {
                let gap = row.abs_diff(column) as f64;
                matrix.add(row, column, 1.0 / (1.0 + gap));
            }
        }
        let lower = matrix.cholesky().unwrap();
        for row in 0..size {
            for column in 0..size {
                let product = dot(lower.row(row), lower.row(column));
                assert!((product - matrix.at(row, column)).abs() < 1e-14);
            }
        }
        let mut solution: Vec<f64> = (0..size).map(|i| i as f64 - 4.0).collect();
        lower.solve_lower(&mut solution);
        for (got, expected) in lower.times(&solution).iter().zip(0..) {
            assert!((got - (f64::from(expected) - 4.0)).abs() < 1e-12);
        }
    }

    #[test]
    fn what_is_not_positive_definite_has_no_factor() {
        let mut matrix = Matrix::zero(2);
        assert_eq!(matrix.cholesky(), None);
        matrix.add(0, 0, 1.0);
        matrix.add(1, 1, f64::NAN);
        assert_eq!(matrix.cholesky(), None);
    }
}
