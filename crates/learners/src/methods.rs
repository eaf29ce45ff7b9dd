//! Every method by its name, for whoever lets the user choose one.

mod one_by_one;
mod options;
mod size;

use crate::pref::Solver;
use crate::{Seen, classify, ipref, lstd, mm, online, pref};
use outflank_games::Position;
use outflank_games::othello::Othello;
use outflank_models::patterns::Count;
use outflank_models::{Features, Model, NTupleNetwork, Policy, Tuples, View};
use outflank_records::{Decision, Record};
use std::str::FromStr;

pub use options::{OptionError, MethodOptions, methods_using};

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
    /// Moves in their context, without playing them.
    MovePredictor,
}

impl Method {
    /// All of them, the default first.
    pub const ALL: [Method; 6] =
        [Method::IPref, Method::Pref, Method::Lstd, Method::Mm, Method::Classify, Method::MovePredictor];

    /// The name on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Method::IPref => "ipref",
            Method::Pref => "pref",
            Method::Lstd => "lstd",
            Method::Mm => "mm",
            Method::Classify => "classify",
            Method::MovePredictor => "move-predictor",
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

/// What there is to learn from.
pub struct Task<'a> {
    /// Whole games, for methods that follow a game.
    pub games: &'a [Record<Othello>],
    /// Choices, for methods that look at one decision at a time.
    pub choices: &'a [Decision<Othello>],
    /// What the player will look at.
    pub tuples: Tuples,
    /// What it will count on a board, if it learns choices one by one.
    pub counts: Vec<Count>,
    /// Where a method that learns choices one by one keeps its stages.
    pub keep: &'a dyn online::Keep,
}

impl<'a> Task<'a> {
    /// Counts nothing and keeps nothing on the way.
    #[must_use]
    pub fn new(
        games: &'a [Record<Othello>],
        choices: &'a [Decision<Othello>],
        tuples: Tuples,
    ) -> Task<'a> {
        Task { games, choices, tuples, counts: Vec::new(), keep: &online::Forget }
    }
}

/// How far a method has come.
pub struct Step<'a> {
    /// Which Newton step, pass, sweep or game.
    pub step: u32,
    /// The objective or the log-likelihood; no number where there is nothing of the kind.
    pub value: f64,
    /// How far from the end it is, as the method's tolerance measures it; or no number.
    pub left: f64,
    /// Makes the player as it stands, for methods that improve one step by step.
    pub player: Option<&'a dyn Fn() -> Option<NTupleNetwork>>,
    /// How often the move that was played was rated highest, each time before it was learned from,
    /// and of how many, if the method counts.
    pub hits: Option<(f64, u64)>,
}

/// What came out.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The player.
    pub model: Model,
    /// What a step's value measures.
    pub measure: &'static str,
    /// How it went, in a sentence.
    pub summary: String,
    /// Where it did not do quite what it was asked to, and what it did instead.
    pub remarks: Vec<String>,
}

impl Outcome {
    /// The player, if it is a network of tuples: what every method makes that does not learn
    /// choices one by one.
    #[must_use]
    pub fn network(&self) -> Option<&NTupleNetwork> {
        match &self.model {
            Model::NTuple(network) => Some(network),
            _ => None,
        }
    }
}

/// Why nothing came out.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum LearnError {
    /// An option makes no sense.
    #[error(transparent)]
    Option(#[from] OptionError),
    /// A support vector machine could not be solved.
    #[error(transparent)]
    Svm(#[from] crate::SvmError),
    /// LSTD could not be solved.
    #[error(transparent)]
    Lstd(#[from] lstd::LstdError),
    /// MM could not be fitted.
    #[error(transparent)]
    Mm(#[from] mm::MmError),
    /// Choices could not be learned one by one.
    #[error(transparent)]
    Online(#[from] online::OnlineError),
    /// More places than a board is read in.
    #[error(transparent)]
    Places(#[from] outflank_models::patterns::TooManyPlacements),
    /// More features than there is memory for.
    #[error(
        "{0} features are more than the {MAX_FEATURES} that can be learned at once; give fewer or \
         shorter tuples"
    )]
    TooMany(usize),
    /// More choices than there is memory for.
    #[error(
        "{choices} choices would take about {gib:.1} GiB and may take {most:.1}; learn from about \
         {games} games with --sample {games}, or from all with ipref --solver online"
    )]
    TooLarge {
        /// How many there are.
        choices: usize,
        /// What they would take.
        gib: f64,
        /// What they may take.
        most: f64,
        /// About how many games would fit.
        games: usize,
    },
    /// Nothing in the games makes a difference to the features.
    #[error(
        "nothing was learned: with these features all moves of each of the {0} choices look \
         alike; give other features or more games"
    )]
    Indifferent(usize),
}

