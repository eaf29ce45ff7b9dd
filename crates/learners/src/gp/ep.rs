//! Expectation propagation (Yelluri 2015, section 3.4; Rasmussen & Williams, 2006, section 3.6).
//!
//! A comparison has the likelihood Φ(f(winner) - f(loser)). Its site approximates it by
//! `exp(ν g - ½ τ g²)` with g = aᵀf, a having +1 for the winner and -1 for the loser. With m points
//! and n comparisons the posterior of f is N(μ, Σ),
//!
//! `Σ = (K⁻¹ + W)⁻¹`, `μ = Σ b`, `W = Σ_i τ_i a_i a_iᵀ`, `b = Σ_i ν_i a_i`,
//!
//! of size m for any number of comparisons: updating a site is a rank-one update that costs m²
//! instead of n². Neither K nor W is inverted: with K = L Lᵀ and `I + Lᵀ W L = M Mᵀ`, whose
//! eigenvalues are at least 1, `Σ = (M⁻¹ Lᵀ)ᵀ (M⁻¹ Lᵀ)`.
//!
//! The log evidence is `Σ_i ln c_i - ln |M| + ½ bᵀμ`, where `c_i` normalizes the site so that its
//! integral over the cavity distribution equals that of the likelihood. At the fixed point its
//! gradient is `½ αᵀ ∂K α - ½ tr(R ∂K)` with `α = K⁻¹ μ = b - W μ` and
//! `R = (K + W⁻¹)⁻¹ = W - W Σ W`.

use super::GpError;
use super::kernel::Kernel;
use super::probit::log_cdf;
use outflank_arena::linalg::{Cholesky, Matrix, add_scaled, dot};
use outflank_runs::{RngExt, rng};

/// Number of parallel partial sums in dot products.
pub(super) const LANES: usize = 8;

/// The outcome of a comparison of two points, given by their indices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Comparison {
    /// The winner.
    pub winner: usize,
    /// The loser.
    pub loser: usize,
}

/// The natural parameters of the sites.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sites {
    /// The precisions τ, never negative.
    pub precision: Vec<f64>,
    /// The precisions times the means, ν.
    pub precision_mean: Vec<f64>,
}

impl Sites {
    /// Resizes to `count` sites; new ones are zero (uninformative).
    pub fn resize(&mut self, count: usize) {
        self.precision.resize(count, 0.0);
        self.precision_mean.resize(count, 0.0);
    }
}

/// Convergence settings of expectation propagation.
#[derive(Clone, Copy, Debug)]
pub struct EpConfig {
    /// Converged when no site parameter changes by this much in an iteration.
    pub tolerance: f64,
    /// Maximum number of iterations over all sites.
    pub max_iterations: u32,
    /// Seed of the random order of the sites.
    pub seed: u64,
}

/// The posterior of the strengths of the compared points.
#[derive(Clone, Debug)]
pub struct LatentPosterior {
    /// The mean μ.
    pub mean: Vec<f64>,
    /// The covariance Σ.
    pub covariance: Matrix,
    /// α = K⁻¹ μ.
    pub alpha: Vec<f64>,
    /// R = (K + W⁻¹)⁻¹.
    pub reduction: Matrix,
    /// The log evidence.
    pub log_evidence: f64,
    /// Whether expectation propagation converged.
    pub converged: bool,
    /// The kernel, with the jitter that was needed.
    pub kernel: Kernel,
}

/// The prior with the Cholesky factor of its covariance.
struct Prior {
    kernel: Kernel,
    factor: Cholesky<LANES>,
}

