//! MM (sections VII and VIII-F): training and test accuracy, priors, counts and binary features,
//! Black's moves only, and the update as published.

use super::{StudyData, add_accuracy, top1_hits};
use crate::Report;
use crate::context::ExperimentError;
use crate::preference::{FeatureSet, paper_options};
use outflank_games::othello::Othello;
use outflank_games::{Position, Side};
use outflank_learners::methods::{Method, MethodOptions};
use outflank_learners::mm::{MmConfig, SharedDenominator, learn_shared};
use outflank_models::{NTupleNetwork, OnePlyPolicy};
use outflank_records::Decision;
use outflank_report::{Plot, Point, Series};
use outflank_runs::stop_requested;

/// Published accuracy of MM on N-tuples.
const PUBLISHED: f64 = 42.5;

/// Published change of MM's training and test accuracy when it predicts only Black's moves (section
/// VIII-F).
const BLACK_ONLY: (f64, f64) = (2.4, -1.7);

/// Numbers of virtual games of the prior, in addition to the default of one (Coulom). The paper
/// mentions three priors but not their values.
const PRIORS: [f64; 2] = [0.1, 10.0];

/// Numbers of iterations of the published update after which the model is evaluated.
const ITERATIONS: [u32; 7] = [1, 2, 3, 5, 10, 20, 40];

/// The departure about MM.
pub const DEPARTURE: &str = "The paper does not report MM's priors, its number of iterations, or whether \
    the features of one tuple share a denominator. Our MM is trained to convergence with an update that \
    is valid for features that occur together; the published update is evaluated after several numbers \
    of iterations.";

/// Adds the studies about MM to the report.
pub fn study(data: &StudyData<'_>, report: &mut Report) -> Result<(), ExperimentError> {
    let n = FeatureSet::N.tuples();
    let row = "MM N-Tuple";
    let all = data.train_or_load(Method::Mm, n.clone(), &data.train, &paper_options(), row)?;
    add_accuracy(
        report,
        row,
        "test",
        Some(PUBLISHED),
        top1_hits(&OnePlyPolicy(all.clone()), &data.test),
    );
    add_accuracy(report, row, "training", None, top1_hits(&OnePlyPolicy(all.clone()), &data.train));
    for prior in PRIORS {
        let changed = MethodOptions { prior, ..paper_options() };
        let row = format!("MM N-Tuple, prior {prior}");
        let network = data.train_or_load(Method::Mm, n.clone(), &data.train, &changed, &row)?;
        add_accuracy(
            report,
            &row,
            "test",
            None,
            top1_hits(&OnePlyPolicy(network.clone()), &data.test),
        );
        add_accuracy(
            report,
            &row,
            "training",
            None,
            top1_hits(&OnePlyPolicy(network), &data.train),
        );
    }
    let row = "MM N-Tuple, counts";
    let counts = MethodOptions { mm_binary: false, ..paper_options() };
    let network = data.train_or_load(Method::Mm, n, &data.train, &counts, row)?;
    add_accuracy(report, row, "test", None, top1_hits(&OnePlyPolicy(network.clone()), &data.test));
    add_accuracy(report, row, "training", None, top1_hits(&OnePlyPolicy(network), &data.train));
    black_only(data, report, &all)?;
    published_update(data, report, &all)
}

/// Trains and tests a model on Black's moves only.
fn black_only(
    data: &StudyData<'_>,
    report: &mut Report,
    all: &NTupleNetwork,
) -> Result<(), ExperimentError> {
    let black_moves = |choices: &[Decision<Othello>]| -> Vec<Decision<Othello>> {
        choices.iter().filter(|d| d.position.to_move() == Side::Black).copied().collect()
    };
    let (train, test) = (black_moves(&data.train), black_moves(&data.test));
    let n = FeatureSet::N.tuples();
    let black =
        data.train_or_load(Method::Mm, n, &train, &paper_options(), "MM N-Tuple, Black only")?;
    for (column, choices, paper) in
        [("training", &train, BLACK_ONLY.0), ("test", &test, BLACK_ONLY.1)]
    {
        let (black_only, both) = (
            top1_hits(&OnePlyPolicy(black.clone()), choices),
            top1_hits(&OnePlyPolicy(all.clone()), choices),
        );
        report.add_cell(
            "MM trained on Black only, gain on Black's moves",
            column,
            Some(paper),
            Some(black_only.percent() - both.percent()),
            Some(black_only.half_width().hypot(both.half_width())),
        );
    }
    Ok(())
}

