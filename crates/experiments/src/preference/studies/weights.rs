//! Weights of 1-tuples (section VIII-B): 192, 64 and 30 weights, and the values of corners and
//! X-squares.

use super::{StudyData, add_accuracy, top1_hits};
use crate::Report;
use crate::context::ExperimentError;
use crate::preference::{METHODS, method_name, paper_options};
use outflank_learners::methods::{Method, MethodOptions};
use outflank_learners::pref::{PrefConfig, Solver, learn_piece_counter};
use outflank_models::{OnePlyPolicy, Tuples};
use outflank_report::Board;
use outflank_runs::stop_requested;

/// Returns 1-tuples of the ten squares that differ under symmetry, with three weights each: 30
/// weights.
fn symmetric_squares() -> Tuples {
    let eighth: [[u8; 1]; 10] = [[0], [1], [2], [3], [9], [10], [11], [18], [19], [27]];
    Tuples::symmetric(&eighth).unwrap_or_else(|_| Tuples::squares())
}

/// Adds the studies about weights to the report.
pub fn study(data: &StudyData<'_>, report: &mut Report) -> Result<(), ExperimentError> {
    weight_counts(data, report)?;
    corner_values(data, report)
}

/// Compares 192, 64 and 30 weights.
fn weight_counts(data: &StudyData<'_>, report: &mut Report) -> Result<(), ExperimentError> {
    let row = "iPref by number of weights";
    let one = data.train_or_load(
        Method::IPref,
        Tuples::squares(),
        &data.train,
        &paper_options(),
        "iPref 1-Tuple",
    )?;
    let hits_192 = top1_hits(&OnePlyPolicy(one), &data.test);
    add_accuracy(report, row, "192", Some(33.8), hits_192);
    let MethodOptions { c, tolerance, max_iterations, .. } = paper_options();
    let config = PrefConfig { c, tolerance, max_iterations, solver: Solver::Primal, binary: false };
    let counter = data.load_or_create("piece counter, 64 weights", || {
        learn_piece_counter(&data.train, config, |_| !stop_requested())
            .map_err(ExperimentError::training)
    })?;
    let hits_64 = top1_hits(&OnePlyPolicy(counter), &data.test);
    add_accuracy(report, row, "64, a piece counter", None, hits_64);
    let symmetric = data.train_or_load(
        Method::IPref,
        symmetric_squares(),
        &data.train,
        &paper_options(),
        "iPref symmetric 1-Tuple, 30 weights",
    )?;
    let hits_30 = top1_hits(&OnePlyPolicy(symmetric), &data.test);
    add_accuracy(report, row, "30 symmetric", None, hits_30);
    report.findings.push(format!(
        "iPref with 192 weights {:.1}%, with 64 {:.1}%, with 30 symmetric weights {:.1}% (paper: 192 is \
         better than either).",
        hits_192.percent(),
        hits_64.percent(),
        hits_30.percent()
    ));
    Ok(())
}

/// Measures the value of a disc on each square: the weight of an own disc minus the weight of an
/// empty square, in standard deviations over the board. The weight of an opponent's disc means
/// little: with board inversion a move never adds one.
fn corner_values(data: &StudyData<'_>, report: &mut Report) -> Result<(), ExperimentError> {
    let [mut both, mut corners_only, mut x_squares_only, mut neither] = [const { Vec::new() }; 4];
    for method in METHODS {
        let name = method_name(method);
        let row = format!("{name} 1-Tuple");
        let network =
            data.train_or_load(method, Tuples::squares(), &data.train, &paper_options(), &row)?;
        let mut values = [0.0; 64];
        for (value, table) in values.iter_mut().zip(network.weights().as_chunks::<3>().0) {
            *value = f64::from(table[2] - table[1]);
        }
        let mean = values.iter().sum::<f64>() / 64.0;
        let squares: f64 = values.iter().map(|w| (w - mean).powi(2)).sum();
        let deviation = (squares / 64.0).sqrt().max(1e-12);
        values.iter_mut().for_each(|value| *value = (*value - mean) / deviation);
        let mean_value =
            |squares: [usize; 4]| squares.iter().map(|&s| values[s]).sum::<f64>() / 4.0;
        let (corner, x) = (mean_value([0, 7, 56, 63]), mean_value([9, 14, 49, 54]));
        report.add_cell(row.clone(), "corners, deviations", None, Some(corner), None);
        report.add_cell(row, "X-squares, deviations", None, Some(x), None);
        match (corner > 0.0, x < 0.0) {
            (true, true) => both.push(name),
            (true, false) => corners_only.push(name),
            (false, true) => x_squares_only.push(name),
            (false, false) => neither.push(name),
        }
        let board = Board::new(format!("{name}: own disc minus empty square")).weights(values);
        let caption = "In standard deviations over the board.".to_owned();
        report.figures.push((format!("squares-{}", name.to_lowercase()), Box::new(board), caption));
    }
    let list = |names: &[&str]| if names.is_empty() { "none".to_owned() } else { names.join(", ") };
    report.findings.push(format!(
        "Corners above and X-squares below the mean of all squares: {}; only corners above: {}; only \
         X-squares below: {}; neither: {} (paper: both only for preference learning; for LSTD only the \
         corners).",
        list(&both),
        list(&corners_only),
        list(&x_squares_only),
        list(&neither)
    ));
    Ok(())
}
