//! Ratings of the embedded players.
//!
//! The ratings of each game come from a league. `data/` has its configuration for `outflank league
//! --config` (`othello.toml`) and the standings that the command wrote (`othello.csv`). A player of
//! the configuration without a line in the standings has no rating.

use crate::registry::EMBEDDED_PLAYERS;
use outflank_games::checkers::Checkers;
use outflank_games::othello::Othello;
use outflank_games::othello6::Othello6;
use outflank_games::{Game, Position};
use std::sync::OnceLock;

/// The rating of a player.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PlayerRating {
    /// The player specification.
    pub name: &'static str,
    /// The game.
    pub game: Game,
    /// The rating in Elo and the half-width of its 95% confidence interval, if the player is rated.
    pub rating: Option<(f64, f64)>,
}

/// The rating league of a game.
struct RatingLeague {
    game: Game,
    config: &'static str,
    standings: &'static str,
}

const LEAGUES: [RatingLeague; 3] = [
    RatingLeague {
        game: Othello::GAME,
        config: include_str!("../data/othello.toml"),
        standings: include_str!("../data/othello.csv"),
    },
    RatingLeague {
        game: Checkers::GAME,
        config: include_str!("../data/checkers.toml"),
        standings: include_str!("../data/checkers.csv"),
    },
    RatingLeague {
        game: Othello6::GAME,
        config: include_str!("../data/othello6.toml"),
        standings: include_str!("../data/othello6.csv"),
    },
];

/// Iterates over the rated players of each game by decreasing rating, followed by the unrated ones.
pub fn player_ratings() -> impl Iterator<Item = PlayerRating> {
    let rated = LEAGUES.iter().flat_map(|league| {
        standings(league).map(|(name, rating)| PlayerRating {
            name,
            game: league.game,
            rating: Some(rating),
        })
    });
    let unrated = LEAGUES.iter().flat_map(|league| {
        let is_rated = move |name: &str| standings(league).any(|(rated, _)| rated == name);
        let names = league_players(league).iter().map(String::as_str);
        let names = names.filter(move |name| !is_rated(name));
        names.map(|name| PlayerRating { name, game: league.game, rating: None })
    });
    rated.chain(unrated)
}

/// Returns the rating of a player specification, or `None` if it is not in the league of this game.
#[must_use]
pub fn player_rating(game: Game, name: &str) -> Option<PlayerRating> {
    player_ratings().find(|player| player.game == game && player.name == name)
}

/// Parses the standings of a league: rank, player, rating, error and further columns.
fn standings(league: &'static RatingLeague) -> impl Iterator<Item = (&'static str, (f64, f64))> {
    league.standings.lines().skip(1).filter_map(|line| {
        let mut cells = line.split(',').skip(1);
        let name = cells.next()?;
        Some((name, (cells.next()?.parse().ok()?, cells.next()?.parse().ok()?)))
    })
}

/// Returns the players of a league, followed by the embedded players that are not in it.
fn league_players(league: &'static RatingLeague) -> &'static [String] {
    static PLAYERS: OnceLock<Vec<(Game, Vec<String>)>> = OnceLock::new();
    let all = PLAYERS.get_or_init(|| LEAGUES.iter().map(|l| (l.game, names(l))).collect());
    all.iter().find(|(game, _)| *game == league.game).map_or(&[], |(_, names)| names)
}

/// Returns the names of the players of a league; see [`league_players`].
fn names(league: &RatingLeague) -> Vec<String> {
    let table: toml::Table = league.config.parse().unwrap_or_default();
    let players = table.get("players").and_then(toml::Value::as_array);
    let mut names: Vec<String> = players
        .into_iter()
        .flatten()
        .filter_map(|player| player.as_str().map(str::to_owned))
        .collect();
    for embedded in EMBEDDED_PLAYERS.iter().filter(|player| player.game == league.game) {
        if !names.iter().any(|name| name == embedded.name) {
            names.push(embedded.name.to_owned());
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::factory;
    use outflank_games::with_game;

    #[test]
    fn every_embedded_player_is_in_the_league() {
        for league in &LEAGUES {
            let table: toml::Table = league.config.parse().unwrap();
            assert_eq!(table["game"].as_str(), Some(league.game.name()));
            let players = table["players"].as_array().unwrap();
            let names: Vec<&str> = players.iter().filter_map(toml::Value::as_str).collect();
            assert_eq!(names.len(), players.len());
            for player in EMBEDDED_PLAYERS.iter().filter(|player| player.game == league.game) {
                assert!(names.contains(&player.name), "{} is not rated", player.name);
            }
            for name in names {
                let created = with_game!(league.game, P => factory::<P>(name).map(drop));
                assert!(created.is_ok(), "{name}: {created:?}");
                assert!(player_rating(league.game, name).is_some(), "{name}");
            }
        }
    }

    #[test]
    fn standings_are_parsed_without_duplicates() {
        let all: Vec<PlayerRating> = player_ratings().collect();
        for (index, player) in all.iter().enumerate() {
            let same =
                |other: &PlayerRating| (other.game, other.name) == (player.game, player.name);
            assert!(!all[..index].iter().any(same), "{} is listed twice", player.name);
        }
        for game in [Othello::GAME, Checkers::GAME] {
            let rating = |name| player_rating(game, name).and_then(|player| player.rating);
            assert!(rating("random").is_some_and(|(rating, error)| rating < 1200.0 && error > 0.0));
        }
    }
}