/// Evaluates the update of equation (9) with shared denominators.
fn published_update(
    data: &StudyData<'_>,
    report: &mut Report,
    all: &NTupleNetwork,
) -> Result<(), ExperimentError> {
    let max_iterations = data.context.scale.choose(
        3,
        ITERATIONS[ITERATIONS.len() - 1],
        ITERATIONS[ITERATIONS.len() - 1],
    );
    let converged = top1_hits(&OnePlyPolicy(all.clone()), &data.test).percent();
    let mut plot = Plot::new("MM by the published update", "iterations", "top-1 accuracy, %")
        .log_x()
        .reference_line(converged, "converged")
        .reference_line(PUBLISHED, "paper");
    // The second text is part of the names of model files in existing run folders.
    for (name, file_name, sharing, binary) in [
        (
            "one denominator per tuple",
            "a denominator for each tuple",
            SharedDenominator::Tuple,
            true,
        ),
        (
            "one denominator per tuple, counts",
            "a denominator for each tuple, counts",
            SharedDenominator::Tuple,
            false,
        ),
        ("a single denominator", "one denominator", SharedDenominator::All, true),
        ("a single denominator, counts", "one denominator, counts", SharedDenominator::All, false),
    ] {
        let row = format!("MM N-Tuple, {name}");
        let file_name = format!("MM N-Tuple, {file_name}");
        let mut points = Vec::new();
        for (iteration, network) in
            networks_by_iteration(data, &file_name, sharing, binary, max_iterations)?
        {
            let (test, training) = (
                top1_hits(&OnePlyPolicy(network.clone()), &data.test),
                top1_hits(&OnePlyPolicy(network), &data.train),
            );
            add_accuracy(report, &row, &format!("test, {iteration} iterations"), None, test);
            add_accuracy(
                report,
                &row,
                &format!("training, {iteration} iterations"),
                None,
                training,
            );
            points.push(Point::with_error(f64::from(iteration), test.percent(), test.half_width()));
        }
        plot = plot.series(Series::line(name, points));
    }
    let caption =
        "If features that occur together share a denominator, the update steps are too large.";
    report.figures.push(("mm-iterations".to_owned(), Box::new(plot), caption.to_owned()));
    Ok(())
}

/// Trains or loads the networks after each number of iterations in [`ITERATIONS`].
fn networks_by_iteration(
    data: &StudyData<'_>,
    file_name: &str,
    sharing: SharedDenominator,
    binary: bool,
    max_iterations: u32,
) -> Result<Vec<(u32, NTupleNetwork)>, ExperimentError> {
    let wanted: Vec<u32> =
        ITERATIONS.into_iter().filter(|&iteration| iteration <= max_iterations).collect();
    let name = |iteration: u32| format!("{file_name}, {iteration} sweeps");
    if !wanted.iter().all(|&iteration| data.path(&name(iteration)).is_file()) {
        (data.context.log)(&format!("training {file_name}"));
        let MethodOptions { prior, mm_tolerance, .. } = paper_options();
        let config = MmConfig { prior, tolerance: mm_tolerance, max_iterations, binary };
        let mut saved = Ok(());
        let tuples = FeatureSet::N.tuples();
        let on_iteration = |iteration: u32, _: f64, network: &NTupleNetwork| {
            if wanted.contains(&iteration) {
                saved = data.save(&name(iteration), network);
            }
            saved.is_ok() && !stop_requested()
        };
        let outcome = learn_shared(&tuples, &data.train, config, sharing, on_iteration);
        if stop_requested() {
            return Err(ExperimentError::Stopped);
        }
        outcome.map_err(ExperimentError::training)?;
        saved?;
    }
    let stopped = || Err(ExperimentError::Stopped);
    wanted.iter().map(|&n| Ok((n, data.load_or_create(&name(n), stopped)?))).collect()
}
