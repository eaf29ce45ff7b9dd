//! What single squares learn (VIII-B): 192 weights against 64 and 30, corners and X-squares.

use super::{Bench, add, failed, hits};
use crate::Report;
use crate::lab::ExperimentError;
use crate::preference::{METHODS, method_name, options};
use outflank_learners::methods::{Method, MethodOptions};
use outflank_learners::pref::{PrefConfig, Solver, learn_piece_counter};
use outflank_models::{Greedy, Tuples};
use outflank_report::Board;
use outflank_runs::stop_requested;

/// Ten squares under symmetry, each with its three weights: 30 in all.
fn symmetric_squares() -> Tuples {
    let eighth: [[u8; 1]; 10] = [[0], [1], [2], [3], [9], [10], [11], [18], [19], [27]];
    Tuples::symmetric(&eighth).unwrap_or_else(|_| Tuples::squares())
}

/// All of it.
pub fn study(bench: &Bench<'_>, report: &mut Report) -> Result<(), ExperimentError> {
    numbers(bench, report)?;
    corners(bench, report)
}

/// 192 weights, 64 and 30.
fn numbers(bench: &Bench<'_>, report: &mut Report) -> Result<(), ExperimentError> {
    let row = "iPref by number of weights";
    let one =
        bench.learn(Method::IPref, Tuples::squares(), &bench.train, &options(), "iPref 1-Tuple")?;
    let of_192 = hits(&Greedy(one), &bench.test);
    add(report, row, "192", Some(33.8), of_192);
    let MethodOptions { c, tolerance, max_iterations, .. } = options();
    let settings = PrefConfig { c, tolerance, max_iterations, solver: Solver::Primal, binary: false };
    let counter = bench.once("piece counter, 64 weights", || {
        learn_piece_counter(&bench.train, settings, |_| !stop_requested()).map_err(failed)
    })?;
    let of_64 = hits(&Greedy(counter), &bench.test);
    add(report, row, "64, a piece counter", None, of_64);
    let few = bench.learn(
        Method::IPref,
        symmetric_squares(),
        &bench.train,
        &options(),
        "iPref symmetric 1-Tuple, 30 weights",
    )?;
    let of_30 = hits(&Greedy(few), &bench.test);
    add(report, row, "30 symmetric", None, of_30);
    report.findings.push(format!(
        "Numbers of weights: 192 predict {:.1}%, 64 {:.1}%, 30 symmetric ones {:.1}%; the paper found \
         192 better than either.",
        of_192.percent(),
        of_64.percent(),
        of_30.percent()
    ));
    Ok(())
}

/// What it is worth to put a disc on a square, in standard deviations over the board: an own disc
/// next to an empty square. (What an opponent's disc there is worth says little: with board
/// inversion no move of the mover's can bring one.)
fn corners(bench: &Bench<'_>, report: &mut Report) -> Result<(), ExperimentError> {
    let [mut both, mut good, mut bad, mut neither] = [const { Vec::new() }; 4];
    for method in METHODS {
        let name = method_name(method);
        let row = format!("{name} 1-Tuple");
        let learned = bench.learn(method, Tuples::squares(), &bench.train, &options(), &row)?;
        let mut worth = [0.0; 64];
        for (worth, table) in worth.iter_mut().zip(learned.weights().as_chunks::<3>().0) {
            *worth = f64::from(table[2] - table[1]);
        }
        let mean = worth.iter().sum::<f64>() / 64.0;
        let squares: f64 = worth.iter().map(|w| (w - mean).powi(2)).sum();
        let deviation = (squares / 64.0).sqrt().max(1e-12);
        worth.iter_mut().for_each(|worth| *worth = (*worth - mean) / deviation);
        let of = |squares: [usize; 4]| squares.iter().map(|&s| worth[s]).sum::<f64>() / 4.0;
        let (corner, x) = (of([0, 7, 56, 63]), of([9, 14, 49, 54]));
        report.cell(row.clone(), "corners, deviations", None, Some(corner), None);
        report.cell(row, "X-squares, deviations", None, Some(x), None);
        match (corner > 0.0, x < 0.0) {
            (true, true) => both.push(name),
            (true, false) => good.push(name),
            (false, true) => bad.push(name),
            (false, false) => neither.push(name),
        }
        let board = Board::new(format!("{name}: an own disc next to none")).weights(worth);
        let caption = "In standard deviations over the board.".to_owned();
        report.figures.push((format!("squares-{}", name.to_lowercase()), Box::new(board), caption));
    }
    let list = |names: &[&str]| if names.is_empty() { "none".to_owned() } else { names.join(", ") };
    report.findings.push(format!(
        "That corners are good and X-squares bad, next to the mean of all squares, is learned by {}; \
         corners alone by {}; X-squares alone by {}; neither by {}. The paper: both by preference \
         learning only, corners alone by LSTD.",
        list(&both),
        list(&good),
        list(&bad),
        list(&neither)
    ));
    Ok(())
}
