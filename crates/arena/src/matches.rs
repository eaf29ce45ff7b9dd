//! A match between two players.

use crate::contest::{ContestError, Game, ContestConfig, contest};
use crate::score::Score;
use crate::sprt::{Sprt, SprtDecision};
use crate::tally::{Tally, distinct};
use outflank_games::Position;
use outflank_players::PlayerFactory;
use outflank_runs::Journal;
use serde::Serialize;

/// A game that a player lost by failing rather than by playing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Forfeit {
    /// Who failed.
    pub player: String,
    /// Against whom.
    pub opponent: String,
    /// In which round, from 1.
    pub round: u32,
    /// What happened.
    pub what: String,
}

/// Where a sequential test stands.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SprtStatus {
    /// The lower hypothesis, in Elo.
    pub low: f64,
    /// The higher hypothesis, in Elo.
    pub high: f64,
    /// The log-likelihood ratio.
    pub ratio: f64,
    /// Its bounds.
    pub bounds: (f64, f64),
    /// `low`, `high` or `undecided`.
    pub verdict: &'static str,
}

/// What a match came to, from the first player's side.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MatchReport {
    /// The first player.
    pub a: String,
    /// The second player.
    pub b: String,
    /// Games played.
    pub games: u64,
    /// Won by the first player.
    pub wins: u64,
    /// Drawn.
    pub draws: u64,
    /// Lost by the first player.
    pub losses: u64,
    /// Points for each game, 0 to 1.
    pub score: f64,
    /// The half-width of its 95% interval, from pairs of games with colours swapped.
    pub error: f64,
    /// The difference in Elo; none when it would be infinite.
    pub elo: Option<f64>,
    /// The ends of its 95% interval; none for infinity.
    pub elo_interval: (Option<f64>, Option<f64>),
    /// The chance that the first player is the stronger.
    pub superiority: f64,
    /// Rounds of two games by the first player's points in them: 0, 0.5, 1, 1.5, 2.
    pub pentanomial: [u64; 5],
    /// How many games differ in their start or their moves.
    pub distinct_games: u64,
    /// The sequential test, if one was asked for.
    pub sprt: Option<SprtStatus>,
    /// Games that were lost by failing.
    pub faults: Vec<Forfeit>,
    /// Whether all games were played, or the test was decided.
    pub complete: bool,
}

/// Plays a match. `watch` sees the tally so far and how many games are new.
pub fn play_match<P: Position>(
    entries: &[PlayerFactory<P>; 2],
    terms: &ContestConfig<P>,
    sprt: Option<Sprt>,
    journal: Option<(Journal, Vec<String>)>,
    mut watch: impl FnMut(&Tally, u64),
) -> Result<(MatchReport, Vec<Game<P>>), ContestError> {
    let mut tally = Tally::default();
    let mut games: Vec<Game<P>> = Vec::new();
    let mut decided = false;
    let all = contest(entries, &[(0, 1)], terms, journal, |mut stretch, new| {
        if let Some(sprt) = &sprt {
            // The test looks after every round, so that its end does not depend on how rounds
            // are handed out.
            let mut kept = 0;
            for round in stretch.chunk_by(|a, b| a.round == b.round) {
                tally.add(0, round);
                kept += round.len();
                if sprt.verdict(sprt.llr_of_pairs(tally.rounds)) != SprtDecision::Undecided {
                    decided = true;
                    break;
                }
            }
            stretch.truncate(kept);
        } else {
            tally.add(0, &stretch);
        }
        games.append(&mut stretch);
        watch(&tally, new as u64);
        !decided
    })?;
    let names = [entries[0].name.clone(), entries[1].name.clone()];
    let report = report(&names, &tally, &games, sprt, all || decided);
    Ok((report, games))
}

/// What games between the first player, 0, and the second, 1, came to; they come round by round.
pub(crate) fn meeting<P: Position>(
    names: &[String; 2],
    games: &[Game<P>],
    complete: bool,
) -> MatchReport {
    let mut tally = Tally::default();
    tally.add(0, games);
    report(names, &tally, games, None, complete)
}

fn report<P: Position>(
    names: &[String; 2],
    tally: &Tally,
    games: &[Game<P>],
    sprt: Option<Sprt>,
    complete: bool,
) -> MatchReport {
    let paired = 2 * tally.rounds.iter().sum::<u64>() == tally.games();
    let score = if paired {
        Score::of_pairs(tally.rounds)
    } else {
        Score::of_games(tally.wins, tally.draws, tally.losses)
    };
    let sprt = sprt.map(|sprt| {
        let ratio = sprt.llr_of_pairs(tally.rounds);
        let (low, high) = sprt.hypotheses();
        let verdict = match sprt.verdict(ratio) {
            SprtDecision::Low => "low",
            SprtDecision::High => "high",
            SprtDecision::Undecided => "undecided",
        };
        SprtStatus { low, high, ratio, bounds: sprt.bounds(), verdict }
    });
    MatchReport {
        a: names[0].clone(),
        b: names[1].clone(),
        games: tally.games(),
        wins: tally.wins,
        draws: tally.draws,
        losses: tally.losses,
        score: score.score,
        error: score.error,
        elo: score.elo,
        elo_interval: (score.elo_low, score.elo_high),
        superiority: score.superiority,
        pentanomial: tally.rounds,
        distinct_games: distinct(games),
        sprt,
        faults: faults(names, games),
        complete,
    }
}

/// The games that were lost by failing.
pub(crate) fn faults<P: Position>(names: &[String], games: &[Game<P>]) -> Vec<Forfeit> {
    let note = |game: &Game<P>| {
        let (side, what) = game.played.forfeit.as_ref()?;
        let (player, opponent) = match side {
            outflank_games::Side::Black => (game.black, game.white),
            outflank_games::Side::White => (game.white, game.black),
        };
        Some(Forfeit {
            player: names[player].clone(),
            opponent: names[opponent].clone(),
            round: game.round + 1,
            what: what.clone(),
        })
    };
    games.iter().filter_map(note).collect()
}
