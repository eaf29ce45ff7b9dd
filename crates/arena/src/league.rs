//! A round robin of many players.

use crate::contest::{ContestConfig, ContestError, ContestEvent, ContestGame, play_contest};
use crate::matches::{Forfeit, MatchReport, Resignation, forfeits, resignations};
use crate::ratings::{self, PairResult, RatingConfig, RatingError, Ratings};
use crate::tally::{Tally, distinct_games};
use outflank_games::Position;
use outflank_players::PlayerFactory;
use outflank_runs::Journal;
use serde::Serialize;

/// An error of a league.
#[derive(Debug, thiserror::Error)]
pub enum LeagueError {
    /// The games could not be played.
    #[error(transparent)]
    Contest(#[from] ContestError),
    /// The results cannot be rated.
    #[error("the players cannot be rated: {0}")]
    Rating(#[from] RatingError),
}

/// A player's row in the ranking.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Standing {
    /// The player.
    pub name: String,
    /// The rating; the mean of all ratings is 1600.
    pub rating: f64,
    /// The half-width of the rating's 95% confidence interval.
    #[serde(rename = "error")]
    pub half_width: f64,
    /// Points: 1 for a win, 0.5 for a draw.
    pub points: f64,
    /// Games played.
    pub games: u64,
    /// Points as a percentage of games.
    pub percent: f64,
}

/// The result of a league.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LeagueReport {
    /// The players, ordered by rating.
    pub players: Vec<Standing>,
    /// Points of the row's player against the column's.
    #[serde(rename = "table")]
    pub cross_table: Vec<Vec<f64>>,
    /// Likelihood of superiority of the row's player over the column's, 0 to 1.
    pub los: Vec<Vec<f64>>,
    /// Black's advantage in Elo and the half-width of its 95% confidence interval; 0 unless the
    /// advantage was fitted or given.
    pub advantage: (f64, f64),
    /// The draw parameter (BayesElo's drawelo) in Elo and the half-width of its 95% confidence
    /// interval; 0 unless the parameter was fitted or given.
    pub draw_elo: (f64, f64),
    /// Virtual games per player that keep ratings finite; 0 if none are needed.
    pub virtual_games: f64,
    /// Games that differ in their start or their moves.
    pub distinct_games: u64,
    /// Games that were forfeited.
    pub forfeits: Vec<Forfeit>,
    /// Games that were resigned.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub resignations: Vec<Resignation>,
    /// Whether all games were played.
    pub complete: bool,
}

/// All games of a league, in the order of its pairs.
#[derive(Clone, Debug)]
pub struct League<P: Position> {
    /// The names of the players.
    pub names: Vec<String>,
    /// The games.
    pub games: Vec<ContestGame<P>>,
    /// Whether all games were played.
    pub complete: bool,
}

/// Plays the games of every pair.
///
/// After each job, `on_progress` receives the number of its games and the number of those that
/// were played now (not read from the journal). It returns whether to continue.
pub fn play_league<P: Position>(
    factories: &[PlayerFactory<P>],
    config: &ContestConfig<P>,
    journal: Option<(Journal, Vec<String>)>,
    mut on_progress: impl FnMut(u64, u64) -> bool,
) -> Result<League<P>, ContestError> {
    let pairs: Vec<(usize, usize)> =
        (0..factories.len()).flat_map(|i| (i + 1..factories.len()).map(move |j| (i, j))).collect();
    let mut games = Vec::new();
    let mut proceed = true;
    let not_stopped = play_contest(factories, &pairs, config, journal, |event| {
        match event {
            ContestEvent::Games(mut played, new) => {
                proceed = on_progress(played.len() as u64, new as u64);
                games.append(&mut played);
            }
            ContestEvent::Restarted => games.clear(),
        }
        proceed
    })?;
    Ok(League {
        names: factories.iter().map(|factory| factory.name.clone()).collect(),
        games,
        complete: not_stopped && proceed,
    })
}

impl<P: Position> League<P> {
    /// Computes the cross table and the ratings of all players.
    pub fn report(&self, config: &RatingConfig) -> Result<LeagueReport, LeagueError> {
        let all: Vec<usize> = (0..self.names.len()).collect();
        self.report_among(&all, config)
    }

