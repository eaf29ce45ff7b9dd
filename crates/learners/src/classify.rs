//! Classify: chosen moves against all others (Runarsson & Lucas, 2014, section V).
//!
//! An afterstate, with the mover seen as Black, is in the positive class if its move was chosen and
//! in the negative class otherwise:
//!
//! ```text
//! w . phi_chosen >= 1,   w . phi_other <= -1
//! ```
//!
//! The weights minimize the regularized squared hinge loss of the violations, where y is +1 for
//! chosen moves and -1 for others, and c is the weight of the move. There is no bias:
//!
//! ```text
//! 1/2 |w|^2 + C sum c max(0, 1 - y w . phi)^2
//! ```
//!
//! Input: decisions and a set of features.
//!
//! Choices where the paper is silent or ambiguous:
//! 1. Each decision has one chosen move and many others. With `balanced`, the chosen move has as
//!    much weight as all others together; otherwise every c is 1.
//! 2. One network with board inversion plays both colors. [`ByColor`], the other reading of the
//!    paper, combines one classifier per color.

use crate::IterationState;
use crate::pref::{PrefOutcome, Solver};
use crate::rows::class_rows;
use crate::svm::{SvmConfig, SvmError, SvmLearner};
use outflank_games::othello::{Othello, Square};
use outflank_games::{Position, Side};
use outflank_models::{Evaluate, NTupleNetwork, Tuples, View};
use outflank_records::Decision;

/// Configuration of the classifier.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClassifyConfig {
    /// Penalty parameter C of the squared hinge loss.
    pub c: f64,
    /// Stopping tolerance of the relative gradient norm.
    pub tolerance: f64,
    /// Maximum number of Newton iterations.
    pub max_iterations: u32,
    /// Whether a chosen move has as much weight as all other moves of its decision together.
    pub balanced: bool,
}

