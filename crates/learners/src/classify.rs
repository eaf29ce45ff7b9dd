//! Classify: chosen moves against all others (Runarsson and Lucas, 2014, section V).
//!
//! The position that a move leads to, with the mover seen as Black, belongs to one class when the
//! move was chosen and to the other when it was not:
//!
//! ```text
//! w . phi_chosen >= 1,   w . phi_other <= -1
//! ```
//!
//! Violations are charged by their square, with C, against 1/2 |w|^2, without a constant term. One
//! move of each decision is chosen and many are not; when balanced, a chosen move is charged as
//! often as it had rivals. Needs decisions and a set of features.
//!
//! The paper's other reading, a classifier for each colour, is [`learn_each`].

use crate::Seen;
use crate::pref::Learned;
use crate::rows::class_rows;
use crate::svm::{SvmError, solve_primal};
use outflank_games::othello::{Othello, Square};
use outflank_games::{Position, Side};
use outflank_models::{Evaluate, NTupleNetwork, Tuples, View};
use outflank_records::Decision;

/// What the method can be told.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// The charge for violations.
    pub c: f64,
    /// When to stop: how far the gradient must shrink.
    pub tolerance: f64,
    /// The most Newton steps.
    pub steps: u32,
    /// Whether a chosen move counts as often as it had rivals.
    pub balanced: bool,
}

