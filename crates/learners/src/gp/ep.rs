//! Expectation propagation (paper 2, section 3.4; Rasmussen and Williams, section 3.6), in the
//! space of strengths.
//!
//! A comparison says Φ(f(winner) - f(loser)). Its site approximates that by
//! `exp(ν g - ½ τ g²)` with g = aᵀf, a having +1 for the winner and -1 for the loser. With m points
//! and n comparisons the posterior of f is N(μ, Σ),
//!
//! `Σ = (K⁻¹ + W)⁻¹`, `μ = Σ b`, `W = Σ_i τ_i a_i a_iᵀ`, `b = Σ_i ν_i a_i`,
//!
//! of size m, however many comparisons there are: a site is updated by a change of rank one that
//! costs m², and not n². Neither K nor W is ever inverted: with K = L Lᵀ and
//! `I + Lᵀ W L = M Mᵀ`, whose eigenvalues are at least 1, `Σ = (M⁻¹ Lᵀ)ᵀ (M⁻¹ Lᵀ)`.
//!
//! The log evidence is `Σ_i ln c_i - ln |M| + ½ bᵀμ`, where `c_i` makes the site integrate with its
//! cavity to what the comparison does. At the fixed point its gradient is
//! `½ αᵀ ∂K α - ½ tr(R ∂K)` with `α = K⁻¹ μ = b - W μ` and `R = (K + W⁻¹)⁻¹ = W - W Σ W`.

use super::GpError;
use super::dense::{Matrix, add_scaled, dot};
use super::kernel::Kernel;
use super::probit::log_cdf;
use outflank_runs::{RngExt, rng};

/// Which of two points was found better; points are known by their numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Comparison {
    /// The better one.
    pub winner: usize,
    /// The other one.
    pub loser: usize,
}

/// The sites: what each comparison has come to say.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sites {
    /// The precisions τ, never negative.
    pub precision: Vec<f64>,
    /// The precisions times the means, ν.
    pub shift: Vec<f64>,
}

impl Sites {
    /// Sites that say nothing.
    #[must_use]
    pub fn zero(count: usize) -> Sites {
        Sites { precision: vec![0.0; count], shift: vec![0.0; count] }
    }

    /// The same sites with so many in all, new ones saying nothing.
    pub fn resize(&mut self, count: usize) {
        self.precision.resize(count, 0.0);
        self.shift.resize(count, 0.0);
    }
}

/// How far to go.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// Sweeps end when no site has changed by more than this.
    pub tolerance: f64,
    /// The most sweeps.
    pub sweeps: u32,
    /// The seed of the random order of sites.
    pub seed: u64,
}

/// The posterior of the strengths of the points that were compared.
#[derive(Clone, Debug)]
pub struct Strengths {
    /// The mean μ.
    pub mean: Vec<f64>,
    /// The covariance Σ.
    pub covariance: Matrix,
    /// α = K⁻¹ μ.
    pub alpha: Vec<f64>,
    /// R = (K + W⁻¹)⁻¹.
    pub reduction: Matrix,
    /// The log evidence.
    pub evidence: f64,
    /// How many sweeps it took, and whether the sites had settled by then.
    pub sweeps: (u32, bool),
    /// The kernel, its jitter as large as it had to be.
    pub kernel: Kernel,
}

/// The prior, factored.
struct Prior {
    kernel: Kernel,
    factor: Matrix,
}

impl Prior {
    /// Factors the covariance with as little jitter as will do.
    fn new(kernel: &Kernel, points: &[Vec<f64>]) -> Result<Prior, GpError> {
        let mut kernel = kernel.clone();
        loop {
            if let Some(factor) = kernel.matrix(points).cholesky() {
                return Ok(Prior { kernel, factor });
            }
            let jitter = 10.0 * kernel.jitter();
            if jitter.is_nan() || jitter > 1e-2 {
                return Err(GpError::Factor { points: points.len() });
            }
            kernel = kernel.with_jitter(jitter);
        }
    }
}

/// Checks that comparisons are of two points that there are.
pub fn check(points: usize, comparisons: &[Comparison]) -> Result<(), GpError> {
    match comparisons.iter().find(|c| c.winner.max(c.loser) >= points || c.winner == c.loser) {
        Some(c) => Err(GpError::Comparison { winner: c.winner, loser: c.loser, points }),
        None => Ok(()),
    }
}

