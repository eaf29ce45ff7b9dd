//! Test helpers that check the contract of [`Player`] for any player and game.
//!
//! ```
//! use outflank_games::othello6::Othello6;
//! use outflank_players::{Mcts, contract::check_player};
//!
//! check_player::<Othello6>("mcts", || Box::new(Mcts::new(20)));
//! ```

use crate::{Player, PlayerError};
use outflank_games::{Line, Position};
use outflank_runs::Rng;
use outflank_runs::rng::stream;

/// A game with more moves than this is taken to be endless.
const MAX_MOVES: usize = 3000;

/// Plays one game of a player against itself with a seeded generator.
fn play_game<P: Position>(name: &str, player: &mut dyn Player<P>, seed: u64) -> Line<P> {
    let mut rng: Rng = stream(seed, &["contract"]);
    let mut line: Line<P> = Line::default();
    player.new_game().unwrap_or_else(|error| panic!("{name} does not start: {error}"));
    while !line.position().is_over() {
        let mv = player.choose(&line, &mut rng).unwrap_or_else(|error| panic!("{name}: {error}"));
        line.push(mv).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(line.moves().len() < MAX_MOVES, "{name} never ends");
    }
    line
}

/// Checks a player by games against itself: its moves are legal, depend only on the game and the
/// random generator, and not on earlier games; it can start in the middle of a game and refuses a
/// finished one. `make` creates the player.
///
/// # Panics
///
/// Panics with the name and the property if the contract is violated.
pub fn check_player<P: Position>(name: &str, make: impl Fn() -> Box<dyn Player<P>>) {
    let first = play_game(name, &mut *make(), 1);
    assert_eq!(play_game(name, &mut *make(), 1), first, "{name} is not determined by its seed");
    let mut reused = make();
    play_game(name, &mut *reused, 2);
    assert_eq!(play_game(name, &mut *reused, 1), first, "{name} depends on an earlier game");

    let mut partial = Line::new(*first.start());
    let half = first.moves().len() / 2;
    for &mv in &first.moves()[..half] {
        partial.push(mv).unwrap_or_else(|error| panic!("{name}: {error}"));
    }
    let mut rng = stream(3, &["contract"]);
    let mv = make().choose(&partial, &mut rng).unwrap_or_else(|error| panic!("{name}: {error}"));
    assert!(partial.position().is_legal(mv), "{name} plays {mv} in {}", partial.position());

    let refused = make().choose(&first, &mut rng);
    assert!(
        matches!(refused, Err(PlayerError::Refused { .. })),
        "{name} does not refuse a finished game: {refused:?}"
    );
}
