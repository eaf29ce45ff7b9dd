//! The registry of built-in games.
//!
//! A built-in game is a module of this crate and one entry in `with_game!`. Programs that take the
//! name of a game use that macro to get from the name to the type of its positions.

use crate::Game;

/// Evaluates an expression with the type `$P` of the positions of a built-in game.
///
/// The expression is compiled for each game, so every built-in game must implement the traits that
/// it needs.
///
/// # Panics
///
/// The expansion panics for a game that is not built in. A [`Game`] that was parsed is always built
/// in.
///
/// ```
/// use outflank_games::{Game, Position, with_game};
///
/// let game: Game = "checkers".parse()?;
/// assert_eq!(with_game!(game, P => P::start().perft(2)), 49);
/// # Ok::<(), String>(())
/// ```
#[macro_export]
macro_rules! with_game {
    // The registry: the module and the position type of each built-in game, in the order of help
    // texts.
    (@registry $rule:ident $arguments:tt) => {
        $crate::with_game!(
            @$rule $arguments othello::Othello, checkers::Checkers, othello6::Othello6
        )
    };
    (@dispatch ($game:expr, $P:ident, $body:expr) $($module:ident::$type:ident),+) => {{
        let game: $crate::Game = $game;
        $(
            if game == <$crate::$module::$type as $crate::Position>::GAME {
                #[allow(dead_code)]
                type $P = $crate::$module::$type;
                $body
            } else
        )+ {
            unreachable!("{game} is not a built-in game")
        }
    }};
    (@games () $($module:ident::$type:ident),+) => {
        &[$(<$crate::$module::$type as $crate::Position>::GAME),+]
    };
    ($game:expr, $P:ident => $body:expr) => {
        $crate::with_game!(@registry dispatch ($game, $P, $body))
    };
}

/// Returns the built-in games, in the order of help texts.
#[must_use]
pub fn built_in_games() -> &'static [Game] {
    with_game!(@registry games ())
}
