//! Playing levels: opponents with a title, a description and a rating, from weakest to strongest.

use outflank_games::checkers::Checkers;
use outflank_games::othello::Othello;
use outflank_games::othello6::Othello6;
use outflank_games::{Game, Position};
use outflank_players::{PlayerRating, player_rating};

/// A playing level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Level {
    /// The game.
    pub game: Game,
    /// The player specification.
    pub player: &'static str,
    /// The title, such as `Club player`.
    pub title: &'static str,
    /// A description in one sentence.
    pub description: &'static str,
}

const fn othello(player: &'static str, title: &'static str, description: &'static str) -> Level {
    Level { game: Othello::GAME, player, title, description }
}

const fn checkers(player: &'static str, title: &'static str, description: &'static str) -> Level {
    Level { game: Checkers::GAME, player, title, description }
}

const fn othello6(player: &'static str, title: &'static str, description: &'static str) -> Level {
    Level { game: Othello6::GAME, player, title, description }
}

/// The levels of all games, each from weakest to strongest.
pub const LEVELS: [Level; 22] = [
    othello("random", "First steps", "Plays random legal moves."),
    othello("heuristic", "Newcomer", "Prefers corners; looks one move ahead."),
    othello("heuristic@4", "Casual", "Prefers corners; looks four moves ahead."),
    othello("ipref", "Club player", "Trained on expert games; looks one move ahead."),
    othello("champion", "Strong club player", "Trained by self-play; looks one move ahead."),
    othello("champion@2", "Tournament player", "Looks two moves ahead."),
    othello("champion@4e12", "Expert", "Looks four moves ahead; exact from 12 empty squares."),
    othello("champion@6e14", "Master", "Looks six moves ahead; exact from 14 empty squares."),
    othello(
        "champion@8e16",
        "Grandmaster",
        "Looks eight moves ahead; exact from 16 empty squares.",
    ),
    checkers("random", "First steps", "Plays random legal moves."),
    checkers("material", "Newcomer", "Counts pieces; looks one move ahead."),
    checkers("material@2", "Casual", "Counts pieces; looks two moves ahead."),
    checkers("material@4", "Club player", "Counts pieces; looks four moves ahead."),
    checkers("material@6", "Strong club player", "Counts pieces; looks six moves ahead."),
    checkers(
        "random@mcts1000",
        "Expert",
        "Monte Carlo tree search with 1000 simulations per move.",
    ),
    checkers("gp-checkers@8", "Master", "Trained by preference learning; looks eight moves ahead."),
    othello6("random", "First steps", "Plays random legal moves."),
    othello6("corners", "Newcomer", "Prefers corners; looks one move ahead."),
    othello6("corners@2", "Casual", "Prefers corners; looks two moves ahead."),
    othello6("corners@4", "Club player", "Prefers corners; looks four moves ahead."),
    othello6("corners@6", "Strong club player", "Prefers corners; looks six moves ahead."),
    othello6("corners@8", "Master", "Prefers corners; looks eight moves ahead."),
];

/// The title of the default level.
pub const DEFAULT_LEVEL: &str = "Casual";

impl Level {
    /// Returns the level's rating and its error, if it is rated.
    #[must_use]
    pub fn rating(&self) -> Option<(f64, f64)> {
        player_rating(self.game, self.player).and_then(|found: PlayerRating| found.rating)
    }
}

/// Returns the levels of a game, from weakest to strongest.
pub fn levels(game: Game) -> impl Iterator<Item = &'static Level> {
    LEVELS.iter().filter(move |level| level.game == game)
}

/// Finds a level by its title, ignoring case, spaces and hyphens.
#[must_use]
pub fn find_level(game: Game, title: &str) -> Option<&'static Level> {
    let normalize = |text: &str| -> String {
        text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
    };
    levels(game).find(|level| normalize(level.title) == normalize(title))
}

/// Finds the level with this player specification.
#[must_use]
pub fn level_for_player(game: Game, player: &str) -> Option<&'static Level> {
    levels(game).find(|level| level.player == player)
}

#[cfg(test)]
mod tests {
    use super::*;
    use outflank_games::built_in_games;

    #[test]
    fn levels_are_rated_in_increasing_order() {
        for &game in built_in_games() {
            let ratings: Vec<f64> = levels(game).map(|l| l.rating().expect(l.player).0).collect();
            assert!(ratings.is_sorted(), "{ratings:?}");
            assert!(find_level(game, DEFAULT_LEVEL).is_some());
        }
    }

    #[test]
    fn titles_ignore_case_spaces_and_hyphens() {
        for text in ["Strong club player", "strong-club-player", "STRONGCLUBPLAYER"] {
            assert_eq!(find_level(Othello::GAME, text).map(|l| l.player), Some("champion"));
        }
        assert_eq!(find_level(Othello::GAME, "no such level"), None);
        assert_eq!(level_for_player(Checkers::GAME, "material@2").map(|l| l.title), Some("Casual"));
    }
}