    /// Reports the games of two players as a match, from `a`'s side.
    #[must_use]
    pub fn match_report(&self, a: usize, b: usize) -> MatchReport {
        // In the match, player 0 is `a` and player 1 is `b`.
        let match_index = |player: usize| usize::from(player == b);
        let games: Vec<ContestGame<P>> = self
            .games
            .iter()
            .filter(|g| (g.black, g.white) == (a, b) || (g.black, g.white) == (b, a))
            .map(|g| ContestGame {
                black: match_index(g.black),
                white: match_index(g.white),
                ..g.clone()
            })
            .collect();
        MatchReport::from_games(
            &[self.names[a].clone(), self.names[b].clone()],
            &games,
            self.complete,
        )
    }

    /// Computes the cross table and the ratings of some players from their games against each
    /// other.
    pub fn report_among(
        &self,
        players: &[usize],
        config: &RatingConfig,
    ) -> Result<LeagueReport, LeagueError> {
        // The order of the players determines the order of summation in the fit. Sorting by name
        // makes the ratings bit-identical for every order.
        let mut players = players.to_vec();
        players.sort_by(|&a, &b| self.names[a].cmp(&self.names[b]));
        let mut row_of = vec![None; self.names.len()];
        for (row, &player) in players.iter().enumerate() {
            row_of[player] = Some(row);
        }
        let n = players.len();
        let games: Vec<&ContestGame<P>> = self
            .games
            .iter()
            .filter(|game| row_of[game.black].is_some() && row_of[game.white].is_some())
            .collect();
        // The row is the black player, the column the white player.
        let mut tallies = vec![Tally::default(); n * n];
        for game in &games {
            if let (Some(black), Some(white)) = (row_of[game.black], row_of[game.white]) {
                let tally = &mut tallies[black * n + white];
                match game.played.half_points() {
                    2 => tally.wins += 1,
                    1 => tally.draws += 1,
                    _ => tally.losses += 1,
                }
            }
        }
        let pairs: Vec<PairResult> = (0..n * n)
            .filter(|&cell| tallies[cell].games() > 0)
            .map(|cell| PairResult {
                first: cell / n,
                second: cell % n,
                wins: tallies[cell].wins as f64,
                draws: tallies[cell].draws as f64,
                losses: tallies[cell].losses as f64,
            })
            .collect();
        let ratings = ratings::fit(n, &pairs, config)?;
        let points = |a: usize, b: usize| {
            tallies[a * n + b].points() + tallies[b * n + a].swapped().points()
        };
        let names: Vec<String> = players.iter().map(|&p| self.names[p].clone()).collect();
        let forfeits = forfeits(&self.names, &self.games)
            .into_iter()
            .filter(|game| names.contains(&game.player) && names.contains(&game.opponent))
            .collect();
        let resignations = resignations(&self.names, &self.games)
            .into_iter()
            .filter(|game| names.contains(&game.player) && names.contains(&game.opponent))
            .collect();
        let distinct = distinct_games(games);
        let report = build_report(&names, &ratings, points, distinct, self.complete);
        Ok(LeagueReport { forfeits, resignations, ..report })
    }
}

/// Builds the report, with empty lists of forfeits and resignations, which the caller adds.
///
/// Players are sorted by rating, then by name, so the report does not depend on their order.
fn build_report(
    names: &[String],
    ratings: &Ratings,
    points: impl Fn(usize, usize) -> f64,
    distinct_games: u64,
    complete: bool,
) -> LeagueReport {
    let mut order: Vec<usize> = (0..names.len()).collect();
    order.sort_by(|&a, &b| {
        let rating = |i: usize| ratings.ratings[i].value;
        rating(b).total_cmp(&rating(a)).then_with(|| names[a].cmp(&names[b]))
    });
    let players = order
        .iter()
        .map(|&i| Standing {
            name: names[i].clone(),
            rating: ratings.ratings[i].value,
            half_width: ratings.ratings[i].half_width,
            points: ratings.points[i],
            games: ratings.games[i] as u64,
            percent: if ratings.games[i] > 0.0 {
                100.0 * ratings.points[i] / ratings.games[i]
            } else {
                0.0
            },
        })
        .collect();
    let matrix = |cell: &dyn Fn(usize, usize) -> f64| {
        order.iter().map(|&a| order.iter().map(|&b| cell(a, b)).collect()).collect()
    };
    LeagueReport {
        players,
        cross_table: matrix(&|a, b| if a == b { 0.0 } else { points(a, b) }),
        los: matrix(&|a, b| ratings.los(a, b)),
        advantage: (ratings.advantage.value, ratings.advantage.half_width),
        draw_elo: (ratings.draw_elo.value, ratings.draw_elo.half_width),
        virtual_games: ratings.virtual_games,
        distinct_games,
        forfeits: Vec::new(),
        resignations: Vec::new(),
        complete,
    }
}
