//! What a model's value means in discs.
//!
//! Every model has units of its own: logarithms of odds, sums of weights, discs. What they mean is seen in
//! the embedded games: the margin that a side ended with grows with the value of the positions it moved
//! into nearly along a line, which is not the same in all stages of a game. An estimate in discs is that
//! line. Where values do not grow with the margin there is none, and no figure is better than a wrong one.
//!
//! Some models give whoever moved a bonus that says nothing about who wins, and not the same throughout the
//! game (`ipref` some sixty units with 55 empty squares and none at the end). It is measured too and taken
//! off, so that it is not read as an advantage.
//!
//! **Searches.** The value that a search hands up was given where it ends, so the bonus is that of the last
//! move there (as if nobody had to pass). The slope is that of the position it was asked about: values that
//! were searched for say more about the end than values at a glance, and the smaller slopes of later stages
//! would make too little of them. After five or six plies the margins of embedded games are 0.9 to 1.4 times
//! what is read so, whichever embedded model searched, and 0.9 to 1.1 times with `champion`.
//!
//! **Odd and even depths.** Models judge better or worse of whoever moved last, in one position more than in
//! another, so that what a search says goes up and down with its depth: with `champion`, which gives no bonus
//! on average, a ply more is worth half a disc to two discs to the side to move where it makes the depth even,
//! and costs as much where it makes it odd. So a search is told as the mean of its last two depths: all of its
//! moves are moved by the same half step, which leaves their differences and their order as they were. What is
//! decided is told as it is. In the first 20 of every seventh embedded game, with six plies of `champion`, a
//! move that lost no more than a disc changed the value by 2.6 discs on average without this and by 0.9 with
//! it; neither is nearer to how the games ended. Taking off the mean alone, by depth and stage, left 1.7.

use outflank_games::Position;
use outflank_games::othello::{Othello, Square};
use outflank_models::{Evaluate, embedded as models};
use outflank_players::{Thought, SearchScore};
use outflank_records::embedded;
use std::sync::Arc;

/// Tens of empty squares that are told apart, from 0-9 on. The last, 40-49, goes on to the start, which was
/// drawn at random in the embedded games.
const STAGES: usize = 5;

/// So many squares may be empty, none among them.
const EMPTIES: usize = 61;

/// Discs for a unit of value of the embedded `champion`, by stage: least squares through zero over the
/// embedded games, with the best value of each position. It gives no bonus.
const CHAMPION: [f32; STAGES] = [3.25, 7.0, 10.2, 11.7, 11.8];

/// Of so many embedded games one is asked about, in each stage once. That makes 30,000 values, and the
/// slopes of a piece counter are known within some hundredths.
const STRIDE: usize = 2;

/// A slope that is not so many times its own error is none.
const CERTAIN: f64 = 4.0;

/// An estimate never claims more than this; only a solved game does.
const MOST: f32 = 62.0;

/// How a model's values are read.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Discs {
    /// Discs for a unit of value, by stage.
    slopes: [Option<f64>; STAGES],
    /// What whoever moved is given where so many squares were empty, in units of value.
    bonus: [f64; EMPTIES],
}

/// What a model said of a position to the side that moved into it.
struct Said {
    /// The empty squares before that move.
    empties: usize,
    value: f64,
    /// By how much the side won in the end.
    margin: f64,
}

impl Discs {
    /// How the values of this model are read: as is known of `champion`, and measured of any other.
    #[must_use]
    pub fn of(model: &Arc<dyn Evaluate<Othello>>) -> Discs {
        match models::is_champion(&**model) {
            true => Discs {
                slopes: CHAMPION.map(|slope| Some(f64::from(slope))),
                bonus: [0.0; EMPTIES],
            },
            false => Discs::measure(&**model),
        }
    }

    /// Fits the margins of embedded games to what the model says of their positions: least squares with
    /// a slope for each stage and a bonus for each number of empty squares.
    fn measure(model: &dyn Evaluate<Othello>) -> Discs {
        let said = ask(model);
        let mut means = [(0.0, 0.0); EMPTIES];
        for (empties, mean) in means.iter_mut().enumerate() {
            let here = said.iter().filter(|said| said.empties == empties);
            let (mut count, mut value, mut margin) = (0.0, 0.0, 0.0);
            for one in here {
                count += 1.0;
                value += one.value;
                margin += one.margin;
            }
            *mean = (value / count, margin / count);
        }
        let mut slopes = [None; STAGES];
        for (stage, slope) in slopes.iter_mut().enumerate() {
            let here = said.iter().filter(|said| said.empties / 10 == stage);
            let apart = here.map(|one| {
                let (value, margin) = means[one.empties];
                (one.value - value, one.margin - margin)
            });
            *slope = rise(apart);
        }
        let mut bonus = [0.0; EMPTIES];
        for (empties, bonus) in bonus.iter_mut().enumerate() {
            let (value, margin) = means[empties];
            let slope = slopes[stage(empties)];
            *bonus = slope.map_or(f64::NAN, |slope| value - margin / slope);
        }
        Discs { slopes, bonus }
    }

