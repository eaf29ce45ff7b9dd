//! Compares 6x6 Othello with a second implementation that works square by square on an array, and
//! with exact values of endgames.

use outflank_games::othello6::Othello6;
use outflank_games::{Position, Side};

const SIZE: i32 = 6;

/// A board as an array: +1 for the mover's discs, -1 for the opponent's.
#[derive(Clone)]
struct Naive([[i32; 6]; 6]);

impl Naive {
    fn start() -> Naive {
        let mut cells = [[0; 6]; 6];
        // Black, who moves first, has d3 and c4.
        (cells[2][3], cells[3][2]) = (1, 1);
        (cells[2][2], cells[3][3]) = (-1, -1);
        Naive(cells)
    }

    /// Returns the discs that a move flips.
    fn flips(&self, row: i32, column: i32) -> Vec<(usize, usize)> {
        let mut flips = Vec::new();
        if self.0[row as usize][column as usize] != 0 {
            return flips;
        }
        for (down, right) in [(-1, -1), (-1, 0), (-1, 1), (0, -1), (0, 1), (1, -1), (1, 0), (1, 1)]
        {
            let mut line = Vec::new();
            let (mut r, mut c) = (row + down, column + right);
            while (0..SIZE).contains(&r) && (0..SIZE).contains(&c) {
                match self.0[r as usize][c as usize] {
                    -1 => line.push((r as usize, c as usize)),
                    1 => {
                        flips.append(&mut line);
                        break;
                    }
                    _ => break,
                }
                (r, c) = (r + down, c + right);
            }
        }
        flips
    }

    /// Returns the boards after all legal moves, each from the opponent's view.
    fn successors(&self) -> Vec<Naive> {
        let mut boards = Vec::new();
        for (row, column) in (0..SIZE).flat_map(|row| (0..SIZE).map(move |column| (row, column))) {
            let flips = self.flips(row, column);
            if flips.is_empty() {
                continue;
            }
            let mut after = self.clone();
            after.0[row as usize][column as usize] = 1;
            flips.iter().for_each(|&(r, c)| after.0[r][c] = 1);
            boards.push(after.passed());
        }
        boards
    }

    /// Returns the board from the opponent's view.
    fn passed(&self) -> Naive {
        Naive(self.0.map(|row| row.map(|cell| -cell)))
    }

    fn perft(&self, depth: u32) -> u64 {
        if depth == 0 {
            return 1;
        }
        let successors = self.successors();
        if !successors.is_empty() {
            return successors.iter().map(|board| board.perft(depth - 1)).sum();
        }
        let passed = self.passed();
        if passed.successors().is_empty() { 1 } else { passed.perft(depth - 1) }
    }

    /// Returns the disc difference for the mover under best play.
    fn solve(&self) -> i32 {
        let successors = self.successors();
        if let Some(best) = successors.iter().map(|board| -board.solve()).max() {
            return best;
        }
        let passed = self.passed();
        if passed.successors().is_empty() {
            return self.0.iter().flatten().sum();
        }
        -passed.solve()
    }

    /// Returns the text of the board if the mover is Black.
    fn text(&self) -> String {
        let cells = self.0.iter().flatten().map(|cell| match cell {
            1 => 'X',
            -1 => 'O',
            _ => '-',
        });
        cells.chain(" X".chars()).collect()
    }
}

#[test]
fn perft_equals_that_of_the_array_implementation() {
    let (naive, position) = (Naive::start(), Othello6::start());
    assert_eq!(naive.text().parse(), Ok(position));
    for depth in 0..=7 {
        assert_eq!(position.perft(depth), naive.perft(depth), "depth {depth}");
    }
    // The first plies do not reach the edge: their counts are those published for 8x8 squares.
    assert_eq!([1, 2, 3, 4].map(|depth| position.perft(depth)), [4, 12, 56, 244]);
}

/// Solves a position by plain minimax on the disc difference for Black.
fn minimax(position: &Othello6) -> i32 {
    let sign = position.to_move().sign();
    let values = position.moves().map(|mv| sign * minimax(&position.play(mv)));
    values.max().map_or_else(|| position.result().unwrap(), |best| sign * best)
}

/// Plays the same pseudo-random game in both implementations and compares every position, and the
/// exact values of its last positions.
#[test]
fn games_and_endgames_equal_those_of_the_array_implementation() {
    let mut state = 7u64;
    let mut passes = 0;
    for _ in 0..200 {
        let (mut naive, mut position) = (Naive::start(), Othello6::start());
        loop {
            let mut successors = naive.successors();
            if successors.is_empty() {
                naive = naive.passed();
                successors = naive.successors();
                if successors.is_empty() {
                    break;
                }
                passes += 1;
            }
            let moves: Vec<_> = position.moves().collect();
            assert_eq!(moves.len(), successors.len(), "{position}");
            if position.empties() <= 6 {
                assert_eq!(position.to_move().sign() * minimax(&position), naive.solve());
            }
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let choice = (state >> 33) as usize % moves.len();
            naive = successors.swap_remove(choice);
            position = position.play(moves[choice]);
        }
        let discs = |side: Side| position.discs(side).count_ones() as i32;
        let difference: i32 = naive.0.iter().flatten().sum();
        assert_eq!(position.result().map(i32::abs), Some(difference.abs()), "{position}");
        assert_eq!(position.result(), Some(discs(Side::Black) - discs(Side::White)));
    }
    assert!(passes > 20, "only {passes} passes occurred");
}
