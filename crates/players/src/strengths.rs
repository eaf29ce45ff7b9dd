//! How strong players are: the one table that the program, the terminal and the page show.
//!
//! `results/players` holds for each game the league in which embedded players are rated
//! (`othello.toml`, which `outflank league --config` plays) and its standings as that command wrote
//! them (`othello.csv`). Both are part of the program; a player of the league that has no standing
//! yet is listed without a rating.

use crate::registry::EMBEDDED_PLAYERS;
use outflank_games::Game;
use std::sync::OnceLock;

/// How strong a player is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Strength {
    /// The player, as it is written.
    pub name: &'static str,
    /// What it plays.
    pub game: Game,
    /// Its rating and the half-width of the 95% interval, if it was rated.
    pub rating: Option<(f64, f64)>,
}

/// The league of a game and its standings.
struct League {
    game: Game,
    definition: &'static str,
    standings: &'static str,
}

const LEAGUES: [League; 2] = [
    League {
        game: Game::Othello,
        definition: include_str!("../../../results/players/othello.toml"),
        standings: include_str!("../../../results/players/othello.csv"),
    },
    League {
        game: Game::Checkers,
        definition: include_str!("../../../results/players/checkers.toml"),
        standings: include_str!("../../../results/players/checkers.csv"),
    },
];

/// Every player that was rated, the best of each game first, then those that were not.
pub fn strengths() -> impl Iterator<Item = Strength> {
    let rated = LEAGUES.iter().flat_map(|league| {
        rows(league).map(|(name, rating)| Strength {
            name,
            game: league.game,
            rating: Some(rating),
        })
    });
    let unrated = LEAGUES.iter().flat_map(|league| {
        let known = move |name: &str| rows(league).any(|(rated, _)| rated == name);
        let entered = entered(league.game).iter().map(String::as_str);
        let names = entered.filter(move |name| !known(name));
        names.map(|name| Strength { name, game: league.game, rating: None })
    });
    rated.chain(unrated)
}

/// How strong one player is, as it is written; `None` when it is not in the league of this game.
#[must_use]
pub fn strength(game: Game, name: &str) -> Option<Strength> {
    strengths().find(|strength| strength.game == game && strength.name == name)
}

/// The players and ratings of a league's standings: rank, player, rating, error and so on.
fn rows(league: &'static League) -> impl Iterator<Item = (&'static str, (f64, f64))> {
    league.standings.lines().skip(1).filter_map(|line| {
        let mut cells = line.split(',').skip(1);
        let name = cells.next()?;
        Some((name, (cells.next()?.parse().ok()?, cells.next()?.parse().ok()?)))
    })
}

/// Who is entered in the league of a game, and whoever is part of the program without being so.
fn entered(game: Game) -> &'static [String] {
    static ENTERED: OnceLock<[Vec<String>; 2]> = OnceLock::new();
    let [othello, checkers] = ENTERED.get_or_init(|| {
        [0, 1].map(|place: usize| {
            let League { game, definition, .. } = &LEAGUES[place];
            let table: toml::Table = definition.parse().unwrap_or_default();
            let players = table.get("players").and_then(toml::Value::as_array);
            let mut names: Vec<String> = players
                .into_iter()
                .flatten()
                .filter_map(|player| player.as_str().map(str::to_owned))
                .collect();
            let missing = EMBEDDED_PLAYERS.iter().filter(|known| known.game == *game);
            for known in missing {
                if !names.iter().any(|name| name == known.name) {
                    names.push(known.name.to_owned());
                }
            }
            names
        })
    });
    match game {
        Game::Othello => othello,
        Game::Checkers => checkers,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::factory;
    use outflank_games::checkers::Checkers;
    use outflank_games::othello::Othello;

    /// The league rates everybody who is part of the program, and everybody in it can be had.
    #[test]
    fn the_league_has_every_embedded_player() {
        for league in &LEAGUES {
            let table: toml::Table = league.definition.parse().unwrap();
            assert_eq!(table["game"].as_str(), Some(league.game.name()));
            let players = table["players"].as_array().unwrap();
            let names: Vec<&str> = players.iter().filter_map(toml::Value::as_str).collect();
            assert_eq!(names.len(), players.len());
            for known in EMBEDDED_PLAYERS.iter().filter(|known| known.game == league.game) {
                assert!(names.contains(&known.name), "{} is not rated", known.name);
            }
            for name in names {
                let made = match league.game {
                    Game::Othello => factory::<Othello>(name).map(drop),
                    Game::Checkers => factory::<Checkers>(name).map(drop),
                };
                assert!(made.is_ok(), "{name}: {made:?}");
                assert!(strength(league.game, name).is_some(), "{name}");
            }
        }
    }

    #[test]
    fn standings_are_read_and_nobody_is_listed_twice() {
        let all: Vec<Strength> = strengths().collect();
        for (place, one) in all.iter().enumerate() {
            let again = |other: &Strength| (other.game, other.name) == (one.game, one.name);
            assert!(!all[..place].iter().any(again), "{} twice", one.name);
        }
        for game in [Game::Othello, Game::Checkers] {
            let rating = |name| strength(game, name).and_then(|found| found.rating);
            assert!(rating("random").is_some_and(|(rating, error)| rating < 1200.0 && error > 0.0));
        }
    }
}
