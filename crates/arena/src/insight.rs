//! What a model has learned, measured on positions so that it can be asked of any model: what a
//! disc is worth where, which squares it moves to, and, for networks of tuples, which patterns
//! weigh most.
//!
//! Positions are turned and mirrored in turn, so that nothing depends on how games happen to be
//! written down: only a model that treats the eight ways of looking at a board differently gives
//! a picture without symmetry.

use crate::accuracy::TIE;
use outflank_games::othello::{Othello, Square, Symmetry};
use outflank_games::{Position, Side};
use outflank_models::{Evaluate, Features, NTupleNetwork, Policy, View};
use outflank_records::Decision;

/// A board to look at: the position that a choice led to, and who moved there.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sight {
    /// The position after the move.
    pub position: Othello,
    /// Who made the move.
    pub mover: Side,
}

/// At most so many choices, spread evenly over all, each turned or mirrored in its turn.
#[must_use]
pub fn sample(choices: &[Decision<Othello>], most: usize) -> Vec<Decision<Othello>> {
    let step = choices.len().div_ceil(most.max(1)).max(1);
    let turned = |(place, choice): (usize, &Decision<Othello>)| {
        let symmetry = Symmetry::ALL[place % Symmetry::ALL.len()];
        Decision {
            position: choice.position.transform(symmetry),
            chosen: symmetry.square(choice.chosen),
        }
    };
    choices.iter().step_by(step).enumerate().map(turned).collect()
}

/// The boards that choices led to.
#[must_use]
pub fn sights(choices: &[Decision<Othello>]) -> Vec<Sight> {
    let sight = |choice: &Decision<Othello>| Sight {
        position: choice.position.play(choice.chosen),
        mover: choice.position.to_move(),
    };
    choices.iter().map(sight).collect()
}

/// Kinds of squares whose worth players speak of, some with the state of the corner beside them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Region {
    /// The four corners.
    Corner,
    /// Beside an empty corner, along the edge.
    OpenC,
    /// Beside a corner that is taken, along the edge.
    ClosedC,
    /// Diagonally beside an empty corner.
    OpenX,
    /// Diagonally beside a corner that is taken.
    ClosedX,
    /// The rest of the edge.
    Edge,
    /// One step inside the edge.
    Inner,
    /// The sixteen squares in the middle.
    Middle,
}

impl Region {
    /// All of them, from the outside in.
    pub const ALL: [Region; 8] = [
        Region::Corner,
        Region::OpenC,
        Region::ClosedC,
        Region::OpenX,
        Region::ClosedX,
        Region::Edge,
        Region::Inner,
        Region::Middle,
    ];

    /// In words.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Region::Corner => "corner",
            Region::OpenC => "C-square, its corner empty",
            Region::ClosedC => "C-square, its corner taken",
            Region::OpenX => "X-square, its corner empty",
            Region::ClosedX => "X-square, its corner taken",
            Region::Edge => "rest of the edge",
            Region::Inner => "one step inside",
            Region::Middle => "middle sixteen",
        }
    }

    /// Where a square belongs when these squares are empty.
    #[must_use]
    pub fn of(square: Square, empty: u64) -> Region {
        let fold = |x: u8| if x > 3 { 7 - x } else { x };
        let (column, row) = (fold(square.column()), fold(square.row()));
        let corner = u64::from(square.column() > 3) * 7 + u64::from(square.row() > 3) * 56;
        let open = empty >> corner & 1 == 1;
        match (column.min(row), column.max(row)) {
            (0, 0) => Region::Corner,
            (0, 1) if open => Region::OpenC,
            (0, 1) => Region::ClosedC,
            (1, 1) if open => Region::OpenX,
            (1, 1) => Region::ClosedX,
            (0, _) => Region::Edge,
            (1, _) => Region::Inner,
            _ => Region::Middle,
        }
    }
}

/// What an own disc is worth more than the opponent's would be there, all else being equal.
#[derive(Clone, Debug, PartialEq)]
pub struct Worth {
    /// For each square, the mean over the boards on which it is taken; no number where it never is.
    pub squares: [f64; 64],
    /// For each of [`Region::ALL`].
    pub regions: [f64; 8],
}

/// A mean in the making.
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

    /// No number of nothing.
    fn get(self) -> f64 {
        self.sum / self.count
    }
}

/// Turns one disc after the other over and sees what that changes.
#[must_use]
pub fn worth(model: &dyn Evaluate<Othello>, sights: &[Sight]) -> Worth {
    let mut squares = [Mean::default(); 64];
    let mut regions = [Mean::default(); 8];
    for &Sight { position, mover } in sights {
        let (own, other) = (position.discs(mover), position.discs(mover.other()));
        let seen = |own: u64, other: u64| {
            let (black, white) = if mover == Side::Black { (own, other) } else { (other, own) };
            let turned = Othello::from_discs(black, white, mover.other());
            turned.map(|position| f64::from(model.value(&position, mover)))
        };
        let Some(as_it_is) = seen(own, other) else { continue };
        for square in (0..64).filter_map(Square::new) {
            let bit = square.bit();
            if (own | other) & bit == 0 {
                continue;
            }
            let Some(turned) = seen(own ^ bit, other ^ bit) else { continue };
            let gain = if own & bit != 0 { as_it_is - turned } else { turned - as_it_is };
            squares[square.index()].add(gain);
            regions[Region::of(square, !(own | other)) as usize].add(gain);
        }
    }
    Worth { squares: squares.map(Mean::get), regions: regions.map(Mean::get) }
}

