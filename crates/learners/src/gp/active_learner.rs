//! The active learner: issues queries and updates the posterior with their outcomes.

use super::bald::{self, Acquisition};
use super::ep::{Comparison, EpConfig, Sites, infer};
use super::kernel::Kernel;
use super::lbfgs::StoppingCriteria;
use super::posterior::{LENGTH_BOUNDS, Posterior, SIGNAL_BOUNDS, maximize_evidence};
use super::space::HeuristicSpace;
use super::{GpError, Prediction};
use outflank_runs::{Rng, RngExt, rng};
use std::collections::BTreeMap;

/// The search for kernel parameters stops when an iteration gains less than this share of the
/// evidence.
const RELATIVE_GAIN: f64 = 1e-4;

/// In rounds 1 to `RESTART_INTERVAL`, and then in every `RESTART_INTERVAL`-th round, a second search
/// for kernel parameters starts from the initial parameters.
const RESTART_INTERVAL: u64 = 10;

/// Configuration of the inference.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct InferenceConfig {
    /// Convergence tolerance of expectation propagation.
    pub tolerance: f64,
    /// Maximum number of EP iterations over all sites.
    pub ep_max_iterations: u32,
    /// Maximum number of optimizer iterations for the kernel parameters per round; 0 keeps them
    /// fixed.
    pub kernel_max_iterations: usize,
    /// Whether each weight has its own length scale (automatic relevance determination).
    pub relevance: bool,
}

/// Configuration of Gaussian-process preference learning.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GpConfig {
    /// Number of weights of a heuristic.
    pub dimensions: usize,
    /// The space in which heuristics are compared.
    pub space: HeuristicSpace,
    /// Number of initial random heuristics, all compared with each other; at least two.
    pub initial: usize,
    /// Number of earlier heuristics with which each new one is compared.
    pub opponents: usize,
    /// Whether these opponents are selected by the acquisition function instead of at random.
    pub choose_opponents: bool,
    /// The acquisition function, which selects the next pair.
    pub acquisition: Acquisition,
    /// Whether the best heuristic so far is one of the pair; otherwise both are new.
    pub against_best: bool,
    /// Number of starting points of the search for the next pair.
    pub restarts: usize,
    /// Configuration of the inference.
    pub inference: InferenceConfig,
    /// Random seed.
    pub seed: u64,
}

/// The outcome of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ComparisonOutcome {
    /// The first is better.
    First,
    /// The second is better.
    Second,
    /// A tie, which counts as one comparison won by each.
    Tie,
}

/// Pairs to compare.
#[derive(Clone, Debug, PartialEq)]
pub struct Query {
    /// Indices of the new heuristics.
    pub new_points: Vec<usize>,
    /// Pairs of indices.
    pub pairs: Vec<(usize, usize)>,
    /// The prediction for the first pair; `None` in the initial round.
    pub prediction: Option<Prediction>,
}

/// The state of the active learner.
#[derive(Clone, Debug)]
pub struct ActiveLearner {
    pub(super) config: GpConfig,
    pub(super) points: Vec<Vec<f64>>,
    pub(super) comparisons: Vec<Comparison>,
    pub(super) log_parameters: Vec<f64>,
    pub(super) sites: Sites,
    pub(super) round: u64,
    pub(super) posterior: Option<Posterior>,
}

impl ActiveLearner {
    /// Creates a learner without comparisons.
    pub fn new(config: GpConfig) -> Result<ActiveLearner, GpError> {
        let invalid = |reason: &str| Err(GpError::Config(reason.to_owned()));
        if config.dimensions == 0 {
            return invalid("a heuristic needs at least one weight");
        }
        if config.initial < 2 {
            return invalid("the initial round needs at least two heuristics");
        }
        if config.inference.tolerance.is_nan() || config.inference.tolerance <= 0.0 {
            return invalid("the tolerance must be greater than 0");
        }
        let lengths = if config.inference.relevance { config.dimensions } else { 1 };
        Ok(ActiveLearner {
            config,
            points: Vec::new(),
            comparisons: Vec::new(),
            log_parameters: initial_parameters(&config, lengths),
            sites: Sites::default(),
            round: 0,
            posterior: None,
        })
    }

    /// Returns the configuration.
    #[must_use]
    pub fn config(&self) -> &GpConfig {
        &self.config
    }

    /// Returns the heuristics in the order in which they were added.
    #[must_use]
    pub fn points(&self) -> &[Vec<f64>] {
        &self.points
    }

    /// Returns the comparisons.
    #[must_use]
    pub fn comparisons(&self) -> &[Comparison] {
        &self.comparisons
    }

    /// Returns the number of completed rounds after the initial one.
    #[must_use]
    pub fn rounds(&self) -> u64 {
        self.round.saturating_sub(1)
    }

    /// Returns the posterior; `None` before the initial round.
    #[must_use]
    pub fn posterior(&self) -> Option<&Posterior> {
        self.posterior.as_ref()
    }

    /// Returns the logarithms of the length scales and of σ.
    #[must_use]
    pub fn log_parameters(&self) -> &[f64] {
        &self.log_parameters
    }

