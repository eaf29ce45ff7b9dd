//! Labels (sections V, VI and VIII-D): balanced and unbalanced classes, one classifier per color,
//! and labels filtered by random playouts.

use super::{StudyData, add_accuracy, top1_hits};
use crate::Report;
use crate::context::ExperimentError;
use crate::preference::{FeatureSet, method_name, paper_options};
use outflank_arena::play_game;
use outflank_games::othello::{Othello, Square};
use outflank_games::{Line, Position, Side};
use outflank_learners::classify::ByColor;
use outflank_learners::methods::{Method, MethodOptions};
use outflank_models::OnePlyPolicy;
use outflank_players::Random;
use outflank_records::Decision;
use outflank_runs::rng;
use rayon::prelude::*;

/// Random playouts per move of the label filter.
const PLAYOUTS: u32 = 50;

/// The departure about the label filter.
pub const DEPARTURE: &str = "The paper does not specify its Monte-Carlo filter. Ours keeps a decision if \
    the played move scores two standard errors more than every other move, over 50 random playouts per \
    move, on a tenth of the games. As a control, the same number of labels is taken at even intervals.";

/// Adds the studies about labels to the report.
pub fn study(data: &StudyData<'_>, report: &mut Report) -> Result<(), ExperimentError> {
    for (features, paper) in FeatureSet::BOTH.into_iter().zip([28.6, 42.7]) {
        let row = format!("Classify {}", features.name());
        let tuples = features.tuples();
        let balanced = data.train_or_load(
            Method::Classify,
            tuples.clone(),
            &data.train,
            &paper_options(),
            &row,
        )?;
        add_accuracy(
            report,
            &row,
            "balanced",
            Some(paper),
            top1_hits(&OnePlyPolicy(balanced), &data.test),
        );
        let unbalanced = MethodOptions { balanced: false, ..paper_options() };
        let network = data.train_or_load(
            Method::Classify,
            tuples.clone(),
            &data.train,
            &unbalanced,
            &format!("{row}, unbalanced"),
        )?;
        add_accuracy(
            report,
            &row,
            "unbalanced",
            None,
            top1_hits(&OnePlyPolicy(network), &data.test),
        );
        let per_color = Side::BOTH.map(|side| {
            let moves: Vec<_> =
                data.train.iter().filter(|d| d.position.to_move() == side).copied().collect();
            data.train_or_load(
                Method::Classify,
                tuples.clone(),
                &moves,
                &paper_options(),
                &format!("{row}, {side}"),
            )
        });
        let [black, white] = per_color;
        let both = OnePlyPolicy(ByColor([black?, white?]));
        add_accuracy(report, &row, "one per color", None, top1_hits(&both, &data.test));
    }
    filtered_labels(data, report)
}

/// Trains on the decisions that random playouts confirm, in a tenth of the games.
fn filtered_labels(data: &StudyData<'_>, report: &mut Report) -> Result<(), ExperimentError> {
    let tenth = &data.train[..data.train.len().div_ceil(10)];
    (data.context.log)("filtering labels by random playouts");
    let confirmed: Vec<Decision<Othello>> = tenth
        .par_iter()
        .enumerate()
        .filter(|(number, decision)| is_confirmed(data.context.seed, *number, decision))
        .map(|(_, decision)| *decision)
        .collect();
    let control: Vec<Decision<Othello>> =
        (0..confirmed.len()).map(|at| tenth[at * tenth.len() / confirmed.len()]).collect();
    let share = 100.0 * confirmed.len() as f64 / tenth.len().max(1) as f64;
    report.add_cell("labels confirmed by random playouts", "%", None, Some(share), None);
    for method in [Method::Classify, Method::IPref] {
        let row = format!("{} N-Tuple, a tenth of the games", method_name(method));
        for (column, labels) in [
            ("all labels", tenth),
            ("filtered labels", &confirmed[..]),
            ("as many labels", &control[..]),
        ] {
            if labels.is_empty() {
                continue;
            }
            let name = format!("{row}, {column}, {PLAYOUTS} games");
            let tuples = FeatureSet::N.tuples();
            let network = data.train_or_load(method, tuples, labels, &paper_options(), &name)?;
            add_accuracy(report, &row, column, None, top1_hits(&OnePlyPolicy(network), &data.test));
        }
    }
    Ok(())
}

/// Returns whether random playouts confirm the move that was played.
fn is_confirmed(seed: u64, number: usize, decision: &Decision<Othello>) -> bool {
    let mut rng = rng::stream(seed, &["filter", &number.to_string()]);
    let side = decision.position.to_move();
    let mut score = |mv: Square| {
        let after = decision.position.play(mv);
        let half_points: u32 = (0..PLAYOUTS)
            .map(|_| {
                let played = play_game(&mut Random, &mut Random, &Line::new(after), &mut rng);
                if side == Side::Black { played.half_points() } else { 2 - played.half_points() }
            })
            .sum();
        f64::from(half_points) / f64::from(2 * PLAYOUTS)
    };
    let chosen = score(decision.chosen);
    let tolerance = 2.0 * (0.5 / f64::from(PLAYOUTS)).sqrt();
    decision
        .position
        .moves()
        .filter(|&mv| mv != decision.chosen)
        .all(|mv| chosen > score(mv) + tolerance)
}
