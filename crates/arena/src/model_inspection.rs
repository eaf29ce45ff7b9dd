//! Inspection of a model on positions: disc values per square, preferred squares, and the entries
//! with the largest and smallest weights in the tables of an n-tuple network.
//!
//! The eight symmetries are applied to the positions in turn, so that the result does not depend on
//! the orientation of recorded games. An asymmetric result means that the model is asymmetric.

use crate::accuracy::TIE_TOLERANCE;
use outflank_games::othello::{Othello, Square, Symmetry};
use outflank_games::{Position, Side};
use outflank_models::{Evaluate, Features, NTupleNetwork, Policy, View};
use outflank_records::Decision;

/// A position after a move, and the side that moved.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Afterstate {
    /// The position after the move.
    pub position: Othello,
    /// The side that moved.
    pub mover: Side,
}

/// Samples at most `max` evenly spaced choices and applies the eight symmetries to them in turn.
#[must_use]
pub fn sample(choices: &[Decision<Othello>], max: usize) -> Vec<Decision<Othello>> {
    let step = choices.len().div_ceil(max.max(1)).max(1);
    let transformed = |(index, choice): (usize, &Decision<Othello>)| {
        let symmetry = Symmetry::ALL[index % Symmetry::ALL.len()];
        Decision {
            position: choice.position.transform(symmetry),
            chosen: symmetry.transform_square(choice.chosen),
        }
    };
    choices.iter().step_by(step).enumerate().map(transformed).collect()
}

/// Returns the positions after the chosen moves.
#[must_use]
pub fn afterstates(choices: &[Decision<Othello>]) -> Vec<Afterstate> {
    let afterstate = |choice: &Decision<Othello>| Afterstate {
        position: choice.position.play(choice.chosen),
        mover: choice.position.to_move(),
    };
    choices.iter().map(afterstate).collect()
}

/// Kinds of squares, some distinguished by the state of the adjacent corner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Region {
    /// The four corners.
    Corner,
    /// Edge square next to an empty corner.
    OpenC,
    /// Edge square next to an occupied corner.
    ClosedC,
    /// Diagonally adjacent to an empty corner.
    OpenX,
    /// Diagonally adjacent to an occupied corner.
    ClosedX,
    /// Other edge squares.
    Edge,
    /// Other squares of the second ring, next to the edge.
    SecondRing,
    /// The sixteen central squares.
    Center,
}

impl Region {
    /// All regions, from the edge to the center.
    pub const ALL: [Region; 8] = [
        Region::Corner,
        Region::OpenC,
        Region::ClosedC,
        Region::OpenX,
        Region::ClosedX,
        Region::Edge,
        Region::SecondRing,
        Region::Center,
    ];

    /// Returns the name for reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Region::Corner => "corner",
            Region::OpenC => "C-square, its corner empty",
            Region::ClosedC => "C-square, its corner taken",
            Region::OpenX => "X-square, its corner empty",
            Region::ClosedX => "X-square, its corner taken",
            Region::Edge => "other edge square",
            Region::SecondRing => "next to the edge",
            Region::Center => "central 16 squares",
        }
    }

    /// Returns the region of a square, given the empty squares.
    #[must_use]
    pub fn of(square: Square, empty: u64) -> Region {
        let edge_distance = |x: u8| if x > 3 { 7 - x } else { x };
        let (column, row) = (edge_distance(square.column()), edge_distance(square.row()));
        let corner = u64::from(square.column() > 3) * 7 + u64::from(square.row() > 3) * 56;
        let corner_is_empty = empty >> corner & 1 == 1;
        match (column.min(row), column.max(row)) {
            (0, 0) => Region::Corner,
            (0, 1) if corner_is_empty => Region::OpenC,
            (0, 1) => Region::ClosedC,
            (1, 1) if corner_is_empty => Region::OpenX,
            (1, 1) => Region::ClosedX,
            (0, _) => Region::Edge,
            (1, _) => Region::SecondRing,
            _ => Region::Center,
        }
    }
}

/// How much the value of a position rises if an opponent's disc is replaced by an own disc.
#[derive(Clone, Debug, PartialEq)]
pub struct DiscValues {
    /// Mean by square over the positions where it is occupied; NaN if it never is.
    pub squares: [f64; 64],
    /// Mean by region, in the order of [`Region::ALL`].
    pub regions: [f64; 8],
}

/// A running mean.
#[derive(Clone, Copy, Default)]
struct Mean {
    sum: f64,
    count: f64,
}

impl Mean {
    fn add(&mut self, value: f64) {
        self.sum += value;
        self.count += 1.0;
    }

    /// Returns the mean, NaN if nothing was added.
    fn get(self) -> f64 {
        self.sum / self.count
    }
}

/// Measures disc values by flipping one disc at a time.
#[must_use]
pub fn disc_values(model: &dyn Evaluate<Othello>, afterstates: &[Afterstate]) -> DiscValues {
    let mut squares = [Mean::default(); 64];
    let mut regions = [Mean::default(); 8];
    for &Afterstate { position, mover } in afterstates {
        let (own, other) = (position.discs(mover), position.discs(mover.other()));
        let evaluate = |own: u64, other: u64| {
            let (black, white) = if mover == Side::Black { (own, other) } else { (other, own) };
            let position = Othello::from_discs(black, white, mover.other());
            position.map(|position| f64::from(model.value(&position, mover)))
        };
        let Some(value) = evaluate(own, other) else { continue };
        for square in (0..64).filter_map(Square::new) {
            let bit = square.bit();
            if (own | other) & bit == 0 {
                continue;
            }
            let Some(flipped) = evaluate(own ^ bit, other ^ bit) else { continue };
            let gain = if own & bit != 0 { value - flipped } else { flipped - value };
            squares[square.index()].add(gain);
            regions[Region::of(square, !(own | other)) as usize].add(gain);
        }
    }
    DiscValues { squares: squares.map(Mean::get), regions: regions.map(Mean::get) }
}

