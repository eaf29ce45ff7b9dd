//! The loop without a game: asks for comparisons, is told their outcomes.

use super::ascent::Limits;
use super::bald::{self, Sampling};
use super::ep::{Comparison, Effort, Sites, infer};
use super::kernel::Kernel;
use super::posterior::{LENGTH_BOUNDS, Posterior, SIGNAL_BOUNDS, maximize_evidence};
use super::space::Space;
use super::{GpError, Prediction};
use outflank_runs::{RngExt, Rng, rng};
use std::collections::BTreeMap;

/// Parameters have settled when a step gains less evidence than this share of it.
const GAIN: f64 = 1e-4;

/// In so many first rounds, and once in so many later ones, parameters are also sought afresh.
const AFRESH: u64 = 10;

/// How to infer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Inference {
    /// Sites have settled when none changes by more than this.
    pub tolerance: f64,
    /// The most sweeps over all sites.
    pub sweeps: u32,
    /// The most steps towards better parameters in a round; none keeps them.
    pub steps: usize,
    /// Whether each weight has a length scale of its own.
    pub relevance: bool,
}

/// How to learn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// How many weights a heuristic has.
    pub dimensions: usize,
    /// What tells heuristics apart.
    pub space: Space,
    /// Random heuristics to begin with, all compared with each other; two at least.
    pub initial: usize,
    /// With how many known heuristics each new one is compared.
    pub opponents: usize,
    /// Whether these are chosen as the pair is, rather than at random.
    pub choose_opponents: bool,
    /// How the next pair is chosen.
    pub sampling: Sampling,
    /// Whether the best heuristic so far is one of the pair; otherwise both are new.
    pub against_best: bool,
    /// How often the search for the next pair starts anew.
    pub restarts: usize,
    /// How to infer.
    pub inference: Inference,
    /// The seed of everything that is drawn.
    pub seed: u64,
}

/// How a comparison came out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The first is better.
    First,
    /// The second is better.
    Second,
    /// Neither is; it counts as one comparison won by each.
    Even,
}

/// What is to be compared next.
#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    /// The heuristics that are new, by number.
    pub fresh: Vec<usize>,
    /// The pairs, by number.
    pub pairs: Vec<(usize, usize)>,
    /// What was expected of the first pair when it was chosen; `None` at the beginning.
    pub expected: Option<Prediction>,
}

/// Everything that has been learned and all that the next round depends on.
#[derive(Clone, Debug)]
pub struct Active {
    pub(super) settings: Settings,
    pub(super) points: Vec<Vec<f64>>,
    pub(super) comparisons: Vec<Comparison>,
    pub(super) logs: Vec<f64>,
    pub(super) sites: Sites,
    pub(super) round: u64,
    pub(super) posterior: Option<Posterior>,
}

impl Active {
    /// Nothing learned yet.
    pub fn new(settings: Settings) -> Result<Active, GpError> {
        let refuse = |reason: &str| Err(GpError::Settings(reason.to_owned()));
        if settings.dimensions == 0 {
            return refuse("a heuristic has at least one weight");
        }
        if settings.initial < 2 {
            return refuse("learning begins with at least two heuristics");
        }
        if settings.inference.tolerance.is_nan() || settings.inference.tolerance <= 0.0 {
            return refuse("the tolerance must be greater than 0");
        }
        let lengths = if settings.inference.relevance { settings.dimensions } else { 1 };
        Ok(Active {
            settings,
            points: Vec::new(),
            comparisons: Vec::new(),
            logs: neutral(&settings, lengths),
            sites: Sites::default(),
            round: 0,
            posterior: None,
        })
    }

    /// How it learns.
    #[must_use]
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The heuristics, in the order in which they came.
    #[must_use]
    pub fn points(&self) -> &[Vec<f64>] {
        &self.points
    }

    /// What comparing them has shown.
    #[must_use]
    pub fn comparisons(&self) -> &[Comparison] {
        &self.comparisons
    }

    /// Rounds told, the beginning not counted.
    #[must_use]
    pub fn rounds(&self) -> u64 {
        self.round.saturating_sub(1)
    }

    /// What is believed; `None` before the beginning was told.
    #[must_use]
    pub fn posterior(&self) -> Option<&Posterior> {
        self.posterior.as_ref()
    }

    /// The logarithms of the length scales and of σ.
    #[must_use]
    pub fn parameters(&self) -> &[f64] {
        &self.logs
    }

    fn stream(&self, what: &str) -> Rng {
        rng::stream(self.settings.seed, &["gp", what, &self.round.to_string()])
    }

