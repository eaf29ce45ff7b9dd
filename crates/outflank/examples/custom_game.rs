//! Custom game: Connect Four, defined in this file, with search, matches, ratings and learning.
//!
//! Run it with `cargo run --release -p outflank --example custom_game`.
//!
//! A game implements `Position` and, with defaults, the traits beside it:
//!
//! | trait | for |
//! |---|---|
//! | `Position` | rules, notation, contests |
//! | `Searchable` | alpha-beta and MCTS |
//! | `RegisteredGame` | players from text such as `open-lines@4` |
//! | `NTupleGame` | n-tuple networks |
//! | `NamedFeatures` | linear heuristics and Gaussian-process preference learning |

use outflank::learners::gp::{
    Acquisition, GameOracleConfig, GpConfig, GpLearner, HeuristicSpace, InferenceConfig,
};
use outflank::learners::tdl::{TdLearner, TdlConfig};
use outflank::models::heuristics::FeatureVector;
use outflank::prelude::*;
use std::error::Error;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

const COLUMNS: u32 = 7;
const ROWS: u32 = 6;

/// The bit of a square. Row 0 is the bottom row; the eighth bit of each row is always empty, so that
/// lines do not continue on the next row.
const fn bit(column: u32, row: u32) -> u64 {
    1 << (8 * row + column)
}

/// The directions of lines: right, up, up and right, up and left.
const DIRECTIONS: [u32; 4] = [1, 8, 9, 7];

/// A move: the column, 0 to 6, written as `a` to `g`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Column(u32);

impl fmt::Display for Column {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", char::from(b'a' + self.0 as u8))
    }
}

/// A position of Connect Four: two players drop discs into seven columns of six squares; four in a
/// line win.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct ConnectFour {
    discs: [u64; 2],
    side: Side,
}

impl ConnectFour {
    /// Returns the first empty row of a column.
    fn height(&self, column: u32) -> u32 {
        let occupied = self.discs[0] | self.discs[1];
        (0..ROWS).take_while(|&row| occupied & bit(column, row) != 0).count() as u32
    }

    /// Returns whether a side has four in a line.
    fn has_won(&self, side: Side) -> bool {
        let discs = self.discs[side.index()];
        DIRECTIONS.iter().any(|&step| {
            let pairs = discs & (discs >> step);
            pairs & (pairs >> (2 * step)) != 0
        })
    }

    /// Counts the lines of four squares without a disc of the other side, by the number of discs of
    /// this side on them.
    fn open_lines(&self, side: Side) -> [u32; 5] {
        let (own, other) = (self.discs[side.index()], self.discs[side.other().index()]);
        let mut counts = [0; 5];
        for (column, row) in (0..COLUMNS).flat_map(|c| (0..ROWS).map(move |r| (c, r))) {
            for (right, up) in [(1i32, 0i32), (0, 1), (1, 1), (-1, 1)] {
                let (end, top) = (column as i32 + 3 * right, row as i32 + 3 * up);
                if !(0..COLUMNS as i32).contains(&end) || top >= ROWS as i32 {
                    continue;
                }
                let line = (0..4).fold(0, |line, step| {
                    line | bit(
                        (column as i32 + step * right) as u32,
                        (row as i32 + step * up) as u32,
                    )
                });
                if line & other == 0 {
                    counts[(line & own).count_ones() as usize] += 1;
                }
            }
        }
        counts
    }
}

impl Position for ConnectFour {
    type Move = Column;

    const GAME: Game = Game::new("connect-four");

    const MAX_RESULT: i32 = 1;

    fn start() -> ConnectFour {
        ConnectFour { discs: [0, 0], side: Side::Black }
    }

    fn to_move(&self) -> Side {
        self.side
    }

    fn moves(&self) -> impl Iterator<Item = Column> + use<> {
        let position = *self;
        let columns = if self.result().is_some() { 0 } else { COLUMNS };
        (0..columns).filter(move |&column| position.height(column) < ROWS).map(Column)
    }

    fn play(&self, mv: Column) -> ConnectFour {
        let mut discs = self.discs;
        discs[self.side.index()] |= bit(mv.0, self.height(mv.0));
        ConnectFour { discs, side: self.side.other() }
    }

    fn result(&self) -> Option<i32> {
        let winner = Side::BOTH.into_iter().find(|&side| self.has_won(side));
        match winner {
            Some(side) => Some(side.sign()),
            None => (self.pieces() == COLUMNS * ROWS).then_some(0),
        }
    }

    fn swap_sides(&self) -> ConnectFour {
        let [black, white] = self.discs;
        ConnectFour { discs: [white, black], side: self.side.other() }
    }

    fn pieces(&self) -> u32 {
        (self.discs[0] | self.discs[1]).count_ones()
    }

    fn diagram(&self) -> String {
        let cells = self.to_string();
        let rows = cells.as_bytes()[..42].chunks(7).map(|row| String::from_utf8_lossy(row));
        rows.collect::<Vec<_>>().join("\n") + "\n"
    }