/// How many times in a hundred a move to each square is made when it is possible, less what a
/// random choice would give; no number where no move was possible.
///
/// `share` says how likely each move of a choice is to be made.
fn above_chance(
    choices: &[Decision<Othello>],
    mut share: impl FnMut(&Decision<Othello>, &[Square], &mut Vec<f64>),
) -> [f64; 64] {
    let mut squares = [Mean::default(); 64];
    let (mut moves, mut shares) = (Vec::new(), Vec::new());
    for choice in choices {
        moves.clear();
        moves.extend(choice.position.moves());
        share(choice, &moves, &mut shares);
        let chance = 1.0 / moves.len() as f64;
        for (square, share) in moves.iter().zip(&shares) {
            squares[square.index()].add(100.0 * (share - chance));
        }
    }
    squares.map(Mean::get)
}

/// Where the games' players moved more often than chance would.
#[must_use]
pub fn chosen(choices: &[Decision<Othello>]) -> [f64; 64] {
    above_chance(choices, |choice, moves, shares| {
        shares.clear();
        shares.extend(moves.iter().map(|&mv| f64::from(u8::from(mv == choice.chosen))));
    })
}

/// Where a model would move more often than chance would, from the same positions.
#[must_use]
pub fn preferred(policy: &dyn Policy<Othello>, choices: &[Decision<Othello>]) -> [f64; 64] {
    let mut scores = Vec::new();
    above_chance(choices, |choice, moves, shares| {
        policy.score(&choice.position, moves, &mut scores);
        let best = scores.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        let tied = scores.iter().filter(|&&score| score >= best - TIE).count() as f64;
        shares.clear();
        shares.extend(scores.iter().map(|&s| if s >= best - TIE { 1.0 / tied } else { 0.0 }));
    })
}

/// A pattern of a tuple: an entry of its table.
#[derive(Clone, Debug, PartialEq)]
pub struct Pattern {
    /// Which tuple.
    pub tuple: usize,
    /// What it adds to the worth of a board, less what this tuple adds on average.
    pub weight: f64,
    /// How many times it occurs on a board.
    pub often: f64,
    /// The squares with own discs, in the tuple's first image.
    pub own: u64,
    /// The squares with the opponent's.
    pub other: u64,
}

/// For each tuple the patterns that add most and least to a board's worth, among those that occur
/// at least `often` times a board on average; none for a tuple without two such patterns.
///
/// The entries of a table always add up to the same number of readings, so only differences
/// within a table mean anything; they are counted from what the table adds on average.
#[must_use]
pub fn extremes(network: &NTupleNetwork, sights: &[Sight], often: f64) -> Vec<Option<[Pattern; 2]>> {
    let tuples = network.tuples();
    let mut counts = vec![0.0f64; tuples.count()];
    for Sight { position, mover } in sights {
        let black = if network.view() == View::Invert { *mover } else { Side::Black };
        tuples.visit(position, black, |feature, _| counts[feature] += 1.0);
    }
    let boards = sights.len().max(1) as f64;
    let pattern = |tuple: usize, entry: usize, weight: f64, count: f64| {
        let squares = &tuples.tuples()[tuple].placements()[0];
        let (mut own, mut other, mut rest) = (0, 0, entry);
        for square in squares.iter().rev() {
            match rest % 3 {
                0 => other |= square.bit(),
                2 => own |= square.bit(),
                _ => {}
            }
            rest /= 3;
        }
        Pattern { tuple, weight, often: count / boards, own, other }
    };
    let extreme = |(number, offset): (usize, usize)| {
        let entries = tuples.tuples()[number].entries();
        let weights = &network.weights()[offset..offset + entries];
        let counts = &counts[offset..offset + entries];
        let readings: f64 = counts.iter().sum();
        let mean = weights.iter().zip(counts).map(|(&w, n)| f64::from(w) * n).sum::<f64>()
            / readings.max(1.0);
        let common = (0..entries).filter(|&entry| counts[entry] >= often * boards);
        let by_weight = |&a: &usize, &b: &usize| weights[a].total_cmp(&weights[b]);
        let most = common.clone().max_by(by_weight)?;
        let least = common.min_by(by_weight)?;
        let made =
            |entry: usize| pattern(number, entry, f64::from(weights[entry]) - mean, counts[entry]);
        (most != least).then(|| [made(most), made(least)])
    };
    tuples.offsets().enumerate().map(extreme).collect()
}