    /// What to compare next: at first the random heuristics with each other, then a new pair.
    ///
    /// `best` is the heuristic to find an opponent for, if the settings say so. New heuristics
    /// are added at once; [`Active::tell`] must follow with an outcome for each pair.
    pub fn ask(&mut self, best: usize) -> Question {
        let mut rng = self.stream("choice");
        let Some(posterior) = &self.posterior else {
            let dimensions = self.settings.dimensions;
            let all: Vec<usize> = (0..self.settings.initial)
                .map(|_| {
                    let drawn: Vec<f64> = (0..dimensions).map(|_| 2.0 * rng.unit() - 1.0).collect();
                    self.add(&drawn)
                })
                .collect();
            let mut pairs = Vec::new();
            for (at, &first) in all.iter().enumerate() {
                pairs.extend(all[at + 1..].iter().map(|&second| (first, second)));
            }
            return Question { fresh: all, pairs, expected: None };
        };
        let fixed = if self.settings.against_best { self.points.get(best) } else { None };
        let (a, b) = bald::choose(
            posterior,
            fixed.map(Vec::as_slice),
            self.settings.dimensions,
            self.settings.sampling,
            self.settings.restarts,
            &mut rng,
        );
        let expected = Some(posterior.predict(&a, &b));
        let known = self.points.len();
        let (first, second) = (self.add(&a), self.add(&b));
        let mut pairs = Vec::new();
        if first != second {
            pairs.push((first, second));
        }
        let fresh: Vec<usize> = (known..self.points.len()).collect();
        for &new in &fresh {
            // The opponents of the pair itself are not drawn again.
            let mut others: Vec<usize> =
                (0..known).filter(|&other| other != first && other != second).collect();
            rng.shuffle(&mut others);
            pairs.extend(self.opponents(new, &others).into_iter().map(|other| (new, other)));
        }
        Question { fresh, pairs, expected }
    }

    /// Whom a new heuristic meets, of others in a random order.
    ///
    /// Those chosen are the most interesting of equal shares of the others: the most interesting of
    /// all would be much alike, and ask one thing several times.
    fn opponents(&self, new: usize, others: &[usize]) -> Vec<usize> {
        let Settings { opponents, choose_opponents, sampling, .. } = self.settings;
        let chooses = choose_opponents && sampling != Sampling::Random;
        let (Some(posterior), true) = (&self.posterior, chooses && others.len() > opponents) else {
            return others.iter().copied().take(opponents).collect();
        };
        let interest = |other: usize| {
            let expected = posterior.predict(&self.points[new], &self.points[other]);
            bald::interest(expected, sampling).0
        };
        let share = |at: usize| &others[at * others.len() / opponents..];
        let most = |at: usize| {
            let end = (at + 1) * others.len() / opponents - at * others.len() / opponents;
            // The first of equals, so that the order drawn decides.
            share(at)[..end]
                .iter()
                .copied()
                .reduce(|best, other| if interest(other) > interest(best) { other } else { best })
        };
        (0..opponents).filter_map(most).collect()
    }

    /// The number of a point; one that is known keeps its number.
    fn add(&mut self, weights: &[f64]) -> usize {
        let point = self.settings.space.point(weights);
        if let Some(known) = self.points.iter().position(|other| *other == point) {
            return known;
        }
        self.points.push(point);
        self.points.len() - 1
    }

    /// Takes the outcomes of the pairs last asked for, and learns.
    pub fn tell(&mut self, question: &Question, outcomes: &[Outcome]) -> Result<(), GpError> {
        for (&(first, second), outcome) in question.pairs.iter().zip(outcomes) {
            let won = Comparison { winner: first, loser: second };
            let lost = Comparison { winner: second, loser: first };
            match outcome {
                Outcome::First => self.comparisons.push(won),
                Outcome::Second => self.comparisons.push(lost),
                Outcome::Even => self.comparisons.extend([won, lost]),
            }
        }
        let effort = self.effort();
        let limits = Limits { steps: self.settings.inference.steps, gain: GAIN };
        self.sites.resize(self.comparisons.len());
        // A length scale that few comparisons have made too short no longer feels any pull, all
        // points being strangers to each other; so early rounds, and some later ones, also climb
        // from a neutral place.
        let doubts = self.round < AFRESH || self.round.is_multiple_of(AFRESH);
        let neutral = neutral(&self.settings, self.logs.len() - 1);
        let climb = |logs: &[f64], sites: &Sites| {
            let mut sites = sites.clone();
            let (points, comparisons) = (&self.points, &self.comparisons);
            let (logs, posterior) =
                maximize_evidence(logs, points, comparisons, &mut sites, &effort, limits)?;
            Ok::<_, GpError>((posterior.latent().log_evidence, logs, sites, posterior))
        };
        let mut best = climb(&self.logs, &self.sites);
        if doubts || best.is_err() {
            let cold = climb(&neutral, &self.sites);
            best = match (best, cold) {
                (Ok(warm), Ok(cold)) if cold.0 > warm.0 + GAIN => Ok(cold),
                (Err(_), Ok(cold)) => Ok(cold),
                (best, _) => best,
            };
        }
        let (_, logs, sites, posterior) = best?;
        (self.logs, self.sites) = (logs, sites);
        self.posterior = Some(posterior.within(self.settings.space));
        self.round += 1;
        Ok(())
    }