    fn parse_move(&self, text: &str) -> Result<Column, MoveError> {
        let mv = match text.as_bytes() {
            [letter @ b'a'..=b'g'] => Column(u32::from(letter - b'a')),
            _ => return Err(MoveError::InvalidNotation(text.to_owned())),
        };
        self.try_play(mv).map(|_| mv)
    }

    fn next_ply(&self) -> Option<u32> {
        Some(self.pieces() + 1)
    }
}

impl fmt::Display for ConnectFour {
    /// Writes 42 squares from the top row (`X`, `O` or `-`), a space, and the side to move.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (row, column) in (0..ROWS).rev().flat_map(|r| (0..COLUMNS).map(move |c| (r, c))) {
            let has = |side: Side| self.discs[side.index()] & bit(column, row) != 0;
            f.write_str(match (has(Side::Black), has(Side::White)) {
                (true, _) => "X",
                (_, true) => "O",
                _ => "-",
            })?;
        }
        f.write_str(if self.side == Side::Black { " X" } else { " O" })
    }
}

impl fmt::Debug for ConnectFour {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for ConnectFour {
    type Err = String;

    fn from_str(text: &str) -> Result<ConnectFour, String> {
        let invalid = || format!("'{text}' is not 42 squares (X, O or -), a space, and X or O");
        let (squares, side) = text.split_once(' ').ok_or_else(invalid)?;
        if squares.len() != (COLUMNS * ROWS) as usize {
            return Err(invalid());
        }
        let mut discs = [0; 2];
        for (index, square) in (0u32..).zip(squares.bytes()) {
            let square_bit = bit(index % COLUMNS, ROWS - 1 - index / COLUMNS);
            match square {
                b'X' => discs[0] |= square_bit,
                b'O' => discs[1] |= square_bit,
                b'-' => {}
                _ => return Err(invalid()),
            }
        }
        let occupied = discs[0] | discs[1];
        // The square below a disc is occupied.
        if occupied & !0xff & !(occupied << 8) != 0 {
            return Err(format!("'{text}' has a disc above an empty square"));
        }
        match side {
            "X" => Ok(ConnectFour { discs, side: Side::Black }),
            "O" => Ok(ConnectFour { discs, side: Side::White }),
            _ => Err(invalid()),
        }
    }
}

impl Searchable for ConnectFour {}

impl NTupleGame for ConnectFour {
    fn side_pieces(&self, side: Side) -> u64 {
        self.discs[side.index()]
    }
}

impl NamedFeatures for ConnectFour {
    const FEATURES: &'static [&'static str] = &["open twos", "open threes", "center"];

    fn features(&self, side: Side) -> FeatureVector {
        let lines = |side| self.open_lines(side).map(|count| count as f32);
        let (own, other) = (lines(side), lines(side.other()));
        let center = |side: Side| {
            (0..ROWS).filter(|&row| self.discs[side.index()] & bit(3, row) != 0).count() as f32
        };
        let mut features = [0.0; 8];
        features[0] = (own[2] - other[2]) / 10.0;
        features[1] = (own[3] - other[3]) / 4.0;
        features[2] = (center(side) - center(side.other())) / 6.0;
        features
    }
}

/// Returns a heuristic with weights chosen by hand.
fn open_lines() -> Heuristic<ConnectFour> {
    Heuristic::new(&[0.5, 1.0, 0.3]).unwrap_or_else(Heuristic::zero)
}

impl RegisteredGame for ConnectFour {
    fn embedded(name: &str) -> Option<PlayerModel<ConnectFour>> {
        match name {
            "random" => Some(PlayerModel::Uniform),
            "open-lines" => Some(PlayerModel::Value(Arc::new(open_lines()))),
            _ => None,
        }
    }
}

/// Returns all horizontal and vertical lines of four squares and all squares of two by two, each
/// with its mirror image.
fn tuples() -> Result<Tuples, TupleError> {
    let number = |(column, row): (u32, u32)| (8 * row + column) as u8;
    let mirrored = |squares: &[(u32, u32)]| {
        let image = squares.iter().map(|&(column, row)| number((COLUMNS - 1 - column, row)));
        Tuple::with_placements(vec![squares.iter().copied().map(number).collect(), image.collect()])
    };
    let mut all = Vec::new();
    for (column, row) in (0..4).flat_map(|c| (0..ROWS).map(move |r| (c, r))) {
        all.push(mirrored(&[0, 1, 2, 3].map(|i| (column + i, row)))?);
        if row + 3 < ROWS {
            all.push(mirrored(&[0, 1, 2, 3].map(|i| (column, row + i)))?);
        }
        if row + 1 < ROWS {
            let block =
                [(column, row), (column + 1, row), (column, row + 1), (column + 1, row + 1)];
            all.push(mirrored(&block)?);
        }
    }
    Tuples::new(all)
}

