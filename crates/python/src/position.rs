//! Positions of any game.

use crate::errors::{OrRaise, error};
use crate::games::{parse_game, with_game};
use crate::work;
use outflank_games::checkers::Checkers;
use outflank_games::othello::{Othello, Square, Symmetry};
use outflank_games::{Game, Position as GamePosition, Side};
use outflank_report::board::SquareMark;
use outflank_report::{Board, Figure, Theme};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyInt, PyString};
use std::any::Any;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

/// Width of a drawing in pixels.
const SVG_WIDTH: f64 = 360.0;

/// A position of any game.
pub(crate) trait AnyPosition: Any + Send + Sync {
    fn game(&self) -> Game;
    fn text(&self) -> String;
    fn to_move(&self) -> Side;
    fn moves(&self) -> Vec<String>;
    fn actions(&self) -> Vec<u32>;
    fn parse_move(&self, text: &str) -> Result<String, String>;
    fn play(&self, text: &str) -> Result<Arc<dyn AnyPosition>, String>;
    fn result(&self) -> Option<i32>;
    fn pieces(&self) -> u32;
    fn next_ply(&self) -> Option<u32>;
    fn diagram(&self) -> String;
    fn perft(&self, depth: u32, is_stopped: &dyn Fn() -> bool) -> u64;
    fn board(&self, title: String) -> Board;
    fn as_any(&self) -> &dyn Any;
}

impl<P: GamePosition> AnyPosition for P {
    fn game(&self) -> Game {
        P::GAME
    }

    fn text(&self) -> String {
        self.to_string()
    }

    fn to_move(&self) -> Side {
        GamePosition::to_move(self)
    }

    fn moves(&self) -> Vec<String> {
        GamePosition::moves(self).map(|mv| mv.to_string()).collect()
    }

    fn actions(&self) -> Vec<u32> {
        let action =
            |(index, mv): (usize, P::Move)| match (&mv as &dyn Any).downcast_ref::<Square>() {
                Some(square) => square.index() as u32,
                None => index as u32,
            };
        GamePosition::moves(self).enumerate().map(action).collect()
    }

    fn parse_move(&self, text: &str) -> Result<String, String> {
        GamePosition::parse_move(self, text).map(|mv| mv.to_string()).map_err(|e| e.to_string())
    }

    fn play(&self, text: &str) -> Result<Arc<dyn AnyPosition>, String> {
        let mv = GamePosition::parse_move(self, text).map_err(|error| error.to_string())?;
        Ok(Arc::new(GamePosition::play(self, mv)))
    }

    fn result(&self) -> Option<i32> {
        GamePosition::result(self)
    }

    fn pieces(&self) -> u32 {
        GamePosition::pieces(self)
    }

    fn next_ply(&self) -> Option<u32> {
        GamePosition::next_ply(self)
    }

    fn diagram(&self) -> String {
        GamePosition::diagram(self)
    }

    fn perft(&self, depth: u32, is_stopped: &dyn Fn() -> bool) -> u64 {
        perft(self, depth, is_stopped)
    }