    fn stream(&self, name: &str) -> Rng {
        rng::stream(self.config.seed, &["gp", name, &self.round.to_string()])
    }

    /// Returns the next query: in the initial round all pairs of random heuristics, then a new
    /// pair.
    ///
    /// With [`GpConfig::against_best`], the pair consists of the heuristic with the index `best`
    /// and a new opponent. New heuristics are added at once; [`ActiveLearner::update`] must follow
    /// with an outcome per pair.
    pub fn next_query(&mut self, best: usize) -> Query {
        let mut rng = self.stream("choice");
        let Some(posterior) = &self.posterior else { return self.initial_query(&mut rng) };
        let fixed = if self.config.against_best { self.points.get(best) } else { None };
        let (a, b) = bald::select_pair(
            posterior,
            fixed.map(Vec::as_slice),
            self.config.dimensions,
            self.config.acquisition,
            self.config.restarts,
            &mut rng,
        );
        let prediction = Some(posterior.predict(&a, &b));
        let before = self.points.len();
        let (first, second) = (self.add(&a), self.add(&b));
        let mut pairs = Vec::new();
        if first != second {
            pairs.push((first, second));
        }
        let new_points: Vec<usize> = (before..self.points.len()).collect();
        for &new in &new_points {
            // The members of the pair are excluded.
            let mut others: Vec<usize> =
                (0..before).filter(|&other| other != first && other != second).collect();
            rng.shuffle(&mut others);
            pairs.extend(self.opponents(new, &others).into_iter().map(|other| (new, other)));
        }
        Query { new_points, pairs, prediction }
    }

    fn initial_query(&mut self, rng: &mut Rng) -> Query {
        let dimensions = self.config.dimensions;
        let new_points: Vec<usize> = (0..self.config.initial)
            .map(|_| {
                let drawn: Vec<f64> = (0..dimensions).map(|_| 2.0 * rng.unit() - 1.0).collect();
                self.add(&drawn)
            })
            .collect();
        let mut pairs = Vec::new();
        for (at, &first) in new_points.iter().enumerate() {
            pairs.extend(new_points[at + 1..].iter().map(|&second| (first, second)));
        }
        Query { new_points, pairs, prediction: None }
    }

    /// Selects the opponents of a new heuristic from `others`, which are in random order.
    ///
    /// With `choose_opponents`, `others` is divided into equal parts, and the acquisition function
    /// selects the best of each part. The best of all would be similar to each other and therefore
    /// redundant.
    fn opponents(&self, new: usize, others: &[usize]) -> Vec<usize> {
        let GpConfig { opponents, choose_opponents, acquisition, .. } = self.config;
        let by_acquisition = choose_opponents && acquisition != Acquisition::Random;
        let (Some(posterior), true) = (&self.posterior, by_acquisition && others.len() > opponents)
        else {
            return others.iter().copied().take(opponents).collect();
        };
        let value = |other: usize| {
            let prediction = posterior.predict(&self.points[new], &self.points[other]);
            bald::acquisition_value(prediction, acquisition).0
        };
        let best_of_part = |number: usize| {
            let start = number * others.len() / opponents;
            let end = (number + 1) * others.len() / opponents;
            // Ties are resolved by the random order.
            others[start..end]
                .iter()
                .copied()
                .reduce(|best, other| if value(other) > value(best) { other } else { best })
        };
        (0..opponents).filter_map(best_of_part).collect()
    }

    /// Adds a point, if it is new, and returns its index.
    fn add(&mut self, weights: &[f64]) -> usize {
        let point = self.config.space.point(weights);
        if let Some(index) = self.points.iter().position(|other| *other == point) {
            return index;
        }
        self.points.push(point);
        self.points.len() - 1
    }

    /// Updates the posterior and the kernel parameters with the outcomes of the last query.
    pub fn update(&mut self, query: &Query, outcomes: &[ComparisonOutcome]) -> Result<(), GpError> {
        for (&(first, second), outcome) in query.pairs.iter().zip(outcomes) {
            let won = Comparison { winner: first, loser: second };
            let lost = Comparison { winner: second, loser: first };
            match outcome {
                ComparisonOutcome::First => self.comparisons.push(won),
                ComparisonOutcome::Second => self.comparisons.push(lost),
                ComparisonOutcome::Tie => self.comparisons.extend([won, lost]),
            }
        }
        let config = self.ep_config();
        let criteria = StoppingCriteria {
            max_iterations: self.config.inference.kernel_max_iterations,
            relative_gain: RELATIVE_GAIN,
        };
        self.sites.resize(self.comparisons.len());
        // With few comparisons a length scale can become so short that all points are uncorrelated.
        // Its gradient is then zero, so early rounds, and some later ones, restart the search.
        let restart = self.round < RESTART_INTERVAL || self.round.is_multiple_of(RESTART_INTERVAL);
        let initial = initial_parameters(&self.config, self.log_parameters.len() - 1);
        let search = |start: &[f64], sites: &Sites| {
            let mut sites = sites.clone();
            let (points, comparisons) = (&self.points, &self.comparisons);
            let (log_parameters, posterior) =
                maximize_evidence(start, points, comparisons, &mut sites, &config, criteria)?;
            Ok::<_, GpError>((posterior.latent().log_evidence, log_parameters, sites, posterior))
        };
        let mut best = search(&self.log_parameters, &self.sites);
        if restart || best.is_err() {
            let cold = search(&initial, &self.sites);
            best = match (best, cold) {
                (Ok(warm), Ok(cold)) if cold.0 > warm.0 + RELATIVE_GAIN => Ok(cold),
                (Err(_), Ok(cold)) => Ok(cold),
                (best, _) => best,
            };
        }
        let (_, log_parameters, sites, posterior) = best?;
        (self.log_parameters, self.sites) = (log_parameters, sites);
        self.posterior = Some(posterior.with_space(self.config.space));
        self.round += 1;
        Ok(())
    }