    /// A verdict of this search in discs for the side to move, where the depths even out; `None` where
    /// nothing is known about what such a value means.
    #[must_use]
    pub fn tell(
        &self,
        verdict: SearchScore,
        thought: &Thought<Square>,
        position: &Othello,
    ) -> Option<f64> {
        let discs = f64::from(self.read(verdict, position, thought.depth)?);
        if !is_open(verdict, position, thought.depth) {
            return Some(discs);
        }
        let most = f64::from(MOST);
        Some((discs + self.half_step(thought, position)).clamp(-most, most))
    }

    /// Half the way back from what a search says of best play to what it said a ply before.
    fn half_step(&self, thought: &Thought<Square>, position: &Othello) -> f64 {
        let Some(best) = thought.moves.first().map(|judged| judged.score) else { return 0.0 };
        let open = |verdict| is_open(verdict, position, thought.depth);
        if !open(best) || !open(thought.previous) {
            return 0.0;
        }
        let now = self.read(best, position, thought.depth);
        let before = self.read(thought.previous, position, thought.depth.saturating_sub(1));
        now.zip(before).map_or(0.0, |(now, before)| (f64::from(before) - f64::from(now)) / 2.0)
    }

    /// A verdict in discs for the side to move in a position that was searched to a depth, as the search has
    /// it; `None` where nothing is known about what such a value means.
    #[must_use]
    pub fn read(&self, verdict: SearchScore, position: &Othello, depth: u32) -> Option<f32> {
        let value = match verdict {
            SearchScore::Proven(margin) => return Some(margin as f32),
            SearchScore::Estimate(value) => value,
        };
        let first = position.empties();
        // Where the last move was made; with one square empty it ends the game, and nobody is asked.
        let last = (first + 1).saturating_sub(depth).max(2) as usize;
        let slope = self.slopes[stage(first as usize)]?;
        let bonus = self.bonus.get(last).copied().filter(|bonus| bonus.is_finite())?;
        if value == 0.0 {
            // A sure draw is told so.
            return Some(0.0);
        }
        let bonus = if depth % 2 == 1 { bonus } else { -bonus };
        let discs = ((f64::from(value) - bonus) * slope) as f32;
        value.is_finite().then(|| discs.clamp(-MOST, MOST))
    }

    /// The stages whose values mean nothing in discs, in words; nothing when all of them do.
    #[must_use]
    pub fn unread(&self) -> Option<String> {
        let of = |stage: usize| match stage + 1 == STAGES {
            true => format!("{} and more", 10 * stage),
            false => format!("{} to {}", 10 * stage, 10 * stage + 9),
        };
        let stages: Vec<String> =
            (0..STAGES).filter(|&stage| self.slopes[stage].is_none()).map(of).collect();
        (!stages.is_empty()).then(|| stages.join(", "))
    }
}

/// Whether a verdict is a model's and not the end of the game; an estimate of nothing is taken for a draw where
/// a search to this depth reaches the last square.
fn is_open(verdict: SearchScore, position: &Othello, depth: u32) -> bool {
    matches!(verdict, SearchScore::Estimate(value) if value != 0.0 || depth < position.empties())
}

fn stage(empties: usize) -> usize {
    (empties / 10).min(STAGES - 1)
}

/// Asks a model about positions of embedded games.
fn ask(model: &dyn Evaluate<Othello>) -> Vec<Said> {
    let mut said = Vec::new();
    for (place, record) in embedded::games_step_by(STRIDE).iter().enumerate() {
        let Some(margin) = record.end().score() else { continue };
        for (position, ply) in record.steps() {
            let (side, after) = (position.to_move(), position.play(ply.mv));
            let empties = position.empties() as usize;
            // Each game is asked at other places of the stages than the one before.
            if empties % 10 == (7 * place) % 10 && !after.is_over() {
                let value = f64::from(model.value(&after, side));
                said.push(Said { empties, value, margin: f64::from(side.sign() * margin) });
            }
        }
    }
    said
}

/// The slope of margins by values, both as differences from their means, if they are found to rise.
fn rise(apart: impl Iterator<Item = (f64, f64)>) -> Option<f64> {
    let (mut count, mut squares, mut products, mut margins) = (0.0, 0.0, 0.0, 0.0);
    for (value, margin) in apart {
        count += 1.0;
        squares += value * value;
        products += value * margin;
        margins += margin * margin;
    }
    let slope = products / squares;
    // Ten means and the slope are fitted.
    let error = ((margins - slope * products).max(0.0) / (count - 11.0) / squares).sqrt();
    // Whatever is not a number is not greater either.
    (slope.is_finite() && slope > 0.0 && slope > CERTAIN * error).then_some(slope)
}

#[cfg(test)]
mod tests;
