//! The smaller studies of VIII-B, D and F: what changes when one thing is done another way.

use super::{FeatureSet, games, games_departure, options};
use crate::lab::{ExperimentError, Games, Lab};
use crate::{Experiment, Report};
use outflank_arena::accuracy::{Hits, accuracy};
use outflank_arena::play;
use outflank_games::othello::{Othello, Square};
use outflank_games::{Line, Position, Side};
use outflank_learners::classify::ByColour;
use outflank_learners::methods::{Method, Options, Task, learn};
use outflank_models::{Greedy, Network, Policy, Tuples};
use outflank_players::Random;
use outflank_records::{Decision, Wanted, decisions};
use outflank_runs::{rng, stop_requested};

/// Printed: Pref on N-tuples with counts and with binary features (VIII-F).
const BINARISED: (f64, f64) = (49.4, 44.5);

/// Printed: what predicting Black's moves alone changes for MM, in training and in test (VIII-F).
const BLACK_ONLY: (f64, f64) = (2.4, -1.7);

/// Values of lambda that are compared; the paper says 0.9 is best (VIII-B).
const LAMBDAS: [f64; 6] = [0.0, 0.3, 0.6, 0.8, 0.9, 1.0];

/// Random games for each move when labels are filtered, and how many standard errors better the
/// chosen move must be.
const ROLLOUTS: u32 = 20;

/// The experiment.
pub struct Studies;

/// What all studies share.
struct Bench<'a> {
    lab: &'a Lab,
    games: &'a Games,
    train: Vec<Decision<Othello>>,
    test: Vec<Decision<Othello>>,
}

impl Bench<'_> {
    fn learn(
        &self,
        method: Method,
        tuples: Tuples,
        choices: &[Decision<Othello>],
        options: &Options,
        name: &str,
    ) -> Result<Network, ExperimentError> {
        (self.lab.say)(&format!("learning {name}"));
        let task = Task { games: &self.games.train, choices, tuples };
        let outcome = learn(method, task, options, self.lab.seed, &mut |_| !stop_requested());
        if stop_requested() {
            return Err(ExperimentError::Stopped);
        }
        outcome
            .map(|outcome| outcome.network)
            .map_err(|error| ExperimentError::Learn(error.to_string()))
    }
}

fn hits(policy: &dyn Policy<Othello>, choices: &[Decision<Othello>]) -> Hits {
    accuracy(policy, choices).choices
}

/// Adds a percentage with its error.
fn add(report: &mut Report, row: &str, column: &str, paper: Option<f64>, hits: Hits) {
    report.cell(row, column, paper, Some(hits.percent()), Some(hits.error()));
}

impl Experiment for Studies {
    fn name(&self) -> &'static str {
        "preference/studies"
    }

    fn about(&self) -> &'static str {
        "binary features, Black only, balance, filtered labels, lambda, numbers of weights, corners"
    }

    fn run(&self, lab: &Lab) -> Result<Report, ExperimentError> {
        let games = games(lab, lab.seed)?;
        let bench = Bench {
            lab,
            train: decisions(&games.train, &Wanted::CHOICES).items().to_vec(),
            test: decisions(&games.test, &Wanted::CHOICES).items().to_vec(),
            games: &games,
        };
        let lead = "Each study changes one thing; figures are percentages of held-out choices unless they say otherwise.".to_owned();
        let mut report = Report::new(self.name(), lab.scale, "Paper 0, the smaller studies", lead);
        preferences(&bench, &mut report)?;
        bradley_terry(&bench, &mut report)?;
        classification(&bench, &mut report)?;
        lambdas(&bench, &mut report)?;
        weights(&bench, &mut report)?;
        corners(&bench, &mut report)?;
        report.departures.push(games_departure(&games));
        report.departures.push(format!(
            "The paper does not say how its Monte-Carlo filter worked; here a decision is kept when the \
             chosen move scores more than every other move by two standard errors over {ROLLOUTS} random \
             games each, on a tenth of the games."
        ));
        report.departures.push(super::SOLVERS.to_owned());
        Ok(report)
    }
}

/// Binary features for preference learning.
fn preferences(bench: &Bench<'_>, report: &mut Report) -> Result<(), ExperimentError> {
    let n = FeatureSet::N.tuples();
    for (method, counts, binary) in
        [(Method::Pref, Some(BINARISED.0), Some(BINARISED.1)), (Method::IPref, Some(53.0), None)]
    {
        let row = format!("{} N-Tuple", super::method_name(method));
        let learned = bench.learn(method, n.clone(), &bench.train, &options(), &row)?;
        add(report, &row, "counts", counts, hits(&Greedy(learned), &bench.test));
        let settings = Options { binary_preferences: true, ..options() };
        let learned =
            bench.learn(method, n.clone(), &bench.train, &settings, &format!("{row}, binary"))?;
        add(report, &row, "binary", binary, hits(&Greedy(learned), &bench.test));
    }
    Ok(())
}