    /// Returns the share of outcomes that the current posterior predicts; ties and pairs without a
    /// prediction count half.
    #[must_use]
    pub fn prediction_accuracy(&self, query: &Query, outcomes: &[ComparisonOutcome]) -> f64 {
        let credit = |(&(first, second), outcome): (&(usize, usize), &ComparisonOutcome)| {
            let mean = self.posterior.as_ref().map_or(0.0, |posterior| {
                posterior.strength(&self.points[first]) - posterior.strength(&self.points[second])
            });
            match outcome {
                ComparisonOutcome::First if mean > 0.0 => 1.0,
                ComparisonOutcome::Second if mean < 0.0 => 1.0,
                ComparisonOutcome::First | ComparisonOutcome::Second if mean != 0.0 => 0.0,
                _ => 0.5,
            }
        };
        let credits: f64 = query.pairs.iter().zip(outcomes).map(credit).sum();
        credits / query.pairs.len().max(1) as f64
    }

    /// Returns warnings about the data and the inference, computed from the state.
    #[must_use]
    pub fn warnings(&self) -> Vec<String> {
        let mut warnings: Vec<String> = self.comparison_warning().into_iter().collect();
        let Some(posterior) = &self.posterior else { return warnings };
        if !self.has_converged(posterior) {
            warnings.push(format!(
                "expectation propagation did not converge in {} iterations; raise the maximum number of \
                 iterations or the tolerance",
                self.config.inference.ep_max_iterations
            ));
        }
        let jitter = posterior.kernel().jitter();
        let default = Kernel::from_logs(&self.log_parameters).jitter();
        if jitter > default {
            warnings.push(format!(
                "some heuristics are nearly equal: the covariance matrix needed a jitter of {jitter:.0e} \
                 instead of {default:.0e}"
            ));
        }
        let last = self.log_parameters.len().saturating_sub(1);
        for (at, &log) in self.log_parameters.iter().enumerate() {
            let (name, (least, most)) = match at == last {
                true => ("the signal scale σ", SIGNAL_BOUNDS),
                false => ("a length scale", LENGTH_BOUNDS),
            };
            if log <= least || log >= most {
                warnings.push(format!("{name} is at its bound, {:.3}", libm::exp(log)));
            }
        }
        warnings
    }

    /// Returns a warning if comparisons are ties or contradict each other.
    fn comparison_warning(&self) -> Option<String> {
        let mut wins: BTreeMap<(usize, usize), [u32; 2]> = BTreeMap::new();
        for &Comparison { winner, loser } in &self.comparisons {
            let counts = wins.entry((winner.min(loser), winner.max(loser))).or_default();
            counts[usize::from(winner > loser)] += 1;
        }
        let contradictory = wins.values().filter(|counts| counts[0] > 0 && counts[1] > 0).count();
        let tied = wins.values().filter(|counts| counts[0] == counts[1]).count();
        if !wins.is_empty() && tied == wins.len() {
            let text = "every comparison was a tie: nothing was learned, and the best heuristic is arbitrary";
            return Some(text.to_owned());
        }
        (contradictory > 0).then(|| {
            let pairs = wins.len();
            format!(
                "{contradictory} of {pairs} pairs were ties or won by both sides; each counts once per side"
            )
        })
    }

    /// Returns whether one more EP iteration changes converged sites by about the tolerance at
    /// most.
    fn has_converged(&self, posterior: &Posterior) -> bool {
        let config = self.ep_config();
        let once = EpConfig { max_iterations: 1, tolerance: 2.0 * config.tolerance, ..config };
        let mut sites = self.sites.clone();
        let again = infer(posterior.kernel(), &self.points, &self.comparisons, &mut sites, &once);
        again.is_ok_and(|latent| latent.converged)
    }

    fn ep_config(&self) -> EpConfig {
        let InferenceConfig { tolerance, ep_max_iterations, .. } = self.config.inference;
        EpConfig { tolerance, max_iterations: ep_max_iterations, seed: self.config.seed }
    }
}

/// Returns the initial kernel parameters: all heuristics lie within about two length scales, and σ
/// is the noise of a comparison.
fn initial_parameters(config: &GpConfig, lengths: usize) -> Vec<f64> {
    let mut logs = vec![config.space.initial_log_length(config.dimensions); lengths];
    logs.push(0.0);
    logs
}
