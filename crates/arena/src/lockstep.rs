//! Games played in lockstep, so that a model evaluates the positions of many games in one batch.
//!
//! Each game has its own players and RNG stream, so its moves are the same as if it were played
//! alone. In every step each game advances until a player needs move scores; then the queries to
//! one model are evaluated together.

use crate::game::{EarlyEnd, EarlyEndReason, PlayedGame};
use outflank_games::{Line, Position, Side};
use outflank_models::Policy;
use outflank_players::{Player, PlayerError, Turn};
use outflank_runs::Rng;
use std::sync::Arc;

/// A game to be played.
pub(crate) struct GameSetup<'a, P: Position, T> {
    /// The players of Black and White.
    pub players: [T; 2],
    /// The opening.
    pub line: Line<P>,
    /// The RNG stream of the game.
    pub rng: &'a mut Rng,
}

/// Black's result, and the resignation or forfeit if there was one.
type GameEnd = (i32, Option<EarlyEnd>);

/// A game in progress.
struct ActiveGame<'a, P: Position, T> {
    setup: GameSetup<'a, P, T>,
    random: Vec<bool>,
    end: Option<GameEnd>,
}

/// A request for the scores of the legal moves of one game.
struct ScoreQuery<P: Position> {
    /// The index of the game.
    game: usize,
    policy: Arc<dyn Policy<P>>,
    moves: Vec<P::Move>,
}

/// The players of a finished game, which can be reused, and the game.
pub(crate) type FinishedGame<P, T> = ([T; 2], PlayedGame<P>);

/// Plays all games to their ends.
pub(crate) fn play_lockstep<P: Position, T: Player<P>>(
    setups: Vec<GameSetup<'_, P, T>>,
) -> Vec<FinishedGame<P, T>> {
    let mut games: Vec<ActiveGame<'_, P, T>> = setups.into_iter().map(ActiveGame::start).collect();
    loop {
        let mut queries: Vec<ScoreQuery<P>> = Vec::new();
        for (number, game) in games.iter_mut().enumerate() {
            if let Some((policy, moves)) = game.advance() {
                queries.push(ScoreQuery { game: number, policy, moves });
            }
        }
        if queries.is_empty() {
            return games.into_iter().map(ActiveGame::finish).collect();
        }
        while let Some(first) = queries.first() {
            let policy = first.policy.clone();
            let (same_policy, rest) =
                queries.into_iter().partition(|query| Arc::ptr_eq(&query.policy, &policy));
            queries = rest;
            evaluate(&*policy, same_policy, &mut games);
        }
    }
}

/// Evaluates all queries to one model in batches of its preferred size.
fn evaluate<P: Position, T: Player<P>>(
    policy: &dyn Policy<P>,
    queries: Vec<ScoreQuery<P>>,
    games: &mut [ActiveGame<'_, P, T>],
) {
    for batch in queries.chunks(policy.batch_size().max(1)) {
        let positions: Vec<(P, Vec<P::Move>)> = batch
            .iter()
            .map(|query| (*games[query.game].setup.line.position(), query.moves.clone()))
            .collect();
        for (query, scores) in batch.iter().zip(policy.score_batch(&positions)) {
            games[query.game].play_scored_move(&query.moves, &scores);
        }
    }
}

/// A policy and the moves that it must score.
type PendingScores<P> = (Arc<dyn Policy<P>>, Vec<<P as Position>::Move>);

impl<'a, P: Position, T: Player<P>> ActiveGame<'a, P, T> {
    fn start(mut setup: GameSetup<'a, P, T>) -> ActiveGame<'a, P, T> {
        let random = vec![false; setup.line.moves().len()];
        let mut end = None;
        for (side, player) in [Side::Black, Side::White].into_iter().zip(&mut setup.players) {
            if let (None, Err(error)) = (&end, player.new_game()) {
                end = Some(early_end::<P>(side, &error));
            }
        }
        ActiveGame { setup, random, end }
    }

    /// Plays until a player needs move scores or the game is over.
    fn advance(&mut self) -> Option<PendingScores<P>> {
        loop {
            if self.end.is_some() {
                return None;
            }
            let position = self.setup.line.position();
            if let Some(result) = position.result() {
                self.end = Some((result, None));
                return None;
            }
            let side = position.to_move();
            let player = &mut self.setup.players[side.index()];
            match player.start_turn(&self.setup.line, self.setup.rng) {
                Ok(Turn::Move(mv)) => self.push(side, mv),
                Ok(Turn::NeedsScores(policy, moves)) => return Some((policy, moves)),
                Err(error) => self.end = Some(early_end::<P>(side, &error)),
            }
        }
    }

    /// Plays the move that the player to move chooses from the requested scores.
    fn play_scored_move(&mut self, moves: &[P::Move], scores: &[f32]) {
        let side = self.setup.line.position().to_move();
        let GameSetup { players, rng, .. } = &mut self.setup;
        match players[side.index()].finish_turn(moves, scores, rng) {
            Some(mv) => self.push(side, mv),
            None => {
                let reason = "its model scores no move".to_owned();
                let error = PlayerError::Refused { player: side.to_string(), reason };
                self.end = Some(early_end::<P>(side, &error));
            }
        }
    }

    fn push(&mut self, side: Side, mv: P::Move) {
        match self.setup.line.push(mv) {
            Ok(()) => self.random.push(self.setup.players[side.index()].last_was_random()),
            Err(error) => {
                let error = PlayerError::IllegalMove {
                    player: side.to_string(),
                    answer: error.to_string(),
                };
                self.end = Some(early_end::<P>(side, &error));
            }
        }
    }

    fn finish(self) -> FinishedGame<P, T> {
        let (result, early_end) = self.end.unwrap_or_default();
        let GameSetup { players, line, .. } = self.setup;
        (players, PlayedGame { line, random: self.random, result, early_end })
    }
}

/// Returns the end of a game that this side resigns or forfeits.
fn early_end<P: Position>(loser: Side, error: &PlayerError) -> GameEnd {
    let reason = match error {
        PlayerError::Resigned { .. } => EarlyEndReason::Resigned,
        error => EarlyEndReason::Failed(error.to_string()),
    };
    (-loser.sign() * P::MAX_RESULT, Some(EarlyEnd { loser, reason }))
}
