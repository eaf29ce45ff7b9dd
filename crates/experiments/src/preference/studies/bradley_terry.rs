//! MM (VII and VIII-F): training against test, priors, counts against binary features, Black alone,
//! and the update as the paper prints it.

use super::{Bench, add, failed, hits};
use crate::Report;
use crate::lab::ExperimentError;
use crate::preference::{FeatureSet, options};
use outflank_games::othello::Othello;
use outflank_games::{Position, Side};
use outflank_learners::methods::{Method, MethodOptions};
use outflank_learners::mm::{MmConfig, SharedDenominator, learn_shared};
use outflank_models::{Greedy, NTupleNetwork};
use outflank_records::Decision;
use outflank_report::{Plot, Point, Series};
use outflank_runs::stop_requested;

/// Printed: MM on N-tuples.
const PRINTED: f64 = 42.5;

/// Printed: what predicting Black's moves alone changes for MM, in training and in test (VIII-F).
const BLACK_ONLY: (f64, f64) = (2.4, -1.7);

/// Virtual games besides Coulom's one; the paper speaks of three priors and does not give them.
const PRIORS: [f64; 2] = [0.1, 10.0];

/// After how many sweeps of the printed update the model is looked at.
const SWEEPS: [u32; 7] = [1, 2, 3, 5, 10, 20, 40];

/// What is done otherwise than in the paper.
pub const DEPARTURE: &str = "The paper neither gives MM's priors nor says after how many sweeps it \
    stopped, nor whether features of one tuple shared a denominator; MM is fitted to convergence by \
    an update that is valid for features which occur together, and the printed update is shown \
    beside it after each of several numbers of sweeps.";

/// All of it.
pub fn study(bench: &Bench<'_>, report: &mut Report) -> Result<(), ExperimentError> {
    let n = FeatureSet::N.tuples();
    let row = "MM N-Tuple";
    let all = bench.learn(Method::Mm, n.clone(), &bench.train, &options(), row)?;
    add(report, row, "test", Some(PRINTED), hits(&Greedy(all.clone()), &bench.test));
    add(report, row, "training", None, hits(&Greedy(all.clone()), &bench.train));
    for prior in PRIORS {
        let settings = MethodOptions { prior, ..options() };
        let row = format!("MM N-Tuple, prior {prior}");
        let learned = bench.learn(Method::Mm, n.clone(), &bench.train, &settings, &row)?;
        add(report, &row, "test", None, hits(&Greedy(learned.clone()), &bench.test));
        add(report, &row, "training", None, hits(&Greedy(learned), &bench.train));
    }
    let row = "MM N-Tuple, counts";
    let counts = MethodOptions { mm_binary: false, ..options() };
    let multi = bench.learn(Method::Mm, n, &bench.train, &counts, row)?;
    add(report, row, "test", None, hits(&Greedy(multi.clone()), &bench.test));
    add(report, row, "training", None, hits(&Greedy(multi), &bench.train));
    black_only(bench, report, &all)?;
    printed_update(bench, report, &all)
}

/// A model of Black's moves alone, on Black's moves.
fn black_only(
    bench: &Bench<'_>,
    report: &mut Report,
    all: &NTupleNetwork,
) -> Result<(), ExperimentError> {
    let of_black = |choices: &[Decision<Othello>]| -> Vec<Decision<Othello>> {
        choices.iter().filter(|d| d.position.to_move() == Side::Black).copied().collect()
    };
    let (train, test) = (of_black(&bench.train), of_black(&bench.test));
    let n = FeatureSet::N.tuples();
    let black = bench.learn(Method::Mm, n, &train, &options(), "MM N-Tuple, Black only")?;
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

/// What comes of equation (9) with shared denominators.
fn printed_update(
    bench: &Bench<'_>,
    report: &mut Report,
    all: &NTupleNetwork,
) -> Result<(), ExperimentError> {
    let most = bench.lab.scale.choose(3, SWEEPS[SWEEPS.len() - 1], SWEEPS[SWEEPS.len() - 1]);
    let converged = hits(&Greedy(all.clone()), &bench.test).percent();
    let mut plot = Plot::new("MM by the printed update", "sweeps", "% of held-out choices")
        .log_x()
        .level(converged, "converged")
        .level(PRINTED, "paper");
    for (name, sharing, binary) in [
        ("a denominator for each tuple", SharedDenominator::Tuple, true),
        ("a denominator for each tuple, counts", SharedDenominator::Tuple, false),
        ("one denominator", SharedDenominator::All, true),
        ("one denominator, counts", SharedDenominator::All, false),
    ] {
        let row = format!("MM N-Tuple, {name}");
        let mut points = Vec::new();
        for (sweep, network) in sweeps(bench, &row, sharing, binary, most)? {
            let (test, training) =
                (hits(&Greedy(network.clone()), &bench.test), hits(&Greedy(network), &bench.train));
            add(report, &row, &format!("test, {sweep} sweeps"), None, test);
            add(report, &row, &format!("training, {sweep} sweeps"), None, training);
            points.push(Point::with_error(f64::from(sweep), test.percent(), test.error()));
        }
        plot = plot.series(Series::line(name, points));
    }
    let caption = "One denominator for features that occur together makes steps that are too long.";
    report.figures.push(("mm-sweeps".to_owned(), Box::new(plot), caption.to_owned()));
    Ok(())
}

/// The networks after some numbers of sweeps, learned or read back.
fn sweeps(
    bench: &Bench<'_>,
    row: &str,
    sharing: SharedDenominator,
    binary: bool,
    most: u32,
) -> Result<Vec<(u32, NTupleNetwork)>, ExperimentError> {
    let wanted: Vec<u32> = SWEEPS.into_iter().filter(|&sweep| sweep <= most).collect();
    let name = |sweep: u32| format!("{row}, {sweep} sweeps");
    if !wanted.iter().all(|&sweep| bench.path(&name(sweep)).is_file()) {
        (bench.lab.say)(&format!("learning {row}"));
        let MethodOptions { prior, mm_tolerance, .. } = options();
        let settings = MmConfig { prior, tolerance: mm_tolerance, max_iterations: most, binary };
        let mut kept = Ok(());
        let tuples = FeatureSet::N.tuples();
        let watch = |sweep: u32, _: f64, network: &NTupleNetwork| {
            if wanted.contains(&sweep) {
                kept = bench.keep(&name(sweep), network);
            }
            kept.is_ok() && !stop_requested()
        };
        let learned = learn_shared(&tuples, &bench.train, settings, sharing, watch);
        if stop_requested() {
            return Err(ExperimentError::Stopped);
        }
        learned.map_err(failed)?;
        kept?;
    }
    let stopped = || Err(ExperimentError::Stopped);
    wanted.iter().map(|&sweep| Ok((sweep, bench.once(&name(sweep), stopped)?))).collect()
}