/// Lets the sites settle, from where they stand, and returns the posterior.
pub fn infer(
    kernel: &Kernel,
    points: &[Vec<f64>],
    comparisons: &[Comparison],
    sites: &mut Sites,
    effort: &Effort,
) -> Result<Strengths, GpError> {
    check(points.len(), comparisons)?;
    sites.resize(comparisons.len());
    let prior = Prior::new(kernel, points)?;
    let mut state = State::new(&prior, comparisons, sites)?;
    let mut order: Vec<usize> = (0..comparisons.len()).collect();
    let mut rng = rng::stream(effort.seed, &["gp", "sites"]);
    let mut column = vec![0.0; points.len()];
    let (mut sweeps, mut settled) = (0, comparisons.is_empty());
    while sweeps < effort.sweeps && !settled {
        rng.shuffle(&mut order);
        let mut change = 0.0f64;
        for &at in &order {
            change = change.max(state.update(comparisons[at], at, sites, &mut column));
        }
        // Changes of rank one add up rounding errors, so each sweep begins afresh.
        state = State::new(&prior, comparisons, sites)?;
        sweeps += 1;
        settled = change < effort.tolerance;
    }
    state.finish(prior, comparisons, sites, (sweeps, settled))
}

/// The posterior of sites that have settled before, exactly as [`infer`] left it.
pub fn recall(
    kernel: &Kernel,
    points: &[Vec<f64>],
    comparisons: &[Comparison],
    sites: &Sites,
) -> Result<Strengths, GpError> {
    check(points.len(), comparisons)?;
    let prior = Prior::new(kernel, points)?;
    State::new(&prior, comparisons, sites)?.finish(prior, comparisons, sites, (0, true))
}

/// The posterior while the sites change.
struct State {
    mean: Vec<f64>,
    covariance: Matrix,
    /// W and b.
    weights: Matrix,
    shifts: Vec<f64>,
    /// ln |M|.
    log_determinant: f64,
}

impl State {
    fn new(prior: &Prior, comparisons: &[Comparison], sites: &Sites) -> Result<State, GpError> {
        let size = prior.factor.size();
        let (mut weights, mut shifts) = (Matrix::zero(size), vec![0.0; size]);
        for (c, (&tau, &nu)) in comparisons.iter().zip(sites.precision.iter().zip(&sites.shift)) {
            weights.add(c.winner, c.winner, tau);
            weights.add(c.loser, c.loser, tau);
            weights.add(c.winner, c.loser, -tau);
            weights.add(c.loser, c.winner, -tau);
            shifts[c.winner] += nu;
            shifts[c.loser] -= nu;
        }
        // I + Lᵀ W L, of which the lower triangle is enough.
        let mut inner = Matrix::zero(size);
        let mut product = vec![0.0; size];
        for row in 0..size {
            product.fill(0.0);
            for (k, &weight) in weights.row(row).iter().enumerate() {
                if weight != 0.0 {
                    add_scaled(&mut product[..=k], weight, &prior.factor.row(k)[..=k]);
                }
            }
            for (k, &factor) in prior.factor.row(row)[..=row].iter().enumerate() {
                add_scaled(&mut inner.row_mut(k)[..=k], factor, &product[..=k]);
            }
            inner.add(row, row, 1.0);
        }
        let root = inner.cholesky().ok_or(GpError::Factor { points: size })?;
        let log_determinant = (0..size).map(|row| libm::log(root.at(row, row))).sum();
        // The columns of M⁻¹ Lᵀ are solved from the rows of L.
        let mut half = prior.factor.clone();
        (0..size).for_each(|row| root.solve_lower(half.row_mut(row)));
        let mut covariance = Matrix::zero(size);
        for row in 0..size {
            for column in 0..=row {
                let value = dot(half.row(row), half.row(column));
                covariance.add(row, column, value);
                if column < row {
                    covariance.add(column, row, value);
                }
            }
        }
        let mean = covariance.times(&shifts);
        Ok(State { mean, covariance, weights, shifts, log_determinant })
    }

    /// The mean and variance of a pair's worth.
    #[inline]
    fn marginal(&self, c: Comparison) -> (f64, f64) {
        let of = |row, column| self.covariance.at(row, column);
        let variance = (of(c.winner, c.winner) - of(c.winner, c.loser))
            + (of(c.loser, c.loser) - of(c.loser, c.winner));
        (self.mean[c.winner] - self.mean[c.loser], variance)
    }

