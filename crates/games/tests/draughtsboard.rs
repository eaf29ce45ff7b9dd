//! English draughts a second time, on a board of rows and columns without a single bitboard, and
//! the comparison of the two.

use outflank_games::checkers::{Checkers, Square};
use outflank_games::{Position, Side};
use proptest::prelude::*;

#[derive(Clone, Copy, PartialEq, Debug)]
struct Piece {
    side: Side,
    king: bool,
}

type Cells = [[Option<Piece>; 8]; 8];

/// Row and column of a square's number.
fn place(number: u8) -> (i8, i8) {
    let (row, nth) = ((number as i8 - 1) / 4, (number as i8 - 1) % 4);
    (row, if row % 2 == 0 { 2 * nth + 1 } else { 2 * nth })
}

fn number(row: i8, column: i8) -> u8 {
    (row * 4 + column / 2 + 1) as u8
}

fn cells(position: &Checkers) -> Cells {
    let mut cells = [[None; 8]; 8];
    for n in 1..=32 {
        let (row, column) = place(n);
        let bit = Square::new(n).unwrap().bit();
        for side in Side::BOTH {
            for (king, bits) in [(false, position.men(side)), (true, position.kings(side))] {
                if bits & bit != 0 {
                    let cell = &mut cells[row as usize][column as usize];
                    assert_eq!(*cell, None, "two pieces on {n}");
                    *cell = Some(Piece { side, king });
                }
            }
        }
    }
    cells
}

fn look(cells: &Cells, row: i8, column: i8) -> Option<Option<Piece>> {
    let on_board = (0..8).contains(&row) && (0..8).contains(&column);
    on_board.then(|| cells[row as usize][column as usize])
}

fn ways(piece: Piece) -> Vec<(i8, i8)> {
    let forward = if piece.side == Side::Black { 1 } else { -1 };
    let all = [(forward, -1), (forward, 1), (-forward, -1), (-forward, 1)];
    all[..if piece.king { 4 } else { 2 }].to_vec()
}

/// Adds every completed capture of the piece to `found`, with the board it leaves. Captured pieces
/// come off at once, which is the same game: where they stood nobody can land in this move.
fn captures(
    cells: &Cells,
    (row, column): (i8, i8),
    piece: Piece,
    path: &mut Vec<u8>,
    found: &mut Vec<(Vec<u8>, Cells)>,
) {
    let mut ended = true;
    for (down, right) in ways(piece) {
        let prey = look(cells, row + down, column + right).flatten();
        let landing = look(cells, row + 2 * down, column + 2 * right);
        if prey.is_some_and(|prey| prey.side != piece.side) && landing == Some(None) {
            ended = false;
            let mut after = *cells;
            after[(row + down) as usize][(column + right) as usize] = None;
            path.push(number(row + 2 * down, column + 2 * right));
            captures(&after, (row + 2 * down, column + 2 * right), piece, path, found);
            path.pop();
        }
    }
    if ended && path.len() > 1 {
        found.push((path.clone(), settled(*cells, (row, column), piece)));
    }
}

/// Sets the piece down and crowns it where that is due.
fn settled(mut cells: Cells, (row, column): (i8, i8), piece: Piece) -> Cells {
    let far = if piece.side == Side::Black { 7 } else { 0 };
    let king = piece.king || row == far;
    cells[row as usize][column as usize] = Some(Piece { king, ..piece });
    cells
}

/// Every move as its text, with the board it leaves.
fn walked(position: &Checkers) -> Vec<(String, Cells)> {
    let (board, side) = (cells(position), position.to_move());
    let (mut jumps, mut steps) = (Vec::new(), Vec::new());
    for n in 1..=32 {
        let (row, column) = place(n);
        let Some(piece) = look(&board, row, column).flatten().filter(|p| p.side == side) else {
            continue;
        };
        let mut lifted = board;
        lifted[row as usize][column as usize] = None;
        captures(&lifted, (row, column), piece, &mut vec![n], &mut jumps);
        for (down, right) in ways(piece) {
            let target = (row + down, column + right);
            if look(&board, target.0, target.1) == Some(None) {
                let path = vec![n, number(target.0, target.1)];
                steps.push((path, settled(lifted, target, piece)));
            }
        }
    }
    let (moves, mark) = if jumps.is_empty() { (steps, "-") } else { (jumps, "x") };
    let text = |path: Vec<u8>| path.iter().map(u8::to_string).collect::<Vec<_>>().join(mark);
    moves.into_iter().map(|(path, after)| (text(path), after)).collect()
}

fn compare(position: &Checkers) {
    let mut ours: Vec<_> = position
        .moves()
        .map(|mv| {
            let after = position.play(mv);
            assert_eq!(after.to_move(), position.to_move().other());
            let captured = position.pieces() - after.pieces();
            assert_eq!(mv.captured().count_ones(), captured, "{mv} in {position}");
            (mv.to_string(), cells(&after))
        })
        .collect();
    let mut theirs = if position.margin() == Some(0) { Vec::new() } else { walked(position) };
    ours.sort_by(|a, b| a.0.cmp(&b.0));
    theirs.sort_by(|a, b| a.0.cmp(&b.0));
    let texts = |moves: &[(String, Cells)]| moves.iter().map(|m| m.0.clone()).collect::<Vec<_>>();
    assert_eq!(texts(&ours), texts(&theirs), "{position}");
    assert!(ours == theirs, "a move leads elsewhere in {position}");
}

/// Set-up positions, many of them with more kings and more captures than games ever show.
fn set_up() -> impl Strategy<Value = Checkers> {
    let piece =
        prop_oneof![4 => Just(' '), 2 => Just('b'), 2 => Just('w'), 1 => Just('B'), 1 => Just('W')];
    (prop::collection::vec(piece, 32), any::<bool>()).prop_map(|(pieces, white)| {
        let mut lists = [Vec::new(), Vec::new()];
        for (n, piece) in (1..=32).zip(pieces) {
            let side = match piece {
                ' ' => continue,
                'b' | 'B' => 0,
                _ => 1,
            };
            let crowned = piece.is_uppercase() || (side == 0 && n > 28) || (side == 1 && n < 5);
            if lists[side].len() < 12 {
                lists[side].push(format!("{}{n}", if crowned { "K" } else { "" }));
            }
        }
        let side = if white { "W" } else { "B" };
        format!("{side}:W{}:B{}", lists[1].join(","), lists[0].join(",")).parse().unwrap()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    #[test]
    fn set_up_positions_have_the_same_moves(position in set_up()) {
        compare(&position);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn games_have_the_same_moves(choices in prop::collection::vec(any::<u32>(), 200)) {
        let mut position = Checkers::start();
        for choice in choices {
            compare(&position);
            let moves: Vec<_> = position.moves().collect();
            match moves.get(choice as usize % moves.len().max(1)) {
                Some(&mv) => position = position.play(mv),
                None => break,
            }
        }
    }
}
