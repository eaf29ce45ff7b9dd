//! Dense linear algebra with a fixed order of summation.
//!
//! Results are bit-identical on every machine. A BLAS library that selects instructions for the
//! processor does not guarantee this, since it may sum in a different order. A sum is split into
//! `LANES` partial sums (see [`dot`]), which the compiler can vectorize; these are then added pairwise.

/// A square matrix in row-major order.
#[derive(Clone, Debug, PartialEq)]
pub struct Matrix {
    size: usize,
    cells: Vec<f64>,
}

impl Matrix {
    /// Creates a zero matrix with `size` rows and columns.
    #[must_use]
    pub fn zero(size: usize) -> Matrix {
        Matrix { size, cells: vec![0.0; size * size] }
    }

    /// Returns the number of rows.
    #[must_use]
    pub fn size(&self) -> usize {
        self.size
    }

    /// Returns a row.
    #[inline]
    #[must_use]
    pub fn row(&self, row: usize) -> &[f64] {
        &self.cells[row * self.size..(row + 1) * self.size]
    }

    /// Returns a mutable row.
    #[inline]
    pub fn row_mut(&mut self, row: usize) -> &mut [f64] {
        &mut self.cells[row * self.size..(row + 1) * self.size]
    }

    /// Returns a cell.
    #[inline]
    #[must_use]
    pub fn at(&self, row: usize, column: usize) -> f64 {
        self.cells[row * self.size + column]
    }

    /// Adds `value` to a cell.
    #[inline]
    pub fn add(&mut self, row: usize, column: usize, value: f64) {
        self.cells[row * self.size + column] += value;
    }

    /// Computes the product with a vector, using eight partial sums.
    #[must_use]
    pub fn multiply_vector(&self, vector: &[f64]) -> Vec<f64> {
        (0..self.size).map(|row| dot::<8>(self.row(row), vector)).collect()
    }

    /// Returns the transpose.
    #[must_use]
    pub fn transposed(&self) -> Matrix {
        let mut transpose = Matrix::zero(self.size);
        for row in 0..self.size {
            for (column, &value) in self.row(row).iter().enumerate() {
                transpose.add(column, row, value);
            }
        }
        transpose
    }

    /// Computes `factor * self * other`; fast if most elements of `self` are zero.
    #[must_use]
    pub fn multiply_sparse(&self, other: &Matrix, factor: f64) -> Matrix {
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

    /// Adds another matrix of the same size.
    pub fn add_matrix(&mut self, other: &Matrix) {
        add_scaled(&mut self.cells, 1.0, &other.cells);
    }

    /// Computes the Cholesky factor of this symmetric matrix, of which only the lower triangle is
    /// read.
    ///
    /// Returns `None` unless every pivot is finite and greater than `tolerance` times its diagonal
    /// element. A tolerance of zero accepts every matrix that is numerically positive definite. A
    /// tolerance of `1e-14` also rejects matrices that are singular to working precision.
    #[must_use]
    pub fn cholesky<const LANES: usize>(&self, tolerance: f64) -> Option<Cholesky<LANES>> {
        let mut lower = Matrix::zero(self.size);
        for row in 0..self.size {
            let (above, below) = lower.cells.split_at_mut(row * self.size);
            let current = &mut below[..self.size];
            for column in 0..row {
                let pivot_row = &above[column * self.size..][..=column];
                let rest =
                    self.at(row, column) - dot::<LANES>(&current[..column], &pivot_row[..column]);
                current[column] = rest / pivot_row[column];
            }
            let diagonal = self.at(row, row);
            let pivot = diagonal - dot::<LANES>(&current[..row], &current[..row]);
            if !(pivot.is_finite() && pivot > tolerance * diagonal.abs()) {
                return None;
            }
            current[row] = libm::sqrt(pivot);
        }
        Some(Cholesky { lower })
    }
}

impl From<(usize, Vec<f64>)> for Matrix {
    /// Converts the size and the cells in row-major order.
    fn from((size, cells): (usize, Vec<f64>)) -> Matrix {
        assert_eq!(cells.len(), size * size, "a square matrix has size * size cells");
        Matrix { size, cells }
    }
}

/// The lower triangular factor L of a matrix A = L·Lᵀ. `LANES` is the number of partial sums, see
/// [`dot`].
#[derive(Clone, Debug, PartialEq)]
pub struct Cholesky<const LANES: usize> {
    lower: Matrix,
}

impl<const LANES: usize> Cholesky<LANES> {
    /// Returns L, whose upper triangle is zero.
    #[must_use]
    pub fn lower(&self) -> &Matrix {
        &self.lower
    }

