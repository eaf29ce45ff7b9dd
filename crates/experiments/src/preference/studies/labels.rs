//! What is called right (V, VI and VIII-D): balanced against unbalanced classes, one classifier
//! against one for each colour, labels filtered by random games.

use super::{Bench, add, hits};
use crate::Report;
use crate::lab::ExperimentError;
use crate::preference::{FeatureSet, method_name, options};
use outflank_arena::play;
use outflank_games::othello::{Othello, Square};
use outflank_games::{Line, Position, Side};
use outflank_learners::classify::ByColor;
use outflank_learners::methods::{Method, MethodOptions};
use outflank_models::Greedy;
use outflank_players::Random;
use outflank_records::Decision;
use outflank_runs::rng;
use rayon::prelude::*;

/// Random games for each move when labels are filtered.
const ROLLOUTS: u32 = 50;

/// What is done otherwise than in the paper.
pub const DEPARTURE: &str = "The paper does not say how its Monte-Carlo filter worked; here a \
    decision is kept when the chosen move scores more than every other move by two standard errors \
    over 50 random games each, on a tenth of the games; as many labels, spread evenly over all, show \
    what is due to their number.";

/// Balance, one classifier for each colour, filtered labels.
pub fn study(bench: &Bench<'_>, report: &mut Report) -> Result<(), ExperimentError> {
    for (features, paper) in FeatureSet::BOTH.into_iter().zip([28.6, 42.7]) {
        let row = format!("Classify {}", features.name());
        let tuples = features.tuples();
        let balanced =
            bench.learn(Method::Classify, tuples.clone(), &bench.train, &options(), &row)?;
        add(report, &row, "balanced", Some(paper), hits(&Greedy(balanced), &bench.test));
        let plain = MethodOptions { balanced: false, ..options() };
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
        let both = Greedy(ByColor([black?, white?]));
        add(report, &row, "one for each colour", None, hits(&both, &bench.test));
    }
    filtered(bench, report)
}

/// Decisions whose chosen move random games confirm, on a tenth of the games.
fn filtered(bench: &Bench<'_>, report: &mut Report) -> Result<(), ExperimentError> {
    let few = &bench.train[..bench.train.len().div_ceil(10)];
    (bench.lab.say)("filtering labels by random games");
    let kept: Vec<Decision<Othello>> = few
        .par_iter()
        .enumerate()
        .filter(|(number, decision)| is_confirmed(bench.lab.seed, *number, decision))
        .map(|(_, decision)| *decision)
        .collect();
    let even: Vec<Decision<Othello>> =
        (0..kept.len()).map(|place| few[place * few.len() / kept.len()]).collect();
    let share = 100.0 * kept.len() as f64 / few.len().max(1) as f64;
    report.cell("labels that random games confirm", "%", None, Some(share), None);
    for method in [Method::Classify, Method::IPref] {
        let row = format!("{} N-Tuple, a tenth of the games", method_name(method));
        for (column, labels) in
            [("all labels", few), ("filtered labels", &kept[..]), ("as many labels", &even[..])]
        {
            if labels.is_empty() {
                continue;
            }
            let name = format!("{row}, {column}, {ROLLOUTS} games");
            let tuples = FeatureSet::N.tuples();
            let learned = bench.learn(method, tuples, labels, &options(), &name)?;
            add(report, &row, column, None, hits(&Greedy(learned), &bench.test));
        }
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
