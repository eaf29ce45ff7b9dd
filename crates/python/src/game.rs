//! A game in progress.

use crate::errors::{OrRaise, error};
use crate::games::{parse_game, with_game};
use crate::position::{AnyPosition, Position, to_svg};
use outflank_games::othello::Othello;
use outflank_games::{Line, Position as GamePosition};
use outflank_report::board::SquareMark;
use pyo3::prelude::*;
use std::sync::Arc;

/// A starting position and the moves played from it.
///
/// `moves` is a list of moves, or for Othello a text such as "f5d6c3".
#[pyclass(from_py_object, module = "outflank")]
#[derive(Clone)]
pub(crate) struct Game {
    start: Position,
    positions: Vec<Arc<dyn AnyPosition>>,
    moves: Vec<String>,
}

impl Game {
    /// Creates a game without moves.
    pub(crate) fn at(start: Position) -> Game {
        Game { start, positions: Vec::new(), moves: Vec::new() }
    }

    /// Creates a game from a line.
    pub(crate) fn from_line<P: GamePosition>(line: &Line<P>) -> Game {
        let mut game = Game::at(Position::new(*line.start()));
        let mut position = *line.start();
        for &mv in line.moves() {
            position = position.play(mv);
            game.positions.push(Arc::new(position));
            game.moves.push(mv.to_string());
        }
        game
    }

    /// Returns the game as a line of one game.
    pub(crate) fn to_line<P: GamePosition>(&self) -> PyResult<Line<P>> {
        let mut line = Line::new(crate::position::downcast::<P>(&self.start)?);
        for text in &self.moves {
            let mv = line.position().parse_move(text).or_raise()?;
            line.push(mv).or_raise()?;
        }
        Ok(line)
    }

    fn current(&self) -> &Arc<dyn AnyPosition> {
        self.positions.last().unwrap_or(&self.start.inner)
    }
}

#[pymethods]
impl Game {
    #[new]
    #[pyo3(signature = (moves = None, game = "othello", start = None))]
    fn create(
        moves: Option<&Bound<'_, PyAny>>,
        game: &str,
        start: Option<Position>,
    ) -> PyResult<Game> {
        let start = match start {
            Some(start) => start,
            None => with_game!(parse_game(game)?, P => Position::new(P::start())),
        };
        let mut line = Game::at(start);
        let Some(moves) = moves else { return Ok(line) };
        if let Ok(text) = moves.extract::<String>() {
            let compact: Vec<char> = text.chars().filter(|c| !c.is_whitespace()).collect();
            for pair in compact.chunks(2) {
                let text: String = pair.iter().collect();
                line.push_text(&text)?;
            }
            return Ok(line);
        }
        for mv in moves.try_iter()? {
            line.push(&mv?)?;
        }
        Ok(line)
    }

    /// The starting position.
    #[getter]
    fn start(&self) -> Position {
        self.start.clone()
    }

    /// The current position.
    #[getter]
    fn position(&self) -> Position {
        Position { inner: Arc::clone(self.current()) }
    }

    /// All positions, from the start to the current one.
    #[getter]
    fn positions(&self) -> Vec<Position> {
        let after = self.positions.iter().map(|inner| Position { inner: Arc::clone(inner) });
        std::iter::once(self.start.clone()).chain(after).collect()
    }

    /// The moves played, as text.
    #[getter]
    fn moves(&self) -> Vec<String> {
        self.moves.clone()
    }

    /// Whether the game is over.
    #[getter]
    fn is_over(&self) -> bool {
        self.current().result().is_some()
    }

    /// Black's result of a finished game; None if the game is not over.
    #[getter]
    fn result(&self) -> Option<i32> {
        self.current().result()
    }

    /// Plays a move, given as text or as an integer of actions.
    fn push(&mut self, r#move: &Bound<'_, PyAny>) -> PyResult<()> {
        let text = self.position().move_text(r#move)?;
        self.push_text(&text)
    }

    /// Takes the last move back and returns it.
    fn pop(&mut self) -> PyResult<String> {
        self.positions.pop();
        self.moves.pop().ok_or_else(|| error("there is no move to take back"))
    }

    /// Returns the board as an SVG document, with a ring around the last move of Othello.
    fn svg(&self) -> String {
        let title = match self.moves.last() {
            Some(mv) => format!("after {}. {mv}", self.moves.len()),
            None => "start".to_owned(),
        };
        let board = self.current().board(title);
        let square = self.moves.last().and_then(|mv| mv.parse().ok());
        to_svg(match square {
            Some(square) => {
                let square: outflank_games::othello::Square = square;
                board.mark(square.index(), SquareMark::Ring)
            }
            None => board,
        })
    }

    fn _repr_svg_(&self) -> String {
        self.svg()
    }

    fn __len__(&self) -> usize {
        self.moves.len()
    }

    fn __copy__(&self) -> Game {
        self.clone()
    }

    fn __str__(&self) -> String {
        let separator = if self.start.inner.game() == Othello::GAME { "" } else { " " };
        self.moves.join(separator)
    }

    fn __repr__(&self) -> String {
        format!("Game({:?}, {:?})", self.moves, self.start.inner.game().name())
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<Game>().is_ok_and(|other| {
            let other = other.borrow();
            self.moves == other.moves
                && self.start.inner.game() == other.start.inner.game()
                && self.start.inner.text() == other.start.inner.text()
        })
    }

    fn __reduce__<'py>(
        &self,
        py: Python<'py>,
    ) -> (Bound<'py, pyo3::types::PyType>, (Vec<String>, &'static str, Position)) {
        let game = self.start.inner.game().name();
        (py.get_type::<Game>(), (self.moves.clone(), game, self.start.clone()))
    }
}

impl Game {
    fn push_text(&mut self, text: &str) -> PyResult<()> {
        let at = self.moves.len() + 1;
        let next = self.current().play(text).map_err(|e| error(format!("move {at}: {e}")))?;
        let text = self.current().parse_move(text).or_raise()?;
        self.positions.push(next);
        self.moves.push(text);
        Ok(())
    }
}