    /// The share of outcomes that was foreseen, one that is even or of which nothing was known
    /// counting half.
    pub fn foreseen(&self, question: &Question, outcomes: &[Outcome]) -> f64 {
        let credit = |(&(first, second), outcome): (&(usize, usize), &Outcome)| {
            let mean = self.posterior.as_ref().map_or(0.0, |posterior| {
                posterior.strength(&self.points[first]) - posterior.strength(&self.points[second])
            });
            match outcome {
                Outcome::First if mean > 0.0 => 1.0,
                Outcome::Second if mean < 0.0 => 1.0,
                Outcome::First | Outcome::Second if mean != 0.0 => 0.0,
                _ => 0.5,
            }
        };
        let credits: f64 = question.pairs.iter().zip(outcomes).map(credit).sum();
        credits / question.pairs.len().max(1) as f64
    }

    /// What whoever relies on the belief should know: comparisons that say nothing or contradict each
    /// other, and numbers at their limits. It follows from the state alone.
    #[must_use]
    pub fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        let mut said: BTreeMap<(usize, usize), [u32; 2]> = BTreeMap::new();
        for &Comparison { winner, loser } in &self.comparisons {
            let counts = said.entry((winner.min(loser), winner.max(loser))).or_default();
            counts[usize::from(winner > loser)] += 1;
        }
        let both = said.values().filter(|counts| counts[0] > 0 && counts[1] > 0).count();
        let level = said.values().filter(|counts| counts[0] == counts[1]).count();
        if !said.is_empty() && level == said.len() {
            notes.push(
                "every comparison came out even: nothing was learned, and the best heuristic is any one"
                    .to_owned(),
            );
        } else if both > 0 {
            notes.push(format!(
                "{both} of {} pairs came out even or both ways, and count once for each side",
                said.len()
            ));
        }
        let Some(posterior) = &self.posterior else { return notes };
        let effort = self.effort();
        let once = Effort { sweeps: 1, tolerance: 2.0 * effort.tolerance, ..effort };
        let mut sites = self.sites.clone();
        let again = infer(posterior.kernel(), &self.points, &self.comparisons, &mut sites, &once);
        // One more sweep moves settled sites by about the tolerance at most.
        if !again.is_ok_and(|strengths| strengths.sweeps.1) {
            notes.push(format!(
                "expectation propagation had not settled after {} sweeps (--sweeps, --tolerance)",
                self.settings.inference.sweeps
            ));
        }
        let (jitter, usual) = (posterior.kernel().jitter(), Kernel::from_logs(&self.logs).jitter());
        if jitter > usual {
            notes.push(format!(
                "heuristics are so much alike that the covariance needed a jitter of {jitter:.0e} \
                 instead of {usual:.0e}"
            ));
        }
        let bounds = |at: usize| match at + 1 == self.logs.len() {
            true => ("the strength's scale", SIGNAL_BOUNDS),
            false => ("a length scale", LENGTH_BOUNDS),
        };
        for (at, &log) in self.logs.iter().enumerate() {
            let (name, (least, most)) = bounds(at);
            if log <= least || log >= most {
                notes.push(format!("{name} stands at its bound, {:.3}", libm::exp(log)));
            }
        }
        notes
    }

    fn effort(&self) -> Effort {
        let Inference { tolerance, sweeps, .. } = self.settings.inference;
        Effort { tolerance, sweeps, seed: self.settings.seed }
    }
}

/// Parameters to begin with: all heuristics lie within about two length scales, and σ is the noise
/// of a comparison.
fn neutral(settings: &Settings, lengths: usize) -> Vec<f64> {
    let mut logs = vec![settings.space.neutral(settings.dimensions); lengths];
    logs.push(0.0);
    logs
}
