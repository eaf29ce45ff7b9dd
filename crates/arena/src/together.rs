//! Games that advance together, so that a model which is quicker with many positions at a time is
//! asked about many.
//!
//! Every game has players and a random stream of its own, so each is the game it would be alone. A
//! round of asking goes through all games, each as far as it gets without an answer; then the
//! questions to one model are put together.

use crate::game::PlayedGame;
use outflank_games::{Line, Position, Side};
use outflank_models::Policy;
use outflank_players::{PlayerError, Player, Turn};
use outflank_runs::Rng;
use std::sync::Arc;

/// A game about to be played.
pub(crate) struct Table<'a, P: Position, T> {
    /// Who plays Black, then White.
    pub players: [T; 2],
    /// Where it starts.
    pub line: Line<P>,
    /// Its stream.
    pub rng: &'a mut Rng,
}

/// A game on its way.
struct Going<'a, P: Position, T> {
    table: Table<'a, P, T>,
    random: Vec<bool>,
    end: Option<(i32, Option<(Side, String)>)>,
}

/// What a game waits for.
struct Question<P: Position> {
    game: usize,
    policy: Arc<dyn Policy<P>>,
    moves: Vec<P::Move>,
}

/// A game's players, back for the next one, and what they played.
pub(crate) type Finished<P, T> = ([T; 2], PlayedGame<P>);

/// Plays all of these games to their ends.
pub(crate) fn play_together<P: Position, T: Player<P>>(
    tables: Vec<Table<'_, P, T>>,
) -> Vec<Finished<P, T>> {
    let mut games: Vec<Going<'_, P, T>> = tables.into_iter().map(Going::begin).collect();
    loop {
        let mut questions: Vec<Question<P>> = Vec::new();
        for (number, game) in games.iter_mut().enumerate() {
            if let Some((policy, moves)) = game.advance() {
                questions.push(Question { game: number, policy, moves });
            }
        }
        if questions.is_empty() {
            return games.into_iter().map(Going::finish).collect();
        }
        while let Some(first) = questions.first() {
            let policy = first.policy.clone();
            let (asked, others) =
                questions.into_iter().partition(|question| Arc::ptr_eq(&question.policy, &policy));
            questions = others;
            ask(&*policy, asked, &mut games);
        }
    }
}

/// Asks one model all that is asked of it, as many at a time as it likes.
fn ask<P: Position, T: Player<P>>(
    policy: &dyn Policy<P>,
    asked: Vec<Question<P>>,
    games: &mut [Going<'_, P, T>],
) {
    for part in asked.chunks(policy.batch_size().max(1)) {
        let positions: Vec<(P, Vec<P::Move>)> = part
            .iter()
            .map(|question| (*games[question.game].table.line.position(), question.moves.clone()))
            .collect();
        for (question, scores) in part.iter().zip(policy.score_batch(&positions)) {
            games[question.game].finish_turn(&question.moves, &scores);
        }
    }
}

/// A model that has to be asked, and about which moves.
type Asking<P> = (Arc<dyn Policy<P>>, Vec<<P as Position>::Move>);

impl<'a, P: Position, T: Player<P>> Going<'a, P, T> {
    fn begin(mut table: Table<'a, P, T>) -> Going<'a, P, T> {
        let random = vec![false; table.line.moves().len()];
        let mut end = None;
        for (side, player) in [Side::Black, Side::White].into_iter().zip(&mut table.players) {
            if let (None, Err(fault)) = (&end, player.new_game()) {
                end = Some(lost::<P>(side, &fault));
            }
        }
        Going { table, random, end }
    }

    /// Plays on until a model has to be asked or the game is over.
    fn advance(&mut self) -> Option<Asking<P>> {
        loop {
            if self.end.is_some() {
                return None;
            }
            let position = self.table.line.position();
            if let Some(margin) = position.margin() {
                self.end = Some((margin, None));
                return None;
            }
            let side = position.to_move();
            let player = &mut self.table.players[side.index()];
            match player.start_turn(&self.table.line, self.table.rng) {
                Ok(Turn::Move(mv)) => self.push(side, mv),
                Ok(Turn::NeedsScores(policy, moves)) => return Some((policy, moves)),
                Err(fault) => self.end = Some(lost::<P>(side, &fault)),
            }
        }
    }

    fn settle(&mut self, moves: &[P::Move], scores: &[f32]) {
        let side = self.table.line.position().to_move();
        let Table { players, rng, .. } = &mut self.table;
        match players[side.index()].finish_turn(moves, scores, rng) {
            Some(mv) => self.push(side, mv),
            None => {
                let reason = "its model rates no move".to_owned();
                let fault = PlayerError::Refused { player: side.to_string(), reason };
                self.end = Some(lost::<P>(side, &fault));
            }
        }
    }

    fn push(&mut self, side: Side, mv: P::Move) {
        match self.table.line.push(mv) {
            Ok(()) => self.random.push(self.table.players[side.index()].last_was_random()),
            Err(error) => {
                let fault = PlayerError::IllegalMove { player: side.to_string(), answer: error.to_string() };
                self.end = Some(lost::<P>(side, &fault));
            }
        }
    }

    fn finish(self) -> Finished<P, T> {
        let (margin, fault) = self.end.unwrap_or_default();
        (self.table.players, PlayedGame { line: self.table.line, random: self.random, margin, fault })
    }
}

/// The end of a game in which a player failed.
fn lost<P: Position>(side: Side, fault: &PlayerError) -> (i32, Option<(Side, String)>) {
    (-side.sign() * P::MAX_MARGIN, Some((side, fault.to_string())))
}
