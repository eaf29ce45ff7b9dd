//! A match between two players.

use crate::contest::{ContestConfig, ContestError, ContestEvent, ContestGame, play_contest};
use crate::game::{EarlyEnd, EarlyEndReason};
use crate::score::Score;
use crate::sprt::{Sprt, SprtDecision};
use crate::tally::{Tally, distinct_games};
use outflank_games::{Position, Side};
use outflank_players::PlayerFactory;
use outflank_runs::Journal;
use serde::Serialize;

/// A game that a player lost by an error, such as a crash, a timeout or an illegal move.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Forfeit {
    /// The player that forfeited.
    pub player: String,
    /// Its opponent.
    pub opponent: String,
    /// The round, from 1.
    pub round: u32,
    /// The error.
    pub error: String,
}

/// A game that a player resigned.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Resignation {
    /// The player that resigned.
    pub player: String,
    /// Its opponent.
    pub opponent: String,
    /// The round, from 1.
    pub round: u32,
}

/// The state of the sequential test of a match.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SprtStatus {
    /// The difference under H0, in Elo.
    pub elo0: f64,
    /// The difference under H1, in Elo.
    pub elo1: f64,
    /// The probability of accepting H1 when H0 holds.
    pub alpha: f64,
    /// The probability of accepting H0 when H1 holds.
    pub beta: f64,
    /// The log-likelihood ratio.
    pub llr: f64,
    /// The bound at which H0 is accepted.
    pub lower: f64,
    /// The bound at which H1 is accepted.
    pub upper: f64,
    /// `H0`, `H1` or `undecided`.
    pub result: &'static str,
}

impl SprtStatus {
    /// Computes the state of a test from pentanomial counts.
    fn new(sprt: &Sprt, pentanomial: [u64; 5]) -> SprtStatus {
        let llr = sprt.llr_of_pairs(pentanomial);
        let (elo0, elo1) = sprt.hypotheses();
        let (alpha, beta) = sprt.error_rates();
        let (lower, upper) = sprt.bounds();
        let result = match sprt.decision(llr) {
            SprtDecision::AcceptH0 => "H0",
            SprtDecision::AcceptH1 => "H1",
            SprtDecision::Undecided => "undecided",
        };
        SprtStatus { elo0, elo1, alpha, beta, llr, lower, upper, result }
    }
}

/// The result of a match, from the first player's side.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MatchReport {
    /// The first player.
    pub a: String,
    /// The second player.
    pub b: String,
    /// Games played.
    pub games: u64,
    /// Games won by the first player.
    pub wins: u64,
    /// Games drawn.
    pub draws: u64,
    /// Games lost by the first player.
    pub losses: u64,
    /// Points per game, 0 to 1.
    pub score: f64,
    /// The half-width of the score's 95% confidence interval. It is computed from pairs of games
    /// with colors swapped, or from single games if a pair is incomplete; the same holds for
    /// `elo_interval` and `los`.
    #[serde(rename = "error")]
    pub half_width: f64,
    /// The Elo difference; `None` if it is infinite.
    pub elo: Option<f64>,
    /// The 95% confidence interval of the Elo difference; `None` for an infinite end.
    pub elo_interval: (Option<f64>, Option<f64>),
    /// The likelihood of superiority of the first player.
    pub los: f64,
    /// Pentanomial counts: the number of rounds in which the first player scored 0, 0.5, 1, 1.5
    /// and 2 points.
    pub pentanomial: [u64; 5],
    /// Games that differ in their start or their moves.
    pub distinct_games: u64,
    /// The sequential test, if there is one.
    pub sprt: Option<SprtStatus>,
    /// Games that were forfeited.
    pub forfeits: Vec<Forfeit>,
    /// Games that were resigned.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub resignations: Vec<Resignation>,
    /// Whether all games were played or the test is decided.
    pub complete: bool,
}