/// Trains one network for both colors. `on_iteration` returns whether to continue.
pub fn train(
    tuples: Tuples,
    decisions: &[Decision<Othello>],
    config: ClassifyConfig,
    on_iteration: impl FnMut(IterationState<'_>) -> bool,
) -> Result<PrefOutcome, SvmError> {
    learner(tuples, decisions, config)?.solve(config.max_iterations, on_iteration)
}

/// Creates the learner.
pub fn learner(
    tuples: Tuples,
    decisions: &[Decision<Othello>],
    config: ClassifyConfig,
) -> Result<SvmLearner, SvmError> {
    let ClassifyConfig { c, tolerance, balanced, .. } = config;
    let rows = class_rows(&tuples, balanced, decisions);
    let config = SvmConfig { c, tolerance, solver: Solver::Primal };
    SvmLearner::new(rows, decisions.len(), (tuples, View::Invert, false), config)
}

/// Two networks, one per color, Black first.
#[derive(Clone, Debug, PartialEq)]
pub struct ByColor(pub [NTupleNetwork; 2]);

impl Evaluate<Othello> for ByColor {
    fn value(&self, position: &Othello, side: Side) -> f32 {
        self.0[side.index()].value(position, side)
    }

    fn move_values(&self, position: &Othello, moves: &[Square], out: &mut Vec<f32>) {
        self.0[position.to_move().index()].move_values(position, moves, out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{SparseRows, preference_rows};
    use outflank_models::{Features, embedded};
    use outflank_records::{DecisionFilter, Selection, decisions, read_games};

    fn choices(games: usize) -> Vec<Decision<Othello>> {
        let records = outflank_records::embedded::games();
        decisions(&records[..games], &DecisionFilter::CHOICES).items().to_vec()
    }

    const CONFIG: ClassifyConfig =
        ClassifyConfig { c: 1.0, tolerance: 1e-3, max_iterations: 100, balanced: true };

    /// Section VIII-D: 64 nonzero features per position with single squares and 82.7 with tuples;
    /// 11.8 and 64.8 in the differences.
    #[test]
    fn row_density_matches_the_paper() {
        let Some(data) = std::env::var_os("OUTFLANK_DATA").map(std::path::PathBuf::from) else {
            return eprintln!("skipped: OUTFLANK_DATA is not set");
        };
        let selection = Selection { sample: Some(200), ..Selection::default() };
        let games = read_games(&[data.join("wthor")], &selection, 1).unwrap();
        let choices = decisions(&games.records, &DecisionFilter::CHOICES);
        for (tuples, positions, differences) in
            [(Tuples::squares(), 64.0, 11.8), (embedded::runarsson_lucas_tuples(), 82.7, 64.8)]
        {
            let mean = |rows: SparseRows| rows.entries() as f64 / rows.len() as f64;
            let own = mean(class_rows(&tuples, false, choices.items()));
            assert!((own - positions).abs() < 1.0, "{own} {positions}");
            let own = mean(preference_rows(&tuples, View::Invert, choices.items()));
            assert!((own - differences).abs() < 1.0, "{own} {differences}");
        }
    }

    #[test]
    fn balanced_classes_have_equal_total_weight() {
        let mut choices = choices(5);
        let moves: usize = choices.iter().map(|d| d.position.moves().count()).sum();
        // Forced moves and illegal moves have no rows.
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

    /// The product with a row is the value that the network returns.
    #[test]
    fn rows_agree_with_network_values() {
        let outcome =
            train(embedded::runarsson_lucas_tuples(), &choices(10), CONFIG, |_| true).unwrap();
        let choice = choices(1)[20];
        let rows = class_rows(outcome.network.tuples(), false, &[choice]);
        let moves: Vec<Square> = choice.position.moves().collect();
        let mut values = Vec::new();
        outcome.network.move_values(&choice.position, &moves, &mut values);
        for (row, value) in values.iter().enumerate() {
            let (indices, counts, sign) = rows.row(row);
            let weight = |(&i, &v): (&u32, &f32)| outcome.network.weights()[i as usize] * v;
            let product: f32 = indices.iter().zip(&counts).map(weight).sum();
            assert!((product - value).abs() < 1e-4);
            assert_eq!(sign > 0.0, moves[row] == choice.chosen);
        }
    }

    #[test]
    fn trained_classifiers_beat_chance() {
        let choices = choices(60);
        let hits = |model: &dyn Evaluate<Othello>| {
            let hit = |d: &&Decision<Othello>| {
                let moves: Vec<Square> = d.position.moves().collect();
                let mut values = Vec::new();
                model.move_values(&d.position, &moves, &mut values);
                let best = (0..moves.len()).max_by(|&a, &b| values[a].total_cmp(&values[b]));
                best.is_some_and(|best| moves[best] == d.chosen)
            };
            choices.iter().filter(hit).count() as f64 / choices.len() as f64
        };
        let chance: f64 = choices.iter().map(|d| 1.0 / d.position.moves().count() as f64).sum();
        let chance = chance / choices.len() as f64;
        let tuples = embedded::runarsson_lucas_tuples();
        assert_eq!(tuples.feature_count(), 6561);
        for balanced in [true, false] {
            let config = ClassifyConfig { balanced, ..CONFIG };
            let outcome = train(tuples.clone(), &choices, config, |_| true).unwrap();
            assert!(outcome.fit.converged && outcome.network.view() == View::Invert);
            assert!(hits(&outcome.network) > chance + 0.2);
        }
        let by_color = ByColor(Side::BOTH.map(|side| {
            let own: Vec<_> =
                choices.iter().filter(|d| d.position.to_move() == side).copied().collect();
            train(tuples.clone(), &own, CONFIG, |_| true).unwrap().network
        }));
        assert_ne!(by_color.0[0], by_color.0[1]);
        assert!(hits(&by_color) > chance + 0.2);
        let position = choices[9].position;
        let side = position.to_move();
        assert_eq!(
            by_color.value(&position, side),
            by_color.0[side.index()].value(&position, side)
        );
    }

    #[test]
    fn empty_data_and_invalid_parameters_are_errors() {
        let run = |decisions: &[Decision<Othello>], config: ClassifyConfig| {
            train(Tuples::squares(), decisions, config, |_| true).map(|_| ())
        };
        assert_eq!(run(&[], CONFIG), Err(SvmError::NoRows));
        let choices = choices(1);
        for c in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(matches!(
                run(&choices, ClassifyConfig { c, ..CONFIG }),
                Err(SvmError::Parameter(..))
            ));
        }
    }
}
