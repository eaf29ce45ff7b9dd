//! From decisions to rows.
//!
//! A move changes what a few tuples see, so each move is kept as what it changes: the features of
//! the position it leads to, less those of the position before. The features of both are visited
//! side by side, and what is equal at the same place cancels at once.

use super::Rows;
use outflank_games::othello::Othello;
use outflank_games::{Position, Side};
use outflank_models::{Features, View};
use outflank_records::Decision;

/// How many decisions are looked at to foretell how much memory all take.
const PROBES: usize = 100;

/// What a row is.
#[derive(Clone, Copy)]
enum Kind {
    /// The chosen move against another.
    Preference(View),
    /// A move, chosen or not; chosen ones weigh more when balanced.
    Class { balanced: bool },
}

/// The rows of all decisions that are choices.
///
/// With board inversion the mover is seen as Black and every sign is +1; with output negation the
/// board is seen as it is and White's choices have sign -1.
pub fn preference_rows<F: Features<Othello>>(
    features: &F,
    view: View,
    decisions: &[Decision<Othello>],
) -> Rows {
    build(features, Kind::Preference(view), decisions)
}

/// A row for each move of all decisions that are choices: the features of the position that it
/// leads to with the mover seen as Black, the sign +1 when it was chosen and -1 when it was not.
///
/// When `balanced`, a chosen move counts as many times as there were others, so that both signs
/// weigh the same.
pub fn class_rows<F: Features<Othello>>(
    features: &F,
    balanced: bool,
    decisions: &[Decision<Othello>],
) -> Rows {
    build(features, Kind::Class { balanced }, decisions)
}

fn build<F: Features<Othello>>(features: &F, kind: Kind, decisions: &[Decision<Othello>]) -> Rows {
    let member = match kind {
        Kind::Preference(_) => -1.0,
        Kind::Class { .. } => 1.0,
    };
    let mut builder = Builder::new(features, Rows::empty(features.count(), member));
    // A few decisions foretell how much room all take, so that none is taken twice while they grow.
    let moves = |decision: &Decision<Othello>| decision.position.moves().count();
    let stride = decisions.len().div_ceil(PROBES).max(1);
    decisions.iter().step_by(stride).for_each(|decision| builder.add(kind, decision));
    let probes: usize = decisions.iter().step_by(stride).map(moves).sum();
    let all: usize = decisions.iter().map(moves).sum();
    if all > probes {
        builder.rows = builder.take().room_for_more(all as f64 / probes.max(1) as f64);
        decisions.iter().for_each(|decision| builder.add(kind, decision));
    }
    builder.take()
}

struct Builder<'a, F> {
    features: &'a F,
    rows: Rows,
    /// The features of the position before the move.
    before: Vec<(u32, f32)>,
    sums: Sums,
}

impl<F: Features<Othello>> Builder<'_, F> {
    fn new(features: &F, rows: Rows) -> Builder<'_, F> {
        let sums = Sums { sums: vec![0.0; features.count()], ..Sums::default() };
        Builder { features, rows, before: Vec::new(), sums }
    }

    /// What was built; nothing is left.
    fn take(&mut self) -> Rows {
        let empty = Rows::empty(self.rows.columns, self.rows.member);
        std::mem::replace(&mut self.rows, empty)
    }

    /// Adds the rows of a decision, none where it is no choice.
    fn add(&mut self, kind: Kind, decision: &Decision<Othello>) {
        let Decision { position, chosen } = *decision;
        let others = || position.moves().filter(move |&mv| mv != chosen);
        let count = others().count();
        if count == 0 || !position.is_legal(chosen) {
            return;
        }
        let mover = position.to_move();
        let black = match kind {
            Kind::Preference(View::Negate) => Side::Black,
            Kind::Preference(View::Invert) | Kind::Class { .. } => mover,
        };
        self.before.clear();
        let before = &mut self.before;
        self.features.visit(&position, black, |index, value| before.push((index as u32, value)));
        match kind {
            Kind::Preference(view) => {
                self.change(&position.play(chosen), black);
                let sign = if view == View::Negate { mover.sign() as i8 } else { 1 };
                for mv in others() {
                    self.change(&position.play(mv), black);
                    self.rows.signs.push(sign);
                }
            }
            Kind::Class { balanced } => {
                self.before.iter().for_each(|&(index, value)| self.sums.add(index, value));
                self.sums.end(&mut self.rows);
                for mv in position.moves() {
                    self.change(&position.play(mv), black);
                    let is_chosen = mv == chosen;
                    self.rows.signs.push(if is_chosen { 1 } else { -1 });
                    if balanced {
                        self.rows.weights.push(if is_chosen { count as f64 } else { 1.0 });
                    }
                }
            }
        }
        self.rows.groups.push(self.rows.signs.len() as u32);
    }

    /// Appends what has changed since before the move.
    fn change(&mut self, after: &Othello, black: Side) {
        let (before, sums) = (&self.before, &mut self.sums);
        let mut place = 0;
        self.features.visit(after, black, |index, value| {
            let (now, then) = ((index as u32, value), before.get(place));
            place += 1;
            if then != Some(&now) {
                sums.add(now.0, now.1);
                then.iter().for_each(|then| sums.add(then.0, -then.1));
            }
        });
        before.iter().skip(place).for_each(|then| sums.add(then.0, -then.1));
        self.sums.end(&mut self.rows);
    }
}

/// A vector in the making, as long as a feature may still be met again.
#[derive(Default)]
struct Sums {
    sums: Vec<f32>,
    /// Every feature whose sum is not zero, and perhaps some that are, or twice.
    touched: Vec<u32>,
    entries: Vec<(u32, f32)>,
}

impl Sums {
    #[inline]
    fn add(&mut self, index: u32, value: f32) {
        let sum = &mut self.sums[index as usize];
        if *sum == 0.0 {
            self.touched.push(index);
        }
        *sum += value;
    }

    /// Appends the vector and is empty again.
    fn end(&mut self, rows: &mut Rows) {
        self.entries.clear();
        for index in self.touched.drain(..) {
            let value = std::mem::take(&mut self.sums[index as usize]);
            if value != 0.0 {
                self.entries.push((index, value));
            }
        }
        rows.parts.push(&self.entries);
    }
}