/// The most features: the solvers hold 32 numbers for each at a time.
pub const MAX_FEATURES: usize = 1 << 22;

/// How many steps a method takes at most, for a bar that shows how far it has come.
#[must_use]
pub fn most_steps(method: Method, options: &MethodOptions, games: usize) -> u64 {
    match method {
        _ if options.is_online(method) => options.passes.into(),
        Method::IPref | Method::Pref | Method::Classify => options.steps.into(),
        Method::Mm => options.sweeps.into(),
        Method::MovePredictor => options.passes.into(),
        Method::Lstd => games as u64,
    }
}

/// What the steps of a method are called.
#[must_use]
pub fn iteration_unit(method: Method, options: &MethodOptions) -> &'static str {
    match method {
        _ if options.is_online(method) => "passes",
        Method::MovePredictor => "passes",
        Method::IPref | Method::Pref if options.dual => "passes",
        Method::IPref | Method::Pref | Method::Classify => "Newton steps",
        Method::Mm => "sweeps",
        Method::Lstd => "games",
    }
}

/// Learns by a method. `watch` sees each step and may stop; whoever stopped it should look at
/// nothing but that, since what comes out is half a result or an error.
pub fn learn(
    method: Method,
    task: Task<'_>,
    options: &MethodOptions,
    seed: u64,
    watch: &mut dyn FnMut(Step<'_>) -> bool,
) -> Result<Outcome, LearnError> {
    options.check(method)?;
    if options.is_online(method) {
        return one_by_one::learn(method, task, options, seed, watch);
    }
    let Task { games, choices, tuples, .. } = task;
    if tuples.count() > MAX_FEATURES {
        return Err(LearnError::TooMany(tuples.count()));
    }
    let bytes = size::bytes(method, &tuples, choices);
    if bytes > size::MOST_BYTES {
        const GIB: f64 = (1u64 << 30) as f64;
        let fits = games.len() as f64 * size::MOST_BYTES / bytes;
        return Err(LearnError::TooLarge {
            choices: choices.len(),
            gib: bytes / GIB,
            most: size::MOST_BYTES / GIB,
            games: rounded(fits),
        });
    }
    let seen_with = tuples.clone();
    let mut stepwise = |view: View, binary: bool, seen: Seen<'_>| {
        let player = || {
            let weights = seen.weights.iter().map(|&w| w as f32).collect();
            Some(NTupleNetwork::new(seen_with.clone(), weights, view)?.with_binary(binary))
        };
        let Seen { step, value, left, .. } = seen;
        watch(Step { step, value, left, player: Some(&player), hits: None })
    };
    let outcome = match method {
        Method::IPref | Method::Pref => {
            let solver = if options.dual { Solver::Dual { seed } } else { Solver::Primal };
            let MethodOptions { c, tolerance, steps, preference_binary: binary, .. } = *options;
            let settings = pref::Settings { c, tolerance, steps, solver, binary };
            let learned = match method {
                Method::IPref => ipref::learn(tuples, choices, settings, |seen| {
                    stepwise(View::Invert, binary, seen)
                })?,
                _ => pref::learn(tuples, choices, settings, |seen| {
                    stepwise(View::Negate, binary, seen)
                })?,
            };
            margins(learned, method, options)
        }
        Method::Classify => {
            let MethodOptions { c, tolerance, steps, balanced, .. } = *options;
            let settings = classify::Settings { c, tolerance, steps, balanced };
            let learned = classify::learn(tuples, choices, settings, |seen| {
                stepwise(View::Invert, false, seen)
            })?;
            margins(learned, method, options)
        }
        Method::Lstd => {
            let settings = lstd::Settings { lambda: options.lambda, ridge: options.ridge };
            let learned = lstd::learn(tuples, games, settings, |game| {
                let (value, left) = (f64::NAN, f64::NAN);
                watch(Step { step: game as u32, value, left, player: None, hits: None })
            })?;
            differences(learned, options)
        }
        Method::Mm => {
            let MethodOptions { prior, gain, sweeps, binary, .. } = *options;
            let settings = mm::Settings { prior, tolerance: gain, sweeps, binary };
            let learned =
                mm::learn(tuples, choices, settings, |seen| stepwise(View::Invert, binary, seen))?;
            strengths(learned, method, options)
        }
        // It was dealt with above.
        Method::MovePredictor => return Err(LearnError::Indifferent(0)),
    };
    if tells_apart(&*outcome.model.policy(), choices) {
        Ok(outcome)
    } else {
        Err(LearnError::Indifferent(choices.len()))
    }
}

