//! Opponents in plain words, from the weakest to the strongest, with their ratings.

use outflank_games::Game;
use outflank_players::{PlayerRating, player_rating};

/// An opponent in plain words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Level {
    /// What it plays.
    pub game: Game,
    /// Who it is, as players are written.
    pub player: &'static str,
    /// What it is called.
    pub title: &'static str,
    /// In a sentence.
    pub about: &'static str,
}

/// A level of Othello.
const fn othello(player: &'static str, title: &'static str, about: &'static str) -> Level {
    Level { game: Game::Othello, player, title, about }
}

/// A level of checkers.
const fn checkers(player: &'static str, title: &'static str, about: &'static str) -> Level {
    Level { game: Game::Checkers, player, title, about }
}

/// From the weakest to the strongest of each game.
pub const LEVELS: [Level; 16] = [
    othello("random", "First steps", "Plays any legal move."),
    othello("heuristic", "Newcomer", "Likes corners, sees one move ahead."),
    othello("heuristic@4", "Casual", "Likes corners, sees four moves ahead."),
    othello("ipref", "Club player", "Plays by feel, as experts chose; does not calculate."),
    othello("champion", "Strong club player", "Learned by itself; does not calculate."),
    othello("champion@2", "Tournament player", "Looks two moves ahead."),
    othello("champion@4e12", "Expert", "Looks four moves ahead; the last twelve without error."),
    othello("champion@6e14", "Master", "Looks six moves ahead; the last fourteen without error."),
    othello(
        "champion@8e16",
        "Grandmaster",
        "Looks eight moves ahead; the last sixteen without error.",
    ),
    checkers("random", "First steps", "Plays any legal move."),
    checkers("material", "Newcomer", "Counts pieces, sees one move ahead."),
    checkers("material@2", "Casual", "Counts pieces, sees two moves ahead."),
    checkers("material@4", "Club player", "Counts pieces, sees four moves ahead."),
    checkers("material@6", "Strong club player", "Counts pieces, sees six moves ahead."),
    checkers("random@mcts1000", "Expert", "Plays a thousand games in its head for each move."),
    checkers("gp-checkers@8", "Master", "Learned what counts, sees eight moves ahead."),
];

/// The level that one meets who asked for none, at the terminal and on the page.
pub const FIRST: &str = "Casual";

impl Level {
    /// Its rating, if it was rated.
    #[must_use]
    pub fn rating(&self) -> Option<(f64, f64)> {
        player_rating(self.game, self.player).and_then(|found: PlayerRating| found.rating)
    }
}

/// The levels of a game.
pub fn levels(game: Game) -> impl Iterator<Item = &'static Level> {
    LEVELS.iter().filter(move |level| level.game == game)
}

/// The level of a game that is called so: case, spaces and hyphens do not matter.
#[must_use]
pub fn level(game: Game, title: &str) -> Option<&'static Level> {
    let plain = |text: &str| -> String {
        text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
    };
    levels(game).find(|level| plain(level.title) == plain(title))
}

/// The level that a player is, if it is one.
#[must_use]
pub fn level_of(game: Game, player: &str) -> Option<&'static Level> {
    levels(game).find(|level| level.player == player)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_rated_and_grow_stronger() {
        for game in [Game::Othello, Game::Checkers] {
            let ratings: Vec<f64> = levels(game).map(|l| l.rating().expect(l.player).0).collect();
            assert!(ratings.is_sorted(), "{ratings:?}");
            assert!(level(game, FIRST).is_some());
        }
    }

    #[test]
    fn levels_are_found_by_their_words() {
        for text in ["Strong club player", "strong-club-player", "STRONGCLUBPLAYER"] {
            assert_eq!(level(Game::Othello, text).map(|l| l.player), Some("champion"));
        }
        assert_eq!(level(Game::Othello, "godlike"), None);
        assert_eq!(level_of(Game::Checkers, "material@2").map(|l| l.title), Some("Casual"));
    }
}
