//! Checks published facts about Othello: the shortest game, position counts, openings.

use outflank_games::othello::{Board, Othello, Squares};
use outflank_games::{MoveError, Position, Side};
use proptest::prelude::*;
use std::collections::BTreeSet;

fn play(moves: &str) -> Othello {
    moves
        .split_whitespace()
        .fold(Othello::start(), |position, text| position.play(position.parse_move(text).unwrap()))
}

/// The shortest possible game has nine plies.
#[test]
fn the_shortest_game_captures_all_white_discs() {
    let end = play("f5 d6 c5 f4 e3 f6 g5 e6 e7");
    assert_eq!(end.discs(Side::White), 0);
    assert_eq!((end.result(), end.tournament_score()), (Some(13), Some(64)));
    assert_eq!((end.pieces(), end.empties()), (13, 51));
}

#[test]
fn position_counts_up_to_symmetry() {
    let mut boards = BTreeSet::from([Board::START.canonical().0]);
    for expected in [1, 1, 3, 14, 60] {
        assert_eq!(boards.len(), expected);
        boards = boards
            .iter()
            .flat_map(|&board| Squares(board.moves()).map(move |s| board.play(s).canonical().0))
            .collect();
    }
}

/// The boards after the perpendicular, diagonal and parallel openings.
#[test]
fn the_three_openings() {
    for (moves, row4, row5, row6) in [
        ("f5 d6", "---OX---", "---OXX--", "---O----"),
        ("f5 f6", "---OX---", "---XOX--", "-----O--"),
        ("f5 f4", "---OOO--", "---XXX--", "--------"),
    ] {
        let text = play(moves).to_string();
        assert_eq!((&text[24..32], &text[32..40], &text[40..48]), (row4, row5, row6), "{moves}");
        assert!(text.ends_with(" X"));
    }
}

#[test]
fn invalid_moves_are_rejected() {
    let start = Othello::start();
    for text in ["", "f", "f55", "i5", "f9", "f0", "5f", " f5", "é5", "–5", "pass"] {
        assert_eq!(start.parse_move(text), Err(MoveError::InvalidNotation(text.into())));
    }
    let illegal = |mv: &str| Err(MoveError::Illegal { mv: mv.into(), side: Side::Black });
    assert_eq!(start.parse_move("E5"), illegal("e5"));
    assert_eq!(start.parse_move("a1"), illegal("a1"));
    assert_eq!(start.parse_move("F5").map(|square| square.to_string()), Ok("f5".into()));
    let end = play("f5 d6 c5 f4 e3 f6 g5 e6 e7");
    assert_eq!(end.parse_move("a1"), Err(MoveError::GameOver("a1".into())));
}

proptest! {
    #[test]
    fn arbitrary_move_text_does_not_panic(text in ".{0,6}") {
        let _ = Othello::start().parse_move(&text);
    }

    /// A move keeps the bitboards disjoint and adds one disc.
    #[test]
    fn moves_keep_the_bitboards_disjoint(a: u64, b: u64) {
        let board = Board { own: a & !b, other: b & !a };
        for square in Squares(board.moves()) {
            let after = board.play(square);
            prop_assert_eq!(after.own & after.other, 0);
            prop_assert_eq!(after.empty(), board.empty() & !square.bit());
            prop_assert_ne!(board.flips(square) & board.other, 0);
        }
        prop_assert_eq!(board.is_over(), board.moves() == 0 && board.pass().moves() == 0);
        prop_assert_eq!(board.difference(), -board.pass().difference());
    }
}
