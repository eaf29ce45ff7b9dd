//! A compact training set of choices.

use outflank_games::Position;
use outflank_games::othello::{Board, Othello, Square};
use outflank_models::patterns::Stages;
use outflank_records::Decision;

/// A board, seen by the side to move, and the chosen square.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Choice {
    pub board: Board,
    pub chosen: Square,
}

/// The choices of a training set: all decisions with an alternative.
#[derive(Clone, Debug, Default)]
pub struct ChoiceSet {
    items: Vec<Choice>,
}

impl ChoiceSet {
    /// The number of choices.
    #[must_use]
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Whether there are no choices.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// Returns the choices whose afterstate is in this stage.
    pub(super) fn of_stage(&self, stages: Stages, stage: usize) -> Vec<Choice> {
        let in_stage =
            |choice: &&Choice| stages.stage_of(64 - choice.board.empty().count_ones() + 1) == stage;
        self.items.iter().filter(in_stage).copied().collect()
    }
}

impl<'a> FromIterator<&'a Decision<Othello>> for ChoiceSet {
    fn from_iter<I: IntoIterator<Item = &'a Decision<Othello>>>(decisions: I) -> ChoiceSet {
        let items = decisions
            .into_iter()
            .filter(|decision| !decision.is_forced() && decision.position.is_legal(decision.chosen))
            .map(|decision| Choice { board: decision.position.board(), chosen: decision.chosen })
            .collect();
        ChoiceSet { items }
    }
}
