//! Choices in little memory.

use outflank_games::Position;
use outflank_games::othello::{Board, Othello, Square};
use outflank_models::patterns::Stages;
use outflank_records::Decision;

/// A board and the square that was chosen, both seen from the side to move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Choice {
    pub board: Board,
    pub chosen: Square,
}

/// Many choices: every decision that had an alternative.
#[derive(Clone, Debug, Default)]
pub struct Choices {
    items: Vec<Choice>,
}

impl Choices {
    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// The choices whose move leads to a board of this stage.
    pub(super) fn of_stage(&self, stages: Stages, stage: usize) -> Vec<Choice> {
        let of = |choice: &&Choice| stages.of(64 - choice.board.empty().count_ones() + 1) == stage;
        self.items.iter().filter(of).copied().collect()
    }
}

impl<'a> FromIterator<&'a Decision<Othello>> for Choices {
    fn from_iter<I: IntoIterator<Item = &'a Decision<Othello>>>(decisions: I) -> Choices {
        let items = decisions
            .into_iter()
            .filter(|decision| !decision.is_forced() && decision.position.is_legal(decision.chosen))
            .map(|decision| Choice { board: decision.position.board(), chosen: decision.chosen })
            .collect();
        Choices { items }
    }
}
