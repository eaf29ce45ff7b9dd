//! A round robin of many players.

use crate::contest::{ContestError, Game, ContestConfig, contest};
use crate::matches::{Forfeit, MatchReport, faults, meeting};
use crate::ratings::{self, PairResult, RatingConfig, RatingError, Ratings};
use crate::tally::{Tally, distinct};
use outflank_games::Position;
use outflank_players::PlayerFactory;
use outflank_runs::Journal;
use serde::Serialize;

/// Why a league has no table.
#[derive(Debug, thiserror::Error)]
pub enum LeagueError {
    /// Games could not be played.
    #[error(transparent)]
    Contest(#[from] ContestError),
    /// The results cannot be rated.
    #[error("the players cannot be rated: {0}")]
    Rating(#[from] RatingError),
}

/// A player's line in the table.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Standing {
    /// Who.
    pub name: String,
    /// The rating, the mean of all being 1600.
    pub rating: f64,
    /// The half-width of its 95% interval.
    pub error: f64,
    /// Points: 1 for a win, half for a draw.
    pub points: f64,
    /// Games played.
    pub games: u64,
    /// Points in a hundred games.
    pub percent: f64,
}

/// What a league came to; players in order of their rating.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LeagueReport {
    /// The players, the best first.
    pub players: Vec<Standing>,
    /// Points of the row's player against the column's.
    pub table: Vec<Vec<f64>>,
    /// The chance that the row's player is stronger than the column's.
    pub superiority: Vec<Vec<f64>>,
    /// The advantage of Black in Elo, and its error; 0 unless it was fitted or given.
    pub advantage: (f64, f64),
    /// The draw parameter in Elo, and its error; 0 unless it was fitted or given.
    pub draw_elo: (f64, f64),
    /// Virtual games for each player that were needed to keep ratings finite.
    pub virtual_games: f64,
    /// How many games differ in their start or their moves.
    pub distinct_games: u64,
    /// Games that were lost by failing.
    pub faults: Vec<Forfeit>,
    /// Whether all games were played.
    pub complete: bool,
}

/// All games of a league, in the order of its pairs.
#[derive(Clone, Debug)]
pub struct League<P: Position> {
    /// Who played.
    pub names: Vec<String>,
    /// The games.
    pub games: Vec<Game<P>>,
    /// Whether all were played.
    pub complete: bool,
}

/// Plays every pair. `watch` sees how many games were handed over and how many of them are new.
pub fn play_league<P: Position>(
    entries: &[PlayerFactory<P>],
    terms: &ContestConfig<P>,
    journal: Option<(Journal, Vec<String>)>,
    mut watch: impl FnMut(u64, u64),
) -> Result<League<P>, ContestError> {
    let pairs: Vec<(usize, usize)> =
        (0..entries.len()).flat_map(|i| (i + 1..entries.len()).map(move |j| (i, j))).collect();
    let mut games = Vec::new();
    let complete = contest(entries, &pairs, terms, journal, |mut stretch, new| {
        watch(stretch.len() as u64, new as u64);
        games.append(&mut stretch);
        true
    })?;
    Ok(League { names: entries.iter().map(|entry| entry.name.clone()).collect(), games, complete })
}

impl<P: Position> League<P> {
    /// The table and ratings of all players.
    pub fn report(&self, options: &RatingConfig) -> Result<LeagueReport, LeagueError> {
        let everyone: Vec<usize> = (0..self.names.len()).collect();
        self.report_of(&everyone, options)
    }

    /// The games of two players as a match, from the first one's side.
    #[must_use]
    pub fn meeting(&self, a: usize, b: usize) -> MatchReport {
        let renamed = |player: usize| usize::from(player == b);
        let games: Vec<Game<P>> = self
            .games
            .iter()
            .filter(|g| (g.black, g.white) == (a, b) || (g.black, g.white) == (b, a))
            .map(|g| Game { black: renamed(g.black), white: renamed(g.white), ..g.clone() })
            .collect();
        meeting(&[self.names[a].clone(), self.names[b].clone()], &games, self.complete)
    }

    /// The table and ratings of some players from the games among them.
    pub fn report_of(
        &self,
        players: &[usize],
        options: &RatingConfig,
    ) -> Result<LeagueReport, LeagueError> {
        // The fit adds in the order of the players; sorted by name, the last bit of a rating does
        // not depend on who was listed first.
        let mut players = players.to_vec();
        players.sort_by(|&a, &b| self.names[a].cmp(&self.names[b]));
        let mut place = vec![None; self.names.len()];
        for (own, &player) in players.iter().enumerate() {
            place[player] = Some(own);
        }
        let n = players.len();
        let games: Vec<&Game<P>> = self
            .games
            .iter()
            .filter(|game| place[game.black].is_some() && place[game.white].is_some())
            .collect();
        // Row has Black, column has White.
        let mut tallies = vec![Tally::default(); n * n];
        for game in &games {
            if let (Some(black), Some(white)) = (place[game.black], place[game.white]) {
                let tally = &mut tallies[black * n + white];
                match game.played.half_points() {
                    2 => tally.wins += 1,
                    1 => tally.draws += 1,
                    _ => tally.losses += 1,
                }
            }
        }
        let meetings: Vec<PairResult> = (0..n * n)
            .filter(|&cell| tallies[cell].games() > 0)
            .map(|cell| PairResult {
                first: cell / n,
                second: cell % n,
                wins: tallies[cell].wins as f64,
                draws: tallies[cell].draws as f64,
                losses: tallies[cell].losses as f64,
            })
            .collect();
        let ratings = ratings::fit(n, &meetings, options)?;
        let points = |a: usize, b: usize| {
            tallies[a * n + b].points() + tallies[b * n + a].mirrored().points()
        };
        let names: Vec<String> = players.iter().map(|&p| self.names[p].clone()).collect();
        let notes = faults(&self.names, &self.games)
            .into_iter()
            .filter(|note| names.contains(&note.player) && names.contains(&note.opponent))
            .collect();
        Ok(assemble(&names, &ratings, points, distinct(games), notes, self.complete))
    }
}

/// The report in order of rating, then of name, so that it does not depend on who was listed first.
fn assemble(
    names: &[String],
    ratings: &Ratings,
    points: impl Fn(usize, usize) -> f64,
    distinct_games: u64,
    faults: Vec<Forfeit>,
    complete: bool,
) -> LeagueReport {
    let mut order: Vec<usize> = (0..names.len()).collect();
    order.sort_by(|&a, &b| {
        let key = |i: usize| ratings.ratings[i].value;
        key(b).total_cmp(&key(a)).then_with(|| names[a].cmp(&names[b]))
    });
    let players = order
        .iter()
        .map(|&i| Standing {
            name: names[i].clone(),
            rating: ratings.ratings[i].value,
            error: ratings.ratings[i].error,
            points: ratings.points[i],
            games: ratings.games[i] as u64,
            percent: if ratings.games[i] > 0.0 {
                100.0 * ratings.points[i] / ratings.games[i]
            } else {
                0.0
            },
        })
        .collect();
    let grid = |cell: &dyn Fn(usize, usize) -> f64| {
        order.iter().map(|&a| order.iter().map(|&b| cell(a, b)).collect()).collect()
    };
    LeagueReport {
        players,
        table: grid(&|a, b| if a == b { 0.0 } else { points(a, b) }),
        superiority: grid(&|a, b| ratings.superiority(a, b)),
        advantage: (ratings.advantage.value, ratings.advantage.error),
        draw_elo: (ratings.drawelo.value, ratings.drawelo.error),
        virtual_games: ratings.needed,
        distinct_games,
        faults,
        complete,
    }
}