/// Whether a model rates the moves of at least one choice differently.
fn tells_apart(model: &dyn Policy<Othello>, choices: &[Decision<Othello>]) -> bool {
    /// Scores closer than this are a tie, in play as in counting.
    const TIE: f32 = 1e-6;
    let mut values = Vec::new();
    choices.iter().any(|choice| {
        let moves: Vec<_> = choice.position.moves().collect();
        model.score(&choice.position, &moves, &mut values);
        values.iter().any(|value| (value - values[0]).abs() > TIE)
    })
}

/// What to say when the last step was not the end.
fn unsettled(settled: bool, method: Method, options: &MethodOptions) -> Vec<String> {
    if settled {
        return Vec::new();
    }
    let (steps, name) = (most_steps(method, options, 0), iteration_unit(method, options));
    let option = if method == Method::Mm { "--sweeps" } else { "--steps" };
    vec![format!(
        "The tolerance was not reached in {steps} {name}; more are allowed with {option}."
    )]
}

fn margins(learned: pref::Learned, method: Method, options: &MethodOptions) -> Outcome {
    let summary = format!(
        "{} rows with {:.1} entries each; {} {}; the objective is {:.2}.",
        count(learned.rows),
        learned.entries as f64 / learned.rows.max(1) as f64,
        learned.fit.steps,
        iteration_unit(method, options),
        learned.fit.objective
    );
    let remarks = unsettled(learned.fit.settled, method, options);
    Outcome { model: learned.network.into(), measure: "objective", summary, remarks }
}

/// Down to a number that is easily typed.
fn rounded(games: f64) -> usize {
    let games = games as usize;
    let step = if games >= 1000 { 100 } else { 10 };
    (games / step * step).max(1)
}

fn differences(learned: lstd::Learned, options: &MethodOptions) -> Outcome {
    let fit = learned.fit;
    let summary = format!(
        "{} features occur in {} games; the equations hold to {:.0e}.",
        count(fit.seen),
        count(fit.games),
        fit.residual
    );
    let mut remarks = Vec::new();
    if fit.ridge != options.ridge {
        remarks.push(format!(
            "The equations are too close to singular with a ridge of {:e}; it was raised to {:.0e}.",
            options.ridge, fit.ridge
        ));
    }
    if fit.left_out > 0 {
        let games = count(fit.left_out);
        remarks.push(format!("Left out for want of moves or of a known result: {games} games."));
    }
    Outcome { model: learned.network.into(), measure: "games", summary, remarks }
}

fn strengths(learned: mm::Learned, method: Method, options: &MethodOptions) -> Outcome {
    let summary = format!(
        "{} features made a difference; {} sweeps; the log-likelihood is {:.1}, or {:.3} a choice.",
        count(learned.features),
        learned.sweeps,
        learned.log_likelihood,
        learned.log_likelihood / learned.decisions.max(1) as f64
    );
    let remarks = unsettled(learned.settled, method, options);
    Outcome {
        model: learned.network.into(),
        measure: "log-likelihood with the prior",
        summary,
        remarks,
    }
}

