//! A dense symmetric positive-definite solver, small enough to read.
//!
//! Leagues have hundreds of players at most, so a plain factorisation takes milliseconds, and a
//! fixed order of summation gives the same bits on every machine.

/// The lower factor L of a matrix A = L·Lᵀ, stored by rows.
pub(super) struct Cholesky {
    n: usize,
    rows: Vec<f64>,
}

impl Cholesky {
    /// Factorises the symmetric matrix `a` (`n` rows of `n` numbers), or `None` where it is not
    /// numerically positive definite.
    pub(super) fn new(n: usize, a: &[f64]) -> Option<Self> {
        let mut rows = a.to_vec();
        for i in 0..n {
            let (above, rest) = rows.split_at_mut(i * n);
            let row = &mut rest[..n];
            for j in 0..i {
                let other = &above[j * n..j * n + j + 1];
                row[j] = (row[j] - dot(&row[..j], &other[..j])) / other[j];
            }
            let pivot = row[i] - dot(&row[..i], &row[..i]);
            // A pivot that lost all its digits says that the matrix is singular to working
            // precision.
            if !pivot.is_finite() || pivot <= 1e-14 * row[i].abs() {
                return None;
            }
            row[i] = pivot.sqrt();
        }
        Some(Self { n, rows })
    }

    /// Solves A·x = b.
    pub(super) fn solve(&self, b: &[f64]) -> Vec<f64> {
        let n = self.n;
        let mut x = b.to_vec();
        for i in 0..n {
            let row = &self.rows[i * n..i * n + i + 1];
            x[i] = (x[i] - dot(&row[..i], &x[..i])) / row[i];
        }
        // The transpose is applied row by row, so that memory is read in order.
        for i in (0..n).rev() {
            let row = &self.rows[i * n..i * n + i + 1];
            x[i] /= row[i];
            let xi = x[i];
            for (x, l) in x[..i].iter_mut().zip(row) {
                *x -= l * xi;
            }
        }
        x
    }

    /// The inverse of A, by rows.
    pub(super) fn inverse(&self) -> Vec<f64> {
        let n = self.n;
        let mut inverse = vec![0.0; n * n];
        let mut unit = vec![0.0; n];
        for j in 0..n {
            unit[j] = 1.0;
            inverse[j * n..(j + 1) * n].copy_from_slice(&self.solve(&unit));
            unit[j] = 0.0;
        }
        inverse
    }
}

/// The inner product, summed in four fixed lanes so that it is both quick and reproducible.
fn dot(a: &[f64], b: &[f64]) -> f64 {
    let mut lanes = [0.0; 4];
    let (a, a_rest) = a.as_chunks::<4>();
    let (b, b_rest) = b.as_chunks::<4>();
    for (a, b) in a.iter().zip(b) {
        for k in 0..4 {
            lanes[k] += a[k] * b[k];
        }
    }
    let rest: f64 = a_rest.iter().zip(b_rest).map(|(a, b)| a * b).sum();
    (lanes[0] + lanes[2]) + (lanes[1] + lanes[3]) + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_solution_satisfies_its_equations() {
        // Hilbert's matrix is positive definite and notoriously ill-conditioned.
        let n = 6;
        let a: Vec<f64> = (0..n * n).map(|k| 1.0 / ((k / n + k % n + 1) as f64)).collect();
        let factor = Cholesky::new(n, &a).expect("positive definite");
        let b: Vec<f64> = (0..n).map(|i| i as f64 - 2.0).collect();
        let x = factor.solve(&b);
        let inverse = factor.inverse();
        for i in 0..n {
            assert!((dot(&a[i * n..(i + 1) * n], &x) - b[i]).abs() < 1e-9);
            for j in 0..n {
                // Hilbert's matrix has an inverse of whole numbers, the first of them n².
                let product: f64 = (0..n).map(|k| a[i * n + k] * inverse[k * n + j]).sum();
                assert!((product - f64::from(u8::from(i == j))).abs() < 1e-8);
            }
        }
        assert!((inverse[0] - 36.0).abs() < 1e-6, "{}", inverse[0]);
    }

    #[test]
    fn a_singular_matrix_is_refused() {
        assert!(Cholesky::new(2, &[1.0, 1.0, 1.0, 1.0]).is_none());
        assert!(Cholesky::new(2, &[1.0, 2.0, 2.0, 1.0]).is_none());
        assert!(Cholesky::new(1, &[f64::NAN]).is_none());
        assert!(Cholesky::new(0, &[]).is_some());
    }
}