    /// Solves L·x = b in place.
    pub fn solve_lower(&self, b: &mut [f64]) {
        for row in 0..self.lower.size {
            let (solved, rest) = b.split_at_mut(row);
            let factors = &self.lower.row(row)[..=row];
            rest[0] = (rest[0] - dot::<LANES>(&factors[..row], solved)) / factors[row];
        }
    }

    /// Solves A·x = b.
    #[must_use]
    pub fn solve(&self, b: &[f64]) -> Vec<f64> {
        let mut x = b.to_vec();
        self.solve_lower(&mut x);
        // The transpose is applied row by row, so that memory is read in order.
        for row in (0..self.lower.size).rev() {
            let factors = &self.lower.row(row)[..=row];
            x[row] /= factors[row];
            let value = x[row];
            for (x, l) in x[..row].iter_mut().zip(factors) {
                *x -= l * value;
            }
        }
        x
    }

    /// Computes the inverse of A, in row-major order.
    #[must_use]
    pub fn inverse(&self) -> Vec<f64> {
        let size = self.lower.size;
        let mut inverse = vec![0.0; size * size];
        let mut unit = vec![0.0; size];
        for row in 0..size {
            unit[row] = 1.0;
            inverse[row * size..(row + 1) * size].copy_from_slice(&self.solve(&unit));
            unit[row] = 0.0;
        }
        inverse
    }
}

/// Computes the inner product as `LANES` partial sums (a power of two), which are added pairwise:
/// sum `i` and sum `i + LANES / 2`, and so on.
#[inline]
#[must_use]
pub fn dot<const LANES: usize>(a: &[f64], b: &[f64]) -> f64 {
    let (a_chunks, a_rest) = a.as_chunks::<LANES>();
    let (b_chunks, b_rest) = b.as_chunks::<LANES>();
    let mut lanes = [0.0; LANES];
    for (x, y) in a_chunks.iter().zip(b_chunks) {
        for lane in 0..LANES {
            lanes[lane] += x[lane] * y[lane];
        }
    }
    let mut rest = 0.0;
    for (x, y) in a_rest.iter().zip(b_rest) {
        rest += x * y;
    }
    let mut width = LANES / 2;
    while width > 0 {
        for lane in 0..width {
            lanes[lane] += lanes[lane + width];
        }
        width /= 2;
    }
    lanes[0] + rest
}

/// Adds `factor` times the vector `from` to the vector `to`.
#[inline]
pub fn add_scaled(to: &mut [f64], factor: f64, from: &[f64]) {
    for (to, from) in to.iter_mut().zip(from) {
        *to += factor * from;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the Hilbert matrix, which is positive definite and ill-conditioned.
    fn hilbert(size: usize) -> Matrix {
        let cells = (0..size * size).map(|k| 1.0 / ((k / size + k % size + 1) as f64)).collect();
        Matrix::from((size, cells))
    }

    #[test]
    fn the_factor_times_its_transpose_is_the_matrix() {
        let size = 19;
        let mut matrix = Matrix::zero(size);
        for row in 0..size {
            for column in 0..size {
                matrix.add(row, column, 1.0 / (1.0 + row.abs_diff(column) as f64));
            }
        }
        let factor = matrix.cholesky::<8>(0.0).unwrap();
        for row in 0..size {
            for column in 0..size {
                let product = dot::<8>(factor.lower().row(row), factor.lower().row(column));
                assert!((product - matrix.at(row, column)).abs() < 1e-14);
            }
        }
        let mut solution: Vec<f64> = (0..size).map(|i| i as f64 - 4.0).collect();
        factor.solve_lower(&mut solution);
        for (got, expected) in factor.lower().multiply_vector(&solution).iter().zip(0..) {
            assert!((got - (f64::from(expected) - 4.0)).abs() < 1e-12);
        }
    }

    #[test]
    fn solutions_and_inverses_satisfy_their_equations() {
        let n = 6;
        let a = hilbert(n);
        let factor = a.cholesky::<4>(1e-14).expect("positive definite");
        let b: Vec<f64> = (0..n).map(|i| i as f64 - 2.0).collect();
        let x = factor.solve(&b);
        let inverse = factor.inverse();
        for (i, &b) in b.iter().enumerate() {
            assert!((dot::<4>(a.row(i), &x) - b).abs() < 1e-9);
            for j in 0..n {
                let product: f64 = (0..n).map(|k| a.at(i, k) * inverse[k * n + j]).sum();
                assert!((product - f64::from(u8::from(i == j))).abs() < 1e-8);
            }
        }
        // The inverse of a Hilbert matrix has integer elements; the first is n².
        assert!((inverse[0] - 36.0).abs() < 1e-6, "{}", inverse[0]);
    }

    #[test]
    fn matrices_that_are_not_positive_definite_have_no_factor() {
        let matrix = |size, cells: &[f64]| Matrix::from((size, cells.to_vec()));
        for tolerance in [0.0, 1e-14] {
            assert_eq!(Matrix::zero(2).cholesky::<8>(tolerance), None);
            assert_eq!(matrix(2, &[1.0, 2.0, 2.0, 1.0]).cholesky::<4>(tolerance), None);
            assert_eq!(matrix(2, &[1.0, 1.0, 1.0, 1.0]).cholesky::<4>(tolerance), None);
            assert_eq!(matrix(2, &[1.0, 0.0, 0.0, f64::NAN]).cholesky::<8>(tolerance), None);
            assert_eq!(matrix(1, &[f64::NAN]).cholesky::<4>(tolerance), None);
            assert!(Matrix::zero(0).cholesky::<4>(tolerance).is_some());
        }
        // Singular to working precision: the last pivot is about 1e-16 of its diagonal element.
        let nearly_singular = matrix(2, &[1.0, 1.0, 1.0, 1.0 + 2e-16]);
        assert!(
            nearly_singular.cholesky::<4>(0.0).is_some()
                && nearly_singular.cholesky::<4>(1e-14).is_none()
        );
    }

    /// The order of summation is part of the contract, since results are stored.
    #[test]
    fn partial_sums_are_added_pairwise() {
        let a: Vec<f64> = (0..21).map(|i| 1.0 / f64::from(3 + i)).collect();
        let b: Vec<f64> = (0..21).map(|i| f64::from(7 - i) / 11.0).collect();
        let mut l = [0.0; 8];
        for i in 0..16 {
            l[i % 8] += a[i] * b[i];
        }
        let rest = (16..21).fold(0.0, |sum, i| sum + a[i] * b[i]);
        let fours = [l[0] + l[4], l[1] + l[5], l[2] + l[6], l[3] + l[7]];
        assert_eq!(dot::<8>(&a, &b), ((fours[0] + fours[2]) + (fours[1] + fours[3])) + rest);
        let mut l = [0.0; 4];
        for i in 0..20 {
            l[i % 4] += a[i] * b[i];
        }
        assert_eq!(dot::<4>(&a, &b), ((l[0] + l[2]) + (l[1] + l[3])) + a[20] * b[20]);
    }
}
