//! Compares rows with a direct computation.

use super::*;
use crate::BinaryFeatures;
use outflank_games::othello::Othello;
use outflank_games::{Position, Side};
use outflank_models::{Features, Tuples, View, embedded};
use outflank_records::{Decision, DecisionFilter, decisions};

fn choices(games: usize) -> Vec<Decision<Othello>> {
    let records = outflank_records::embedded::games();
    decisions(&records[..games], &DecisionFilter::CHOICES).items().to_vec()
}

fn dense<F: Features<Othello>>(features: &F, position: &Othello, black: Side) -> Vec<f32> {
    let mut dense = vec![0.0; features.feature_count()];
    features.visit(position, black, |index, value| dense[index] += value);
    dense
}

fn assert_row(rows: &SparseRows, row: usize, expected: &[f32], sign: f64) {
    let (indices, values, own) = rows.row(row);
    assert_eq!(own, sign);
    assert!(indices.is_sorted() && values.iter().all(|&value| value != 0.0));
    let mut found = vec![0.0; rows.columns()];
    indices.iter().zip(&values).for_each(|(&index, &value)| found[index as usize] = value);
    assert_eq!(found, expected);
}

fn check<F: Features<Othello>>(features: &F, choices: &[Decision<Othello>]) {
    for view in [View::Invert, View::Negate] {
        let rows = preference_rows(features, view, choices);
        let (mut row, mut entries) = (0, 0);
        for Decision { position, chosen } in choices {
            let mover = position.to_move();
            let black = if view == View::Invert { mover } else { Side::Black };
            let sign = if black == mover { 1.0 } else { -1.0 };
            let best = dense(features, &position.play(*chosen), black);
            for mv in position.moves().filter(|mv| mv != chosen) {
                let other = dense(features, &position.play(mv), black);
                let expected: Vec<f32> = best.iter().zip(other).map(|(a, b)| a - b).collect();
                assert_row(&rows, row, &expected, sign);
                entries += expected.iter().filter(|&&value| value != 0.0).count();
                row += 1;
            }
        }
        assert_eq!((rows.len(), rows.entries()), (row, entries));
    }
    let rows = class_rows(features, true, choices);
    let (mut row, mut entries) = (0, 0);
    for Decision { position, chosen } in choices {
        for mv in position.moves() {
            let expected = dense(features, &position.play(mv), position.to_move());
            assert_row(&rows, row, &expected, if mv == *chosen { 1.0 } else { -1.0 });
            entries += expected.iter().filter(|&&value| value != 0.0).count();
            row += 1;
        }
    }
    assert_eq!((rows.len(), rows.entries()), (row, entries));
}

#[test]
fn rows_match_the_features() {
    let choices = choices(4);
    check(&Tuples::squares(), &choices);
    check(&embedded::runarsson_lucas_tuples(), &choices);
    check(&BinaryFeatures(&embedded::runarsson_lucas_tuples()), &choices);
}

/// Decisions with an illegal move or without an alternative have no rows.
#[test]
fn decisions_without_alternative_have_no_rows() {
    let start = Othello::start();
    let illegal =
        Decision { position: start, chosen: outflank_games::othello::Square::new(0).unwrap() };
    assert!(preference_rows(&Tuples::squares(), View::Invert, &[illegal]).is_empty());
    assert!(class_rows(&Tuples::squares(), false, &[illegal]).is_empty());
    assert!(preference_rows(&Tuples::squares(), View::Invert, &[]).is_empty());
}