    fn board(&self, title: String) -> Board {
        let board = Board::new(title);
        if let Some(othello) = self.as_any().downcast_ref::<Othello>() {
            return board.bitboards(othello.discs(Side::Black), othello.discs(Side::White));
        }
        match self.as_any().downcast_ref::<Checkers>() {
            Some(checkers) => draw_checkers(board, checkers),
            None => board,
        }
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// Depth of perft below which a stop is not checked.
const SHORT_PERFT: u32 = 7;

/// Counts the leaves of the game tree; after a stop the count is too small.
fn perft<P: GamePosition>(position: &P, depth: u32, is_stopped: &dyn Fn() -> bool) -> u64 {
    if depth <= SHORT_PERFT || position.is_over() {
        return position.perft(depth);
    }
    if is_stopped() {
        return 0;
    }
    let below = |mv| {
        let after = position.play(mv);
        // A forced pass, which play() has made, counts as a ply.
        let passed = !after.is_over() && after.to_move() == position.to_move();
        perft(&after, depth - 1 - u32::from(passed), is_stopped)
    };
    position.moves().map(below).sum()
}

/// Draws men as discs and kings as discs with a K.
fn draw_checkers(board: Board, checkers: &Checkers) -> Board {
    let squares = |bits: u32| {
        (1..=32u8)
            .filter_map(outflank_games::checkers::DarkSquare::new)
            .filter(move |square| bits & square.bit() != 0)
            .map(|square| usize::from(square.row()) * 8 + usize::from(square.column()))
    };
    let bits = |side| {
        let pieces = checkers.men(side) | checkers.kings(side);
        squares(pieces).fold(0u64, |all, square| all | 1 << square)
    };
    let board = board.bitboards(bits(Side::Black), bits(Side::White));
    let kings = checkers.kings(Side::Black) | checkers.kings(Side::White);
    squares(kings).fold(board, |board, square| board.mark(square, SquareMark::Text("K".into())))
}

/// Converts a position to the type of one game.
pub(crate) fn downcast<P: GamePosition>(position: &Position) -> PyResult<P> {
    position.inner.as_any().downcast_ref::<P>().copied().ok_or_else(|| {
        let game = position.inner.game();
        error(format!("this is a position of {game}; use one of {}", P::GAME))
    })
}

/// A legal position of a game. Positions are immutable: play() returns a new one.
///
/// Without a text this is the starting position. A forced pass is part of play(), so the side to
/// move has a legal move unless the game is over.
#[pyclass(frozen, from_py_object, module = "outflank")]
#[derive(Clone)]
pub(crate) struct Position {
    pub(crate) inner: Arc<dyn AnyPosition>,
}

impl Position {
    pub(crate) fn new<P: GamePosition>(position: P) -> Position {
        Position { inner: Arc::new(position) }
    }

    fn othello(&self) -> PyResult<Othello> {
        downcast(self)
    }

    /// Converts a move given as text or as an action to text.
    pub(crate) fn move_text(&self, mv: &Bound<'_, PyAny>) -> PyResult<String> {
        if let Ok(text) = mv.cast::<PyString>() {
            return self.inner.parse_move(text.to_str()?).or_raise();
        }
        let number: u32 = match mv.cast::<PyInt>() {
            Ok(number) => number.extract(),
            // Accepts NumPy integers.
            Err(_) => mv.call_method0("__index__").and_then(|number| number.extract()),
        }
        .map_err(|_| error(format!("{mv} is not a move; give text or an integer of actions")))?;
        let index = self.inner.actions().iter().position(|&action| action == number);
        match index.and_then(|index| self.inner.moves().into_iter().nth(index)) {
            Some(text) => Ok(text),
            None => Err(error(format!("{number} is not a legal action; use one of actions"))),
        }
    }
}

#[pymethods]
impl Position {
    #[new]
    #[pyo3(signature = (text = None, game = "othello"))]
    fn create(text: Option<&str>, game: &str) -> PyResult<Position> {
        with_game!(parse_game(game)?, P => match text {
            None => Ok(Position::new(P::start())),
            Some(text) => text.parse::<P>().map(Position::new).or_raise(),
        })
    }

    /// Creates an Othello position from two bitboards; bit 0 is a1 and bit 63 is h8. A side that
    /// cannot move passes.
    #[staticmethod]
    #[pyo3(signature = (black, white, side = "black"))]
    fn from_discs(black: u64, white: u64, side: &str) -> PyResult<Position> {
        Othello::from_discs(black, white, parse_side(side)?)
            .map(Position::new)
            .ok_or_else(|| error("a square cannot have a black and a white disc"))
    }

    /// The name of the game.
    #[getter]
    fn game(&self) -> &'static str {
        self.inner.game().name()
    }

    /// The side to move, "black" or "white".
    #[getter]
    fn side(&self) -> String {
        self.inner.to_move().to_string()
    }

    /// The legal moves as text, in ascending order.
    #[getter]
    fn moves(&self) -> Vec<String> {
        self.inner.moves()
    }

    /// The legal moves as integers: the square of an Othello move (0 is a1, 63 is h8), otherwise the
    /// index in moves.
    #[getter]
    fn actions(&self) -> Vec<u32> {
        self.inner.actions()
    }

    /// Whether the game is over.
    #[getter]
    fn is_over(&self) -> bool {
        self.inner.result().is_some()
    }

    /// Black's result of a finished game: positive if Black won. None if the game is not over.
    #[getter]
    fn result(&self) -> Option<i32> {
        self.inner.result()
    }

    /// The number of pieces on the board.
    #[getter]
    fn pieces(&self) -> u32 {
        self.inner.pieces()
    }

    /// The number of the next move from 1, or None if the position does not determine it.
    #[getter]
    fn next_ply(&self) -> Option<u32> {
        self.inner.next_ply()
    }

    /// Black's discs as a bitboard (Othello).
    #[getter]
    fn black(&self) -> PyResult<u64> {
        Ok(self.othello()?.discs(Side::Black))
    }

    /// White's discs as a bitboard (Othello).
    #[getter]
    fn white(&self) -> PyResult<u64> {
        Ok(self.othello()?.discs(Side::White))
    }

    /// The bitboards of the side to move and of its opponent (Othello).
    #[getter]
    fn own_other(&self) -> PyResult<(u64, u64)> {
        let board = self.othello()?.board();
        Ok((board.own, board.other))
    }

    /// Returns the position after a move, given as text or as an integer of actions.
    fn play(&self, r#move: &Bound<'_, PyAny>) -> PyResult<Position> {
        let text = self.move_text(r#move)?;
        Ok(Position { inner: self.inner.play(&text).or_raise()? })
    }

    /// Returns the number of leaf positions after depth plies. A forced pass counts as a ply.
    fn perft(&self, py: Python<'_>, depth: u32) -> PyResult<u64> {
        if depth <= SHORT_PERFT {
            return Ok(py.detach(|| self.inner.perft(depth, &|| false)));
        }
        let leaves = work::run(py, None, |task| {
            let leaves = self.inner.perft(depth, &|| task.is_stopped());
            (!task.is_stopped()).then_some(leaves)
        })?;
        leaves.ok_or_else(work::interrupted)
    }

    /// Returns one of the eight symmetric positions (Othello), 0 to 7.
    fn transform(&self, symmetry: usize) -> PyResult<Position> {
        let symmetry = parse_symmetry(symmetry)?;
        Ok(Position::new(self.othello()?.transform(symmetry)))
    }

    /// Returns a text diagram of the board.
    fn diagram(&self) -> String {
        self.inner.diagram()
    }

    /// Returns the board as an SVG document, with dots on the legal moves of Othello.
    fn svg(&self) -> String {
        let title = match self.inner.result() {
            Some(_) => "game over".to_owned(),
            None => format!("{} to move", self.inner.to_move()),
        };
        let board = self.inner.board(title);
        let dots = if self.inner.game() == Othello::GAME { self.inner.actions() } else { vec![] };
        to_svg(
            dots.iter().fold(board, |board, &square| board.mark(square as usize, SquareMark::Dot)),
        )
    }

    fn _repr_svg_(&self) -> String {
        self.svg()
    }

    fn __str__(&self) -> String {
        self.inner.text()
    }

    fn __repr__(&self) -> String {
        format!("Position({:?}, {:?})", self.inner.text(), self.game())
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<Position>().is_ok_and(|other| {
            let other = &other.get().inner;
            (self.inner.game(), self.inner.text()) == (other.game(), other.text())
        })
    }

    fn __hash__(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        (self.inner.game(), self.inner.text()).hash(&mut hasher);
        hasher.finish()
    }

    fn __copy__(&self) -> Position {
        self.clone()
    }

    fn __deepcopy__(&self, _memo: &Bound<'_, PyDict>) -> Position {
        self.clone()
    }

    fn __reduce__<'py>(
        &self,
        py: Python<'py>,
    ) -> (Bound<'py, pyo3::types::PyType>, (String, &'static str)) {
        (py.get_type::<Position>(), (self.inner.text(), self.game()))
    }
}

/// Returns a board as an SVG document.
pub(crate) fn to_svg(board: Board) -> String {
    let file = board.draw(SVG_WIDTH).file(Theme::Light);
    match file.split_once("?>\n") {
        Some((_, svg)) => svg.to_owned(),
        None => file,
    }
}

/// Parses the name of a side.
pub(crate) fn parse_side(name: &str) -> PyResult<Side> {
    match name {
        "black" => Ok(Side::Black),
        "white" => Ok(Side::White),
        _ => Err(error(format!("'{name}' is not a side; use black or white"))),
    }
}

/// Returns the symmetry with this index.
pub(crate) fn parse_symmetry(index: usize) -> PyResult<Symmetry> {
    let symmetry = Symmetry::ALL.get(index).copied();
    symmetry.ok_or_else(|| error(format!("{index} is not a symmetry; use 0 to 7")))
}