/// Plays a match of alpha-beta against random moves that stops when a sequential test is decided.
fn match_with_sprt() -> Result<MatchReport, Box<dyn Error>> {
    let players = [factory::<ConnectFour>("open-lines@4")?, factory("random")?];
    let config = ContestConfig { rounds: 200, ..ContestConfig::default() };
    let sprt = Sprt::new(0.0, 100.0)?;
    Ok(play_match(&players, &config, Some(sprt), None, |_, _| true)?.0)
}

/// Plays a league of random moves, MCTS and alpha-beta.
fn league() -> Result<LeagueReport, Box<dyn Error>> {
    let names = ["random", "random@mcts200", "open-lines", "open-lines@4"];
    let players = names.map(factory::<ConnectFour>).into_iter().collect::<Result<Vec<_>, _>>()?;
    let config = ContestConfig { rounds: 10, ..ContestConfig::default() };
    let league = play_league(&players, &config, None, |_, _| true)?;
    Ok(league.report(&RatingConfig::default())?)
}

/// Trains an n-tuple network by TD learning and returns its match against random moves.
fn td_learning(games: u64) -> Result<MatchReport, Box<dyn Error>> {
    let network = NTupleNetwork::zero(tuples()?, View::Negate);
    let config = TdlConfig { learning_rate: 0.01, epsilon: 0.1 };
    let mut learner = TdLearner::<ConnectFour>::new(network, config, 250, 1);
    let plan = TrainingPlan::new(games, "games", Origin::default());
    let folder = std::env::temp_dir().join(format!("connect-four-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    let trained = Trainer::new(plan).run(&mut learner, &NoEvaluator, &folder, |_| true);
    std::fs::remove_dir_all(&folder)?;
    let policy: Arc<dyn Policy<ConnectFour>> = Arc::new(OnePlyPolicy(trained?.model));
    let player =
        PlayerFactory::new("td", move || Ok(Box::new(Greedy::<ConnectFour>::new(policy.clone()))));
    let config = ContestConfig { rounds: 50, ..ContestConfig::default() };
    Ok(play_match(&[player, factory("random")?], &config, None, None, |_, _| true)?.0)
}

/// Learns the weights of a heuristic from game results by Gaussian-process preferences.
fn gp_preferences(rounds: u32) -> Result<Heuristic<ConnectFour>, Box<dyn Error>> {
    let config = GpConfig {
        dimensions: ConnectFour::FEATURES.len(),
        space: HeuristicSpace::Weights,
        initial: 4,
        opponents: 2,
        choose_opponents: false,
        acquisition: Acquisition::Bald,
        against_best: false,
        restarts: 2,
        inference: InferenceConfig {
            tolerance: 1e-4,
            ep_max_iterations: 100,
            kernel_max_iterations: 5,
            relevance: false,
        },
        seed: 1,
    };
    let games = GameOracleConfig { depth: 2, games: 6, opening: 4, seed: 1 };
    let mut learner = GpLearner::<ConnectFour>::new(config, games, 0)?;
    for _ in 0..rounds {
        learner.step()?;
    }
    Ok(learner.heuristic())
}

/// Runs all parts of the example.
pub fn main() -> Result<(), Box<dyn Error>> {
    let results = check_game::<ConnectFour>(100, 1);
    println!("contract: {results:?}");
    let player = factory::<ConnectFour>("open-lines@2")?;
    check_player(&player.name, || player.make().unwrap_or_else(|error| panic!("{error}")));
    check_evaluator::<ConnectFour>(&open_lines(), 1);
    let network = NTupleNetwork::zero(tuples()?, View::Negate);
    let config = TdlConfig { learning_rate: 0.01, epsilon: 0.1 };
    check_learner(|| TdLearner::<ConnectFour>::new(network.clone(), config, 20, 1), 2);

    let report = match_with_sprt()?;
    let sprt = report.sprt.as_ref().ok_or("the match has no test")?;
    println!(
        "{} - {}: {:.2} in {} games, {}",
        report.a, report.b, report.score, report.games, sprt.result
    );
    assert!(report.complete && report.score > 0.9 && sprt.result == "H1");

    let league = league()?;
    for player in &league.players {
        println!("{:16} {:6.0} ± {:.0}", player.name, player.rating, player.half_width);
    }
    assert_eq!(league.players.last().map(|player| player.name.as_str()), Some("random"));

    let report = td_learning(2000)?;
    println!("{} - {}: {:.2} after TD learning", report.a, report.b, report.score);
    assert!(report.score > 0.75);

    let heuristic = gp_preferences(12)?;
    println!("preferences: {heuristic:?}");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    /// Numbers of positions after n plies: OEIS A212693 (Tromp).
    #[test]
    fn numbers_of_positions_are_those_published() {
        let mut positions = HashSet::from([ConnectFour::start()]);
        for expected in [7, 49, 238, 1120, 4263, 16_422, 54_859, 184_275] {
            let next = positions.iter().flat_map(|p| p.moves().map(|mv| p.play(mv)));
            positions = next.collect();
            assert_eq!(positions.len(), expected);
        }
        // Seven plies into one column of six squares are impossible; no game ends before ply 7.
        assert_eq!(ConnectFour::start().perft(7), 7u64.pow(7) - 7);
    }
}