/// MM: training against test, counts against binary, Black alone.
fn bradley_terry(bench: &Bench<'_>, report: &mut Report) -> Result<(), ExperimentError> {
    let n = FeatureSet::N.tuples();
    let of_black = |choices: &[Decision<Othello>]| -> Vec<Decision<Othello>> {
        choices.iter().filter(|d| d.position.to_move() == Side::Black).copied().collect()
    };
    let all = bench.learn(Method::Mm, n.clone(), &bench.train, &options(), "MM N-Tuple")?;
    add(report, "MM N-Tuple", "test", Some(42.5), hits(&Greedy(all.clone()), &bench.test));
    add(report, "MM N-Tuple", "training", None, hits(&Greedy(all.clone()), &bench.train));
    let counts = Options { binary: false, ..options() };
    let multi = bench.learn(Method::Mm, n.clone(), &bench.train, &counts, "MM, counts")?;
    add(report, "MM N-Tuple, counts", "test", None, hits(&Greedy(multi), &bench.test));
    let (train, test) = (of_black(&bench.train), of_black(&bench.test));
    let black = bench.learn(Method::Mm, n, &train, &options(), "MM, Black only")?;
    for (column, choices, paper) in
        [("training", &train, BLACK_ONLY.0), ("test", &test, BLACK_ONLY.1)]
    {
        let (own, both) =
            (hits(&Greedy(black.clone()), choices), hits(&Greedy(all.clone()), choices));
        report.cell(
            "MM learned from Black only, gain on Black's moves",
            column,
            Some(paper),
            Some(own.percent() - both.percent()),
            Some(own.error().hypot(both.error())),
        );
    }
    Ok(())
}

/// Balance, one classifier for each colour, filtered labels.
fn classification(bench: &Bench<'_>, report: &mut Report) -> Result<(), ExperimentError> {
    for (features, paper) in FeatureSet::BOTH.into_iter().zip([28.6, 42.7]) {
        let row = format!("Classify {}", features.name());
        let tuples = features.tuples();
        let balanced =
            bench.learn(Method::Classify, tuples.clone(), &bench.train, &options(), &row)?;
        add(report, &row, "balanced", Some(paper), hits(&Greedy(balanced), &bench.test));
        let plain = Options { balanced: false, ..options() };
        let learned = bench.learn(
            Method::Classify,
            tuples.clone(),
            &bench.train,
            &plain,
            &format!("{row}, unbalanced"),
        )?;
        add(report, &row, "unbalanced", None, hits(&Greedy(learned), &bench.test));
        let each = Side::BOTH.map(|side| {
            let own: Vec<_> =
                bench.train.iter().filter(|d| d.position.to_move() == side).copied().collect();
            bench.learn(
                Method::Classify,
                tuples.clone(),
                &own,
                &options(),
                &format!("{row}, {side}"),
            )
        });
        let [black, white] = each;
        let both = Greedy(ByColour([black?, white?]));
        add(report, &row, "one for each colour", None, hits(&both, &bench.test));
    }
    filtered(bench, report)
}

/// Decisions whose chosen move random games confirm, on a tenth of the games.
fn filtered(bench: &Bench<'_>, report: &mut Report) -> Result<(), ExperimentError> {
    let few = &bench.train[..bench.train.len().div_ceil(10)];
    (bench.lab.say)("filtering labels by random games");
    let kept: Vec<Decision<Othello>> = few
        .iter()
        .enumerate()
        .filter(|(number, decision)| is_confirmed(bench.lab.seed, *number, decision))
        .map(|(_, decision)| *decision)
        .collect();
    let tuples = FeatureSet::N.tuples();
    let row = "Classify N-Tuple, a tenth of the games";
    let all = bench.learn(Method::Classify, tuples.clone(), few, &options(), row)?;
    add(report, row, "all labels", None, hits(&Greedy(all), &bench.test));
    report.cell(
        row,
        "labels kept, %",
        None,
        Some(100.0 * kept.len() as f64 / few.len().max(1) as f64),
        None,
    );
    if !kept.is_empty() {
        let learned =
            bench.learn(Method::Classify, tuples, &kept, &options(), "filtered labels")?;
        add(report, row, "filtered labels", None, hits(&Greedy(learned), &bench.test));
    }
    Ok(())
}