/// Plays a match.
///
/// After each job, `on_progress` receives the tally of all games so far and the number of games of
/// the job that were played now (not read from the journal). It returns whether to continue.
///
/// `journal` records finished games; the strings are the lines that it already contains.
pub fn play_match<P: Position>(
    factories: &[PlayerFactory<P>; 2],
    config: &ContestConfig<P>,
    sprt: Option<Sprt>,
    journal: Option<(Journal, Vec<String>)>,
    mut on_progress: impl FnMut(&Tally, u64) -> bool,
) -> Result<(MatchReport, Vec<ContestGame<P>>), ContestError> {
    let mut tally = Tally::default();
    let mut games: Vec<ContestGame<P>> = Vec::new();
    let (mut decided, mut proceed) = (false, true);
    let not_stopped = play_contest(factories, &[(0, 1)], config, journal, |event| {
        let ContestEvent::Games(mut played, new) = event else {
            tally = Tally::default();
            games.clear();
            decided = false;
            return true;
        };
        if let Some(sprt) = &sprt {
            // The test is evaluated after every round, so that its end does not depend on how
            // rounds are grouped into jobs.
            let mut used_games = 0;
            for round in played.chunk_by(|a, b| a.round == b.round) {
                tally.add(0, round);
                used_games += round.len();
                let llr = sprt.llr_of_pairs(tally.pentanomial);
                if sprt.decision(llr) != SprtDecision::Undecided {
                    decided = true;
                    break;
                }
            }
            played.truncate(used_games);
        } else {
            tally.add(0, &played);
        }
        games.append(&mut played);
        proceed = on_progress(&tally, new as u64);
        proceed && !decided
    })?;
    let names = [factories[0].name.clone(), factories[1].name.clone()];
    let report = MatchReport::new(&names, &tally, &games, sprt, not_stopped && proceed || decided);
    Ok((report, games))
}

impl MatchReport {
    /// Reports games between player 0 and player 1, given round by round.
    pub(crate) fn from_games<P: Position>(
        names: &[String; 2],
        games: &[ContestGame<P>],
        complete: bool,
    ) -> MatchReport {
        let mut tally = Tally::default();
        tally.add(0, games);
        MatchReport::new(names, &tally, games, None, complete)
    }

    fn new<P: Position>(
        names: &[String; 2],
        tally: &Tally,
        games: &[ContestGame<P>],
        sprt: Option<Sprt>,
        complete: bool,
    ) -> MatchReport {
        let all_paired = 2 * tally.pentanomial.iter().sum::<u64>() == tally.games();
        let score = if all_paired {
            Score::of_pairs(tally.pentanomial)
        } else {
            Score::of_games(tally.wins, tally.draws, tally.losses)
        };
        MatchReport {
            a: names[0].clone(),
            b: names[1].clone(),
            games: tally.games(),
            wins: tally.wins,
            draws: tally.draws,
            losses: tally.losses,
            score: score.score,
            half_width: score.half_width,
            elo: score.elo,
            elo_interval: (score.elo_low, score.elo_high),
            los: score.los,
            pentanomial: tally.pentanomial,
            distinct_games: distinct_games(games),
            sprt: sprt.map(|sprt| SprtStatus::new(&sprt, tally.pentanomial)),
            forfeits: forfeits(names, games),
            resignations: resignations(names, games),
            complete,
        }
    }

    /// The ends of the score's 95% confidence interval, clipped to 0..1.
    #[must_use]
    pub fn score_interval(&self) -> (f64, f64) {
        ((self.score - self.half_width).max(0.0), (self.score + self.half_width).min(1.0))
    }
}

/// Lists the games that a player forfeited by an error.
pub(crate) fn forfeits<P: Position>(names: &[String], games: &[ContestGame<P>]) -> Vec<Forfeit> {
    let forfeit = |game: &ContestGame<P>| match game.played.early_end.as_ref()? {
        EarlyEnd { loser, reason: EarlyEndReason::Failed(error) } => {
            let (player, opponent) = loser_and_winner(names, game, *loser);
            Some(Forfeit { player, opponent, round: game.round + 1, error: error.clone() })
        }
        EarlyEnd { reason: EarlyEndReason::Resigned, .. } => None,
    };
    games.iter().filter_map(forfeit).collect()
}

/// Lists the games that a player resigned.
pub(crate) fn resignations<P: Position>(
    names: &[String],
    games: &[ContestGame<P>],
) -> Vec<Resignation> {
    let resignation = |game: &ContestGame<P>| match game.played.early_end.as_ref()? {
        EarlyEnd { loser, reason: EarlyEndReason::Resigned } => {
            let (player, opponent) = loser_and_winner(names, game, *loser);
            Some(Resignation { player, opponent, round: game.round + 1 })
        }
        EarlyEnd { reason: EarlyEndReason::Failed(_), .. } => None,
    };
    games.iter().filter_map(resignation).collect()
}

/// Returns the names of the loser and the winner of a game, given the side that lost.
fn loser_and_winner<P: Position>(
    names: &[String],
    game: &ContestGame<P>,
    loser: Side,
) -> (String, String) {
    let (player, opponent) = match loser {
        Side::Black => (game.black, game.white),
        Side::White => (game.white, game.black),
    };
    (names[player].clone(), names[opponent].clone())
}