/// A whole number for readers.
fn count(number: usize) -> String {
    outflank_report::text::count(number as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use outflank_models::embedded;
    use outflank_records::{DecisionFilter, decisions};

    fn task(games: &[Record<Othello>]) -> (Vec<Decision<Othello>>, &[Record<Othello>]) {
        (decisions(games, &DecisionFilter::CHOICES).items().to_vec(), games)
    }

    /// The four first moves are images of each other, so symmetric features cannot tell them
    /// apart, whatever the method.
    #[test]
    fn features_that_never_differ_teach_nothing() {
        let games = &outflank_records::embedded::games()[..20];
        let position = Othello::start();
        let first: Vec<_> = position.moves().map(|chosen| Decision { position, chosen }).collect();
        for method in Method::ALL {
            let task = TrainingData::new(games, &first, embedded::runarsson_lucas_tuples());
            let refused = learn(method, task, &MethodOptions::default(), 1, &mut |_| true);
            assert_eq!(refused.err(), Some(LearnError::Indifferent(first.len())), "{method:?}");
        }
    }

    /// The player that a step shows last is the one that comes out.
    #[test]
    fn the_last_step_shows_what_comes_out() {
        let games = outflank_records::embedded::games();
        let (choices, games) = task(&games[..10]);
        for (method, dual) in [
            (Method::IPref, false),
            (Method::Pref, true),
            (Method::Classify, false),
            (Method::Mm, false),
        ] {
            let options = if dual { MethodOptions::dual() } else { MethodOptions::default() };
            let task = TrainingData::new(games, &choices, embedded::runarsson_lucas_tuples());
            let mut last = None;
            let outcome = learn(method, task, &options, 1, &mut |step| {
                last = step.player.and_then(|player| player());
                true
            });
            let Model::NTuple(network) = outcome.unwrap().model else { panic!("{method:?}") };
            assert_eq!(last, Some((*network).clone()), "{method:?}");
        }
    }

    /// All of a large base would not fit; the error says so before the memory is taken.
    #[test]
    fn more_than_fits_is_refused_at_once() {
        let games = outflank_records::embedded::games();
        let (choices, games) = task(&games[..1000]);
        let many = choices.repeat(80);
        for method in [Method::IPref, Method::Classify, Method::Mm] {
            let task = TrainingData::new(games, &many, embedded::runarsson_lucas_tuples());
            let refused = learn(method, task, &MethodOptions::default(), 1, &mut |_| true);
            let Err(LearnError::TooLarge { games: fits, .. }) = refused else {
                panic!("{method:?} {refused:?}")
            };
            // Two figures are enough to type, and what is said would fit.
            assert!((50..1000).contains(&fits) && fits % 10 == 0, "{fits}");
            let share = size::bytes(method, &embedded::runarsson_lucas_tuples(), &many) * fits as f64 / 1000.0;
            assert!(
                share <= size::MOST_BYTES && share > 0.8 * size::MOST_BYTES,
                "{method:?} {fits}"
            );
        }
    }

    #[test]
    fn what_was_not_reached_is_said() {
        let games = outflank_records::embedded::games();
        let (choices, games) = task(&games[..10]);
        let options = MethodOptions { steps: 1, sweeps: 1, ..MethodOptions::default() };
        for method in [Method::IPref, Method::Classify, Method::Mm] {
            let task = TrainingData::new(games, &choices, Tuples::squares());
            let outcome = learn(method, task, &options, 1, &mut |_| true).unwrap();
            assert!(outcome.remarks[0].starts_with("The tolerance was not reached in 1 "));
        }
        let ridge = MethodOptions { ridge: 1e-300, ..MethodOptions::default() };
        let task = TrainingData::new(games, &choices, Tuples::squares());
        let outcome = learn(Method::Lstd, task, &ridge, 1, &mut |_| true).unwrap();
        assert!(outcome.remarks[0].contains("it was raised to"), "{:?}", outcome.remarks);
        assert_eq!(count(1_234_567), "1,234,567");
    }
}