/// Returns for each square the percentage of decisions in which it is played when legal, minus the
/// percentage of a uniform random choice; NaN if it was never legal.
///
/// `probabilities` fills the vector with the probability of each of the given moves.
fn preferences_over_random(
    choices: &[Decision<Othello>],
    mut probabilities: impl FnMut(&Decision<Othello>, &[Square], &mut Vec<f64>),
) -> [f64; 64] {
    let mut squares = [Mean::default(); 64];
    let (mut moves, mut values) = (Vec::new(), Vec::new());
    for choice in choices {
        moves.clear();
        moves.extend(choice.position.moves());
        probabilities(choice, &moves, &mut values);
        let uniform = 1.0 / moves.len() as f64;
        for (square, probability) in moves.iter().zip(&values) {
            squares[square.index()].add(100.0 * (probability - uniform));
        }
    }
    squares.map(Mean::get)
}

/// Returns the move preferences of the players of the games, relative to random moves.
#[must_use]
pub fn game_move_preferences(choices: &[Decision<Othello>]) -> [f64; 64] {
    preferences_over_random(choices, |choice, moves, values| {
        values.clear();
        values.extend(moves.iter().map(|&mv| f64::from(u8::from(mv == choice.chosen))));
    })
}

/// Returns the move preferences of a model on the same positions, relative to random moves.
#[must_use]
pub fn model_move_preferences(
    policy: &dyn Policy<Othello>,
    choices: &[Decision<Othello>],
) -> [f64; 64] {
    let mut scores = Vec::new();
    preferences_over_random(choices, |choice, moves, values| {
        policy.score(&choice.position, moves, &mut scores);
        let best = scores.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        let tied = scores.iter().filter(|&&score| score >= best - TIE_TOLERANCE).count() as f64;
        values.clear();
        values.extend(
            scores.iter().map(|&s| if s >= best - TIE_TOLERANCE { 1.0 / tied } else { 0.0 }),
        );
    })
}

/// An entry of a tuple's weight table: a configuration of discs on the tuple's squares.
#[derive(Clone, Debug, PartialEq)]
pub struct TupleEntry {
    /// The index of the tuple.
    pub tuple: usize,
    /// Its weight minus the mean weight of the tuple's entries, weighted by their frequency.
    pub weight: f64,
    /// Mean number of occurrences per position.
    pub frequency: f64,
    /// The squares with own discs, in the tuple's first placement.
    pub own: u64,
    /// The squares with opponent's discs.
    pub other: u64,
}

/// Returns for each tuple the entries with the largest and smallest weight, among those that occur
/// at least `min_frequency` times per position; `None` for a tuple without two such entries.
///
/// Every position uses the same number of entries of a tuple's table. Adding a constant to all
/// entries of a table would therefore not change the ranking of positions: only differences within
/// a table are meaningful, and weights are given relative to their mean over the positions.
#[must_use]
pub fn extreme_entries(
    network: &NTupleNetwork,
    afterstates: &[Afterstate],
    min_frequency: f64,
) -> Vec<Option<[TupleEntry; 2]>> {
    let tuples = network.tuples();
    let mut counts = vec![0.0f64; tuples.feature_count()];
    for Afterstate { position, mover } in afterstates {
        let black = if network.view() == View::Invert { *mover } else { Side::Black };
        tuples.visit(position, black, |feature, _| counts[feature] += 1.0);
    }
    let positions = afterstates.len().max(1) as f64;
    let tuple_entry = |tuple: usize, index: usize, weight: f64, count: f64| {
        let squares = &tuples.tuples()[tuple].placements()[0];
        // The digits of the index in base 3 are the contents of the tuple's squares.
        let (mut own, mut other, mut rest) = (0, 0, index);
        for square in squares.iter().rev() {
            match rest % 3 {
                0 => other |= square.bit(),
                2 => own |= square.bit(),
                _ => {}
            }
            rest /= 3;
        }
        TupleEntry { tuple, weight, frequency: count / positions, own, other }
    };
    let extreme = |(number, offset): (usize, usize)| {
        let entries = tuples.tuples()[number].entries();
        let weights = &network.weights()[offset..offset + entries];
        let counts = &counts[offset..offset + entries];
        let visits: f64 = counts.iter().sum();
        let mean = weights.iter().zip(counts).map(|(&w, n)| f64::from(w) * n).sum::<f64>()
            / visits.max(1.0);
        let common = (0..entries).filter(|&index| counts[index] >= min_frequency * positions);
        let by_weight = |&a: &usize, &b: &usize| weights[a].total_cmp(&weights[b]);
        let max = common.clone().max_by(by_weight)?;
        let min = common.min_by(by_weight)?;
        let entry_at = |index: usize| {
            tuple_entry(number, index, f64::from(weights[index]) - mean, counts[index])
        };
        (max != min).then(|| [entry_at(max), entry_at(min)])
    };
    tuples.offsets().enumerate().map(extreme).collect()
}