    /// Updates one site and the posterior with it; returns by how much the site changed.
    fn update(&mut self, c: Comparison, at: usize, sites: &mut Sites, column: &mut [f64]) -> f64 {
        let (mean, variance) = self.marginal(c);
        let Some(cavity) = Cavity::new(mean, variance, sites.precision[at], sites.shift[at]) else {
            return 0.0;
        };
        let (precision, shift) = cavity.site();
        let (more, push) = (precision - sites.precision[at], shift - sites.shift[at]);
        let scale = 1.0 + more * variance;
        if !(scale > 0.0 && more.is_finite() && push.is_finite()) {
            return 0.0;
        }
        (sites.precision[at], sites.shift[at]) = (precision, shift);
        for (to, (x, y)) in column
            .iter_mut()
            .zip(self.covariance.row(c.winner).iter().zip(self.covariance.row(c.loser)))
        {
            *to = x - y;
        }
        for row in 0..column.len() {
            let factor = -more / scale * column[row];
            add_scaled(self.covariance.row_mut(row), factor, column);
        }
        add_scaled(&mut self.mean, (push - more * mean) / scale, column);
        more.abs().max(push.abs())
    }

    fn finish(
        self,
        prior: Prior,
        comparisons: &[Comparison],
        sites: &Sites,
        sweeps: (u32, bool),
    ) -> Result<Strengths, GpError> {
        let mut evidence = 0.5 * dot(&self.shifts, &self.mean) - self.log_determinant;
        for (at, &c) in comparisons.iter().enumerate() {
            let (mean, variance) = self.marginal(c);
            let tau = sites.precision[at];
            if let Some(cavity) = Cavity::new(mean, variance, tau, sites.shift[at]) {
                // The comparison's integral over the cavity, less the site's.
                evidence += log_cdf(cavity.z()).value + 0.5 * libm::log1p(tau * cavity.variance)
                    - 0.5 * (mean * mean / variance - cavity.mean * cavity.mean / cavity.variance);
            }
        }
        let size = self.mean.len();
        let pulled = self.weights.times(&self.mean);
        let alpha: Vec<f64> = self.shifts.iter().zip(&pulled).map(|(b, w)| b - w).collect();
        // W - W (W Σ)ᵀ, with few comparisons for each point.
        let mut reduction = self.weights.clone();
        let product = self.weights.sparse_times(&self.covariance, 1.0).transposed();
        reduction.add_all(&self.weights.sparse_times(&product, -1.0));
        if !evidence.is_finite() || alpha.iter().any(|a| !a.is_finite()) {
            return Err(GpError::Factor { points: size });
        }
        Ok(Strengths {
            mean: self.mean,
            covariance: self.covariance,
            alpha,
            reduction,
            evidence,
            sweeps,
            kernel: prior.kernel,
        })
    }
}

/// What all other comparisons say of a pair's worth.
struct Cavity {
    mean: f64,
    variance: f64,
}

impl Cavity {
    /// Takes a site out of a marginal; `None` where rounding has left nothing to take it from.
    fn new(mean: f64, variance: f64, tau: f64, nu: f64) -> Option<Cavity> {
        // (1 / variance - tau) inverted, without dividing by a small variance.
        let share = 1.0 - tau * variance;
        let cavity = Cavity { mean: (mean - nu * variance) / share, variance: variance / share };
        let sound = share > 0.0 && cavity.variance > 0.0;
        (sound && cavity.mean.is_finite() && cavity.variance.is_finite()).then_some(cavity)
    }

    fn z(&self) -> f64 {
        self.mean / libm::sqrt(1.0 + self.variance)
    }

    /// The site whose product with the cavity has the moments of the comparison's, its precision
    /// clamped at zero.
    fn site(&self) -> (f64, f64) {
        let Cavity { mean, variance } = *self;
        let log = log_cdf(self.z());
        let slope = log.slope / libm::sqrt(1.0 + variance);
        let curve = log.slope * log.lift / (1.0 + variance);
        let left = 1.0 - variance * curve;
        ((curve / left).max(0.0), (slope + mean * curve) / left)
    }
}

impl Strengths {
    /// The gradient of the log evidence by the logarithms of the kernel's parameters.
    #[must_use]
    pub fn gradient(&self, points: &[Vec<f64>]) -> Vec<f64> {
        let covariance = self.kernel.matrix(points);
        let mut slopes = vec![0.0; self.kernel.parameters()];
        for (row, a) in points.iter().enumerate() {
            for (column, b) in points[..=row].iter().enumerate() {
                let pull = self.alpha[row] * self.alpha[column] - self.reduction.at(row, column);
                // Off the diagonal each cell stands for two.
                let weight = if column == row { 0.5 * pull } else { pull };
                self.kernel.add_slopes((a, b), covariance.at(row, column), weight, &mut slopes);
            }
        }
        slopes
    }
}