impl Prior {
    /// Factorizes the covariance, increasing the jitter until it is positive definite.
    fn new(kernel: &Kernel, points: &[Vec<f64>]) -> Result<Prior, GpError> {
        let mut kernel = kernel.clone();
        loop {
            if let Some(factor) = kernel.matrix(points).cholesky(0.0) {
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

/// Checks that every comparison is between two different, existing points.
pub fn check(points: usize, comparisons: &[Comparison]) -> Result<(), GpError> {
    match comparisons.iter().find(|c| c.winner.max(c.loser) >= points || c.winner == c.loser) {
        Some(c) => Err(GpError::Comparison { winner: c.winner, loser: c.loser, points }),
        None => Ok(()),
    }
}

/// Runs expectation propagation from the given sites and returns the posterior.
pub fn infer(
    kernel: &Kernel,
    points: &[Vec<f64>],
    comparisons: &[Comparison],
    sites: &mut Sites,
    config: &EpConfig,
) -> Result<LatentPosterior, GpError> {
    check(points.len(), comparisons)?;
    sites.resize(comparisons.len());
    let prior = Prior::new(kernel, points)?;
    let mut state = State::new(&prior, comparisons, sites)?;
    let mut order: Vec<usize> = (0..comparisons.len()).collect();
    let mut rng = rng::stream(config.seed, &["gp", "sites"]);
    let mut column = vec![0.0; points.len()];
    let (mut iterations, mut converged) = (0, comparisons.is_empty());
    while iterations < config.max_iterations && !converged {
        rng.shuffle(&mut order);
        let mut change = 0.0f64;
        for &at in &order {
            change = change.max(state.update(comparisons[at], at, sites, &mut column));
        }
        // Rank-one updates accumulate rounding errors, so the posterior is recomputed.
        state = State::new(&prior, comparisons, sites)?;
        iterations += 1;
        converged = change < config.tolerance;
    }
    state.finish(prior, comparisons, sites, converged)
}

/// Computes the posterior of converged sites, bit-identical to the result of [`infer`].
pub fn posterior_from_sites(
    kernel: &Kernel,
    points: &[Vec<f64>],
    comparisons: &[Comparison],
    sites: &Sites,
) -> Result<LatentPosterior, GpError> {
    check(points.len(), comparisons)?;
    let prior = Prior::new(kernel, points)?;
    State::new(&prior, comparisons, sites)?.finish(prior, comparisons, sites, true)
}

/// The posterior during the iterations.
struct State {
    mean: Vec<f64>,
    covariance: Matrix,
    /// W.
    weights: Matrix,
    /// b.
    shifts: Vec<f64>,
    /// ln |M|.
    log_determinant: f64,
}

impl State {
    fn new(prior: &Prior, comparisons: &[Comparison], sites: &Sites) -> Result<State, GpError> {
        let factor = prior.factor.lower();
        let size = factor.size();
        let (mut weights, mut shifts) = (Matrix::zero(size), vec![0.0; size]);
        for (c, (&tau, &nu)) in
            comparisons.iter().zip(sites.precision.iter().zip(&sites.precision_mean))
        {
            weights.add(c.winner, c.winner, tau);
            weights.add(c.loser, c.loser, tau);
            weights.add(c.winner, c.loser, -tau);
            weights.add(c.loser, c.winner, -tau);
            shifts[c.winner] += nu;
            shifts[c.loser] -= nu;
        }
        // The lower triangle of I + Lᵀ W L.
        let mut inner = Matrix::zero(size);
        let mut product = vec![0.0; size];
        for row in 0..size {
            product.fill(0.0);
            for (k, &weight) in weights.row(row).iter().enumerate() {
                if weight != 0.0 {
                    add_scaled(&mut product[..=k], weight, &factor.row(k)[..=k]);
                }
            }
            for (k, &value) in factor.row(row)[..=row].iter().enumerate() {
                add_scaled(&mut inner.row_mut(k)[..=k], value, &product[..=k]);
            }
            inner.add(row, row, 1.0);
        }
        let root: Cholesky<LANES> = inner.cholesky(0.0).ok_or(GpError::Factor { points: size })?;
        let log_determinant = (0..size).map(|row| libm::log(root.lower().at(row, row))).sum();
        // The columns of M⁻¹ Lᵀ are solved from the rows of L.
        let mut half = factor.clone();
        (0..size).for_each(|row| root.solve_lower(half.row_mut(row)));
        let mut covariance = Matrix::zero(size);
        for row in 0..size {
            for column in 0..=row {
                let value = dot::<LANES>(half.row(row), half.row(column));
                covariance.add(row, column, value);
                if column < row {
                    covariance.add(column, row, value);
                }
            }
        }
        let mean = covariance.multiply_vector(&shifts);
        Ok(State { mean, covariance, weights, shifts, log_determinant })
    }

    /// Returns the marginal mean and variance of a strength difference.
    #[inline]
    fn marginal(&self, c: Comparison) -> (f64, f64) {
        let of = |row, column| self.covariance.at(row, column);
        let variance = (of(c.winner, c.winner) - of(c.winner, c.loser))
            + (of(c.loser, c.loser) - of(c.loser, c.winner));
        (self.mean[c.winner] - self.mean[c.loser], variance)
    }

    /// Updates one site and the posterior; returns the largest change of a site parameter.
    fn update(&mut self, c: Comparison, at: usize, sites: &mut Sites, column: &mut [f64]) -> f64 {
        let (mean, variance) = self.marginal(c);
        let Some(cavity) =
            Cavity::new(mean, variance, sites.precision[at], sites.precision_mean[at])
        else {
            return 0.0;
        };
        let (precision, shift) = cavity.site();
        let (more, push) = (precision - sites.precision[at], shift - sites.precision_mean[at]);
        let scale = 1.0 + more * variance;
        if !(scale > 0.0 && more.is_finite() && push.is_finite()) {
            return 0.0;
        }
        (sites.precision[at], sites.precision_mean[at]) = (precision, shift);
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
        converged: bool,
    ) -> Result<LatentPosterior, GpError> {
        let mut log_evidence = 0.5 * dot::<LANES>(&self.shifts, &self.mean) - self.log_determinant;
        for (at, &c) in comparisons.iter().enumerate() {
            let (mean, variance) = self.marginal(c);
            let tau = sites.precision[at];
            if let Some(cavity) = Cavity::new(mean, variance, tau, sites.precision_mean[at]) {
                // The integral of the likelihood over the cavity, minus that of the site.
                log_evidence += log_cdf(cavity.z()).value
                    + 0.5 * libm::log1p(tau * cavity.variance)
                    - 0.5 * (mean * mean / variance - cavity.mean * cavity.mean / cavity.variance);
            }
        }
        let size = self.mean.len();
        let weighted_mean = self.weights.multiply_vector(&self.mean);
        let alpha: Vec<f64> = self.shifts.iter().zip(&weighted_mean).map(|(b, w)| b - w).collect();
        // W - W (W Σ)ᵀ; W is sparse.
        let mut reduction = self.weights.clone();
        let product = self.weights.multiply_sparse(&self.covariance, 1.0).transposed();
        reduction.add_matrix(&self.weights.multiply_sparse(&product, -1.0));
        if !log_evidence.is_finite() || alpha.iter().any(|a| !a.is_finite()) {
            return Err(GpError::Factor { points: size });
        }
        Ok(LatentPosterior {
            mean: self.mean,
            covariance: self.covariance,
            alpha,
            reduction,
            log_evidence,
            converged,
            kernel: prior.kernel,
        })
    }
}

/// The cavity distribution: the marginal of a strength difference without its own site.
struct Cavity {
    mean: f64,
    variance: f64,
}

impl Cavity {
    /// Divides a site out of a marginal. Returns `None` if the result is not a distribution,
    /// because of rounding.
    fn new(mean: f64, variance: f64, tau: f64, nu: f64) -> Option<Cavity> {
        // 1 / (1 / variance - tau) without dividing by a small variance.
        let share = 1.0 - tau * variance;
        let cavity = Cavity { mean: (mean - nu * variance) / share, variance: variance / share };
        let is_valid = share > 0.0 && cavity.variance > 0.0;
        (is_valid && cavity.mean.is_finite() && cavity.variance.is_finite()).then_some(cavity)
    }

    fn z(&self) -> f64 {
        self.mean / libm::sqrt(1.0 + self.variance)
    }

    /// Matches the moments of the tilted distribution; the precision is clamped at zero.
    fn site(&self) -> (f64, f64) {
        let Cavity { mean, variance } = *self;
        let log = log_cdf(self.z());
        let slope = log.slope / libm::sqrt(1.0 + variance);
        let curve = log.slope * log.lift / (1.0 + variance);
        let left = 1.0 - variance * curve;
        ((curve / left).max(0.0), (slope + mean * curve) / left)
    }
}

impl LatentPosterior {
    /// Computes the gradient of the log evidence with respect to the logarithms of the kernel
    /// parameters.
    #[must_use]
    pub fn gradient(&self, points: &[Vec<f64>]) -> Vec<f64> {
        let covariance = self.kernel.matrix(points);
        let mut gradient = vec![0.0; self.kernel.parameter_count()];
        for (row, a) in points.iter().enumerate() {
            for (column, b) in points[..=row].iter().enumerate() {
                let factor = self.alpha[row] * self.alpha[column] - self.reduction.at(row, column);
                // Each off-diagonal element occurs twice.
                let weight = if column == row { 0.5 * factor } else { factor };
                let element = covariance.at(row, column);
                self.kernel.add_gradient((a, b), element, weight, &mut gradient);
            }
        }
        gradient
    }
}