/// Learns one network for both colours. `watch` sees each step and may stop it.
pub fn learn(
    tuples: Tuples,
    decisions: &[Decision<Othello>],
    settings: Settings,
    watch: impl FnMut(Seen<'_>) -> bool,
) -> Result<Learned, SvmError> {
    let rows = class_rows(&tuples, settings.balanced, decisions);
    let fit = solve_primal(&rows, settings.c, settings.tolerance, settings.steps, watch)?;
    let weights = fit.weights.iter().map(|&w| w as f32).collect();
    let network = NTupleNetwork::new(tuples, weights, View::Invert).ok_or(SvmError::NotFinite)?;
    Ok(Learned { network, rows: rows.len(), entries: rows.entries(), fit })
}

/// Learns a network for each colour, Black's first, from that colour's decisions alone. `watch`
/// also sees the colour.
pub fn learn_each(
    tuples: &Tuples,
    decisions: &[Decision<Othello>],
    settings: Settings,
    mut watch: impl FnMut(Side, Seen<'_>) -> bool,
) -> Result<[Learned; 2], SvmError> {
    let mut of = |side: Side| {
        let own: Vec<Decision<Othello>> =
            decisions.iter().filter(|d| d.position.to_move() == side).copied().collect();
        learn(tuples.clone(), &own, settings, |seen| watch(side, seen))
    };
    Ok([of(Side::Black)?, of(Side::White)?])
}

/// Two networks that serve one colour each, Black's first.
#[derive(Clone, Debug, PartialEq)]
pub struct ByColor(pub [NTupleNetwork; 2]);

impl Evaluate<Othello> for ByColor {
    fn value(&self, position: &Othello, side: Side) -> f32 {
        self.0[side.index()].value(position, side)
    }

    fn after_moves(&self, position: &Othello, moves: &[Square], out: &mut Vec<f32>) {
        self.0[position.to_move().index()].after_moves(position, moves, out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Rows, preference_rows};
    use outflank_models::{Features, embedded};
    use outflank_records::{Selection, DecisionFilter, decisions, read_games};

    fn choices(games: usize) -> Vec<Decision<Othello>> {
        let records = outflank_records::embedded::games();
        decisions(&records[..games], &DecisionFilter::CHOICES).items().to_vec()
    }

    const SETTINGS: Settings = Settings { c: 1.0, tolerance: 1e-3, steps: 100, balanced: true };

    /// Section VIII-D counts 64 features that are not zero for each position with the single
    /// squares and 82.7 with the tuples, and in the differences 11.8 and 64.8.
    #[test]
    fn rows_are_as_full_as_the_paper_says() {
        let Some(data) = std::env::var_os("OUTFLANK_DATA").map(std::path::PathBuf::from) else {
            return eprintln!("skipped: OUTFLANK_DATA is not set");
        };
        let selection = Selection { sample: Some(200), ..Selection::default() };
        let games = read_games(&[data.join("wthor")], &selection, 1).unwrap();
        let choices = decisions(&games.records, &DecisionFilter::CHOICES);
        for (tuples, positions, differences) in
            [(Tuples::squares(), 64.0, 11.8), (embedded::runarsson_lucas_tuples(), 82.7, 64.8)]
        {
            let mean = |rows: Rows| rows.entries() as f64 / rows.len() as f64;
            let own = mean(class_rows(&tuples, false, choices.items()));
            assert!((own - positions).abs() < 1.0, "{own} {positions}");
            let own = mean(preference_rows(&tuples, View::Invert, choices.items()));
            assert!((own - differences).abs() < 1.0, "{own} {differences}");
        }
    }

    #[test]
    fn each_move_is_a_row_and_balanced_rows_weigh_the_same() {
        let mut choices = choices(5);
        let moves: usize = choices.iter().map(|d| d.position.moves().count()).sum();
        // What is no choice has no rows: a forced move, or one that is not legal.
        let illegal = Decision { position: Othello::start(), chosen: Square::new(0).unwrap() };
        choices.push(illegal);
        let rows = class_rows(&embedded::runarsson_lucas_tuples(), true, &choices);
        assert_eq!(rows.len(), moves);
        let (mut chosen, mut others) = ((0, 0.0), (0, 0.0));
        for row in 0..rows.len() {
            let side = if rows.sign(row) > 0.0 { &mut chosen } else { &mut others };
            *side = (side.0 + 1, side.1 + rows.weight(row));
        }
        assert_eq!((chosen.0, others.0), (choices.len() - 1, moves - choices.len() + 1));
        assert_eq!(chosen.1, others.1);
        let plain = class_rows(&embedded::runarsson_lucas_tuples(), false, &choices);
        assert!((0..plain.len()).all(|row| plain.weight(row) == 1.0));
    }

    /// The sums of a row are those of the features, whatever their order.
    #[test]
    fn rows_agree_with_what_the_network_evaluates() {
        let learned = learn(embedded::runarsson_lucas_tuples(), &choices(10), SETTINGS, |_| true).unwrap();
        let choice = choices(1)[20];
        let rows = class_rows(learned.network.tuples(), false, &[choice]);
        let moves: Vec<Square> = choice.position.moves().collect();
        let mut values = Vec::new();
        learned.network.after_moves(&choice.position, &moves, &mut values);
        for (row, value) in values.iter().enumerate() {
            let (indices, counts, sign) = rows.row(row);
            let weight = |(&i, &v): (&u32, &f32)| learned.network.weights()[i as usize] * v;
            let product: f32 = indices.iter().zip(&counts).map(weight).sum();
            assert!((product - value).abs() < 1e-4);
            assert_eq!(sign > 0.0, moves[row] == choice.chosen);
        }
    }

    #[test]
    fn what_was_learned_picks_more_moves_than_chance() {
        let choices = choices(60);
        let hits = |model: &dyn Evaluate<Othello>| {
            let hit = |d: &&Decision<Othello>| {
                let moves: Vec<Square> = d.position.moves().collect();
                let mut values = Vec::new();
                model.after_moves(&d.position, &moves, &mut values);
                let best = (0..moves.len()).max_by(|&a, &b| values[a].total_cmp(&values[b]));
                best.is_some_and(|best| moves[best] == d.chosen)
            };
            choices.iter().filter(hit).count() as f64 / choices.len() as f64
        };
        let chance: f64 = choices.iter().map(|d| 1.0 / d.position.moves().count() as f64).sum();
        let chance = chance / choices.len() as f64;
        let tuples = embedded::runarsson_lucas_tuples();
        assert_eq!(tuples.count(), 6561);
        for balanced in [true, false] {
            let settings = Settings { balanced, ..SETTINGS };
            let learned = learn(tuples.clone(), &choices, settings, |_| true).unwrap();
            assert!(learned.fit.settled && learned.network.view() == View::Invert);
            assert!(hits(&learned.network) > chance + 0.2);
        }
        let mut seen = [0; 2];
        let each = learn_each(&tuples, &choices, SETTINGS, |side, _| {
            seen[side.index()] += 1;
            true
        });
        let each = ByColor(each.unwrap().map(|learned| learned.network));
        assert!(seen[0] > 0 && seen[1] > 0);
        assert_ne!(each.0[0], each.0[1]);
        assert!(hits(&each) > chance + 0.2);
        let position = choices[9].position;
        let side = position.to_move();
        assert_eq!(each.value(&position, side), each.0[side.index()].value(&position, side));
    }

    #[test]
    fn nothing_to_learn_from_and_senseless_settings_are_errors() {
        let run = |decisions: &[Decision<Othello>], settings: Settings| {
            learn(Tuples::squares(), decisions, settings, |_| true).map(|_| ())
        };
        assert_eq!(run(&[], SETTINGS), Err(SvmError::NoRows));
        let choices = choices(1);
        for c in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(matches!(
                run(&choices, Settings { c, ..SETTINGS }),
                Err(SvmError::Setting(..))
            ));
        }
        // One colour alone has nothing for the other.
        let black: Vec<_> =
            choices.into_iter().filter(|d| d.position.to_move() == Side::Black).collect();
        let each = learn_each(&Tuples::squares(), &black, SETTINGS, |_, _| true);
        assert_eq!(each.map(|_| ()), Err(SvmError::NoRows));
    }
}
