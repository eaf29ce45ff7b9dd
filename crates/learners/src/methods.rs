//! Every method by its name, for whoever lets the user choose one.

use crate::pref::Solver;
use crate::{classify, ipref, lstd, mm, pref};
use outflank_games::othello::Othello;
use outflank_models::{Network, Tuples};
use outflank_records::{Decision, Record};
use std::str::FromStr;

/// A way to learn from games.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Method {
    /// Preferences, the mover seen as Black.
    IPref,
    /// Preferences, White taking the negative.
    Pref,
    /// Least-squares temporal differences.
    Lstd,
    /// Bradley-Terry by minorization-maximization.
    Mm,
    /// Chosen moves against all others.
    Classify,
}

impl Method {
    /// All of them, the default first.
    pub const ALL: [Method; 5] =
        [Method::IPref, Method::Pref, Method::Lstd, Method::Mm, Method::Classify];

    /// The name on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Method::IPref => "ipref",
            Method::Pref => "pref",
            Method::Lstd => "lstd",
            Method::Mm => "mm",
            Method::Classify => "classify",
        }
    }
}

impl FromStr for Method {
    type Err = String;

    fn from_str(text: &str) -> Result<Method, String> {
        Method::ALL.into_iter().find(|method| method.name() == text).ok_or_else(|| {
            let names: Vec<&str> = Method::ALL.iter().map(|method| method.name()).collect();
            format!("there is no method '{text}'; there are {}", names.join(", "))
        })
    }
}

/// What the methods can be told; each looks at its own.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Options {
    /// Preferences and classification: the charge for violations.
    pub c: f64,
    /// Preferences and classification: how far the gradient must shrink.
    pub tolerance: f64,
    /// Preferences and classification: the most steps.
    pub steps: u32,
    /// Preferences: LIBLINEAR's dual coordinate descent instead of the primal Newton method.
    pub dual: bool,
    /// Classification: weigh chosen moves by the number of others.
    pub balanced: bool,
    /// LSTD: the decay of the traces, 0 to 1.
    pub lambda: f64,
    /// LSTD: the ridge, relative to the mean of the diagonal.
    pub ridge: f64,
    /// MM: virtual wins and losses of each feature.
    pub prior: f64,
    /// MM: stop when a sweep gains less than this a decision.
    pub gain: f64,
    /// MM: the most sweeps.
    pub sweeps: u32,
    /// MM: features count once, however often they occur.
    pub binary: bool,
    /// Preferences: features count once.
    pub binary_preferences: bool,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            c: 1.0,
            tolerance: 5e-4,
            steps: 100,
            dual: false,
            balanced: true,
            lambda: 0.9,
            ridge: 1e-6,
            prior: 1.0,
            gain: 1e-6,
            sweeps: 200,
            binary: true,
            binary_preferences: false,
        }
    }
}

/// What there is to learn from.
pub struct Task<'a> {
    /// Whole games, for methods that follow a game.
    pub games: &'a [Record<Othello>],
    /// Choices, for methods that look at one decision at a time.
    pub choices: &'a [Decision<Othello>],
    /// What the player will look at.
    pub tuples: Tuples,
}

/// How far a method has come: a step and what it measures there.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step {
    /// Which step, pass, sweep or game.
    pub step: u32,
    /// The objective, the log-likelihood, or nothing of the kind.
    pub value: f64,
}

/// What came out.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The player.
    pub network: Network,
    /// What a step's value measures.
    pub measure: &'static str,
    /// How it went, in a sentence.
    pub summary: String,
}

/// Why nothing came out.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum LearnError {
    /// A support vector machine could not be solved.
    #[error(transparent)]
    Svm(#[from] crate::SvmError),
    /// LSTD could not be solved.
    #[error(transparent)]
    Lstd(#[from] lstd::LstdError),
    /// MM could not be fitted.
    #[error(transparent)]
    Mm(#[from] mm::MmError),
}

/// Learns by a method. `watch` sees each step and may stop.
pub fn learn(
    method: Method,
    task: Task<'_>,
    options: &Options,
    seed: u64,
    watch: &mut dyn FnMut(Step) -> bool,
) -> Result<Outcome, LearnError> {
    let Task { games, choices, tuples } = task;
    let mut steps = |step: u32, value: f64| watch(Step { step, value });
    match method {
        Method::IPref | Method::Pref => {
            let solver = if options.dual { Solver::Dual { seed } } else { Solver::Primal };
            let Options { c, tolerance, steps: most, .. } = *options;
            let binary = options.binary_preferences;
            let settings = pref::Settings { c, tolerance, steps: most, solver, binary };
            let watch = |step: u32, objective: f64, _: f64| steps(step, objective);
            let learned = match method {
                Method::IPref => ipref::learn(tuples, choices, settings, watch)?,
                _ => pref::learn(tuples, choices, settings, watch)?,
            };
            Ok(Outcome {
                summary: svm_summary(&learned),
                network: learned.network,
                measure: "objective",
            })
        }
        Method::Classify => {
            let Options { c, tolerance, steps: most, balanced, .. } = *options;
            let settings = classify::Settings { c, tolerance, steps: most, balanced };
            let learned = classify::learn(tuples, choices, settings, |step, objective, _| {
                steps(step, objective)
            })?;
            Ok(Outcome {
                summary: svm_summary(&learned),
                network: learned.network,
                measure: "objective",
            })
        }
        Method::Lstd => {
            let settings = lstd::Settings { lambda: options.lambda, ridge: options.ridge };
            let learned =
                lstd::learn(tuples, games, settings, |game| steps(game as u32, f64::NAN))?;
            let summary =
                format!("{} features were seen in {} games.", learned.fit.seen, learned.fit.games);
            Ok(Outcome { summary, network: learned.network, measure: "games" })
        }
        Method::Mm => {
            let Options { prior, gain, sweeps, binary, .. } = *options;
            let settings = mm::Settings { prior, tolerance: gain, sweeps, binary };
            let learned = mm::learn(tuples, choices, settings, steps)?;
            let summary = format!(
                "{} sweeps; the log-likelihood is {:.1}.",
                learned.sweeps, learned.log_likelihood
            );
            Ok(Outcome { summary, network: learned.network, measure: "log-likelihood" })
        }
    }
}

fn svm_summary(learned: &pref::Learned) -> String {
    format!(
        "{} rows with {:.1} entries each; {} steps; the objective is {:.2}.",
        learned.rows,
        learned.entries as f64 / learned.rows.max(1) as f64,
        learned.fit.steps,
        learned.fit.objective
    )
}
