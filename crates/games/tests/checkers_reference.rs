//! Compares the move generator with a reference implementation of checkers without bitboards.

use outflank_games::checkers::{Checkers, DarkSquare};
use outflank_games::{Position, Side};
use proptest::prelude::*;

#[derive(Clone, Copy, PartialEq, Debug)]
struct Piece {
    side: Side,
    king: bool,
}

type Cells = [[Option<Piece>; 8]; 8];

/// Returns the row and column of a square number.
fn row_and_column(number: u8) -> (i8, i8) {
    let (row, index_in_row) = ((number as i8 - 1) / 4, (number as i8 - 1) % 4);
    (row, if row % 2 == 0 { 2 * index_in_row + 1 } else { 2 * index_in_row })
}

fn number(row: i8, column: i8) -> u8 {
    (row * 4 + column / 2 + 1) as u8
}

fn cells(position: &Checkers) -> Cells {
    let mut cells = [[None; 8]; 8];
    for n in 1..=32 {
        let (row, column) = row_and_column(n);
        let bit = DarkSquare::new(n).unwrap().bit();
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

/// Returns the content of a cell, or `None` outside the board.
fn cell_at(cells: &Cells, row: i8, column: i8) -> Option<Option<Piece>> {
    let on_board = (0..8).contains(&row) && (0..8).contains(&column);
    on_board.then(|| cells[row as usize][column as usize])
}

fn directions(piece: Piece) -> Vec<(i8, i8)> {
    let forward = if piece.side == Side::Black { 1 } else { -1 };
    let all = [(forward, -1), (forward, 1), (-forward, -1), (-forward, 1)];
    all[..if piece.king { 4 } else { 2 }].to_vec()
}

/// Appends all complete captures of a piece to `found`, each with the resulting board. Captured
/// pieces are removed at once, which is equivalent: no jump of the same move can land on their
/// squares.
fn captures(
    cells: &Cells,
    (row, column): (i8, i8),
    piece: Piece,
    path: &mut Vec<u8>,
    found: &mut Vec<(Vec<u8>, Cells)>,
) {
    let mut complete = true;
    for (down, right) in directions(piece) {
        let enemy = cell_at(cells, row + down, column + right).flatten();
        let landing = cell_at(cells, row + 2 * down, column + 2 * right);
        if enemy.is_some_and(|enemy| enemy.side != piece.side) && landing == Some(None) {
            complete = false;
            let mut after = *cells;
            after[(row + down) as usize][(column + right) as usize] = None;
            path.push(number(row + 2 * down, column + 2 * right));
            captures(&after, (row + 2 * down, column + 2 * right), piece, path, found);
            path.pop();
        }
    }
    if complete && path.len() > 1 {
        found.push((path.clone(), place_piece(*cells, (row, column), piece)));
    }
}

/// Places the piece and crowns it on the last row.
fn place_piece(mut cells: Cells, (row, column): (i8, i8), piece: Piece) -> Cells {
    let last_row = if piece.side == Side::Black { 7 } else { 0 };
    let king = piece.king || row == last_row;
    cells[row as usize][column as usize] = Some(Piece { king, ..piece });
    cells
}

/// Returns all legal moves in notation, each with the resulting board.
fn reference_moves(position: &Checkers) -> Vec<(String, Cells)> {
    let (board, side) = (cells(position), position.to_move());
    let (mut jumps, mut steps) = (Vec::new(), Vec::new());
    for n in 1..=32 {
        let (row, column) = row_and_column(n);
        let Some(piece) = cell_at(&board, row, column).flatten().filter(|p| p.side == side) else {
            continue;
        };
        let mut without_piece = board;
        without_piece[row as usize][column as usize] = None;
        captures(&without_piece, (row, column), piece, &mut vec![n], &mut jumps);
        for (down, right) in directions(piece) {
            let target = (row + down, column + right);
            if cell_at(&board, target.0, target.1) == Some(None) {
                let path = vec![n, number(target.0, target.1)];
                steps.push((path, place_piece(without_piece, target, piece)));
            }
        }
    }
    let (moves, separator) = if jumps.is_empty() { (steps, "-") } else { (jumps, "x") };
    let text = |path: Vec<u8>| path.iter().map(u8::to_string).collect::<Vec<_>>().join(separator);
    moves.into_iter().map(|(path, after)| (text(path), after)).collect()
}

fn compare_moves(position: &Checkers) {
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
    let mut reference =
        if position.result() == Some(0) { Vec::new() } else { reference_moves(position) };
    ours.sort_by(|a, b| a.0.cmp(&b.0));
    reference.sort_by(|a, b| a.0.cmp(&b.0));
    let texts = |moves: &[(String, Cells)]| moves.iter().map(|m| m.0.clone()).collect::<Vec<_>>();
    assert_eq!(texts(&ours), texts(&reference), "{position}");
    assert!(ours == reference, "a move leads to a different board in {position}");
}

/// Random positions, many with more kings and captures than occur in games.
fn random_positions() -> impl Strategy<Value = Checkers> {
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
    fn moves_of_random_positions_match_the_reference(position in random_positions()) {
        compare_moves(&position);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn moves_of_random_games_match_the_reference(choices in prop::collection::vec(any::<u32>(), 200)) {
        let mut position = Checkers::start();
        for choice in choices {
            compare_moves(&position);
            let moves: Vec<_> = position.moves().collect();
            match moves.get(choice as usize % moves.len().max(1)) {
                Some(&mv) => position = position.play(mv),
                None => break,
            }
        }
    }
}