fn is_confirmed(seed: u64, number: usize, decision: &Decision<Othello>) -> bool {
    let mut rng = rng::stream(seed, &["filter", &number.to_string()]);
    let side = decision.position.to_move();
    let mut score = |mv: Square| {
        let after = decision.position.play(mv);
        let won: u32 = (0..ROLLOUTS)
            .map(|_| {
                let played = play(&mut Random, &mut Random, &Line::new(after), &mut rng);
                if side == Side::Black { played.half_points() } else { 2 - played.half_points() }
            })
            .sum();
        f64::from(won) / f64::from(2 * ROLLOUTS)
    };
    let chosen = score(decision.chosen);
    let margin = 2.0 * (0.5 / f64::from(ROLLOUTS)).sqrt();
    decision
        .position
        .moves()
        .filter(|&mv| mv != decision.chosen)
        .all(|mv| chosen > score(mv) + margin)
}

/// LSTD with other decays.
fn lambdas(bench: &Bench<'_>, report: &mut Report) -> Result<(), ExperimentError> {
    for lambda in LAMBDAS {
        let settings = Options { lambda, ..options() };
        let name = format!("LSTD({lambda})");
        let learned =
            bench.learn(Method::Lstd, FeatureSet::One.tuples(), &bench.train, &settings, &name)?;
        let paper = (lambda == 0.9).then_some(18.4);
        add(
            report,
            "LSTD 1-Tuple",
            &format!("lambda {lambda}"),
            paper,
            hits(&Greedy(learned), &bench.test),
        );
    }
    Ok(())
}

/// Ten squares under symmetry, each with its three weights: 30 in all.
fn symmetric_squares() -> Tuples {
    let eighth: [[u8; 1]; 10] = [[0], [1], [2], [3], [9], [10], [11], [18], [19], [27]];
    Tuples::symmetric(&eighth).unwrap_or_else(|_| Tuples::squares())
}

/// 192 weights, 64 and 30.
fn weights(bench: &Bench<'_>, report: &mut Report) -> Result<(), ExperimentError> {
    let row = "iPref by number of weights";
    let one =
        bench.learn(Method::IPref, Tuples::squares(), &bench.train, &options(), "192 weights")?;
    add(report, row, "192", Some(33.8), hits(&Greedy(one.clone()), &bench.test));
    // Output negation on the 64 weights of a piece counter is what Pref learns on antisymmetric
    // features: the difference of the two disc weights of each square.
    let pref =
        bench.learn(Method::Pref, Tuples::squares(), &bench.train, &options(), "64 weights")?;
    let mut pieces = [0.0f32; 64];
    for (weight, table) in pieces.iter_mut().zip(pref.weights().as_chunks::<3>().0) {
        *weight = 0.5 * (table[2] - table[0]);
    }
    let counter = outflank_models::from_pieces(&pieces);
    add(report, row, "64, from Pref's 192", None, hits(&Greedy(counter), &bench.test));
    let few =
        bench.learn(Method::IPref, symmetric_squares(), &bench.train, &options(), "30 weights")?;
    add(report, row, "30 symmetric", None, hits(&Greedy(few), &bench.test));
    Ok(())
}

/// What an own disc is worth on corners and X-squares, in standard deviations over the board.
fn corners(bench: &Bench<'_>, report: &mut Report) -> Result<(), ExperimentError> {
    for method in super::METHODS {
        let name = super::method_name(method);
        let learned = bench.learn(method, Tuples::squares(), &bench.train, &options(), name)?;
        let worth: Vec<f64> = learned
            .weights()
            .as_chunks::<3>()
            .0
            .iter()
            .map(|table| f64::from(table[2] - table[0]))
            .collect();
        let mean = worth.iter().sum::<f64>() / 64.0;
        let deviation =
            (worth.iter().map(|w| (w - mean).powi(2)).sum::<f64>() / 64.0).sqrt().max(1e-12);
        let of = |squares: [usize; 4]| {
            squares.iter().map(|&s| (worth[s] - mean) / deviation).sum::<f64>() / 4.0
        };
        report.cell(
            format!("{name} 1-Tuple"),
            "corners, deviations",
            None,
            Some(of([0, 7, 56, 63])),
            None,
        );
        report.cell(
            format!("{name} 1-Tuple"),
            "X-squares, deviations",
            None,
            Some(of([9, 14, 49, 54])),
            None,
        );
    }
    Ok(())
}
