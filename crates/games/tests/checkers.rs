//! Rules and notation of checkers.

use outflank_games::checkers::{Checkers, CheckersError, DRAW_PLIES, DarkSquare, Move};
use outflank_games::{MoveError, Position, Side};
use proptest::prelude::*;

fn parse_position(text: &str) -> Checkers {
    text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn legal_moves(text: &str) -> Vec<String> {
    parse_position(text).moves().map(|mv| mv.to_string()).collect()
}

fn play(position: &str, text: &str) -> Checkers {
    let position = parse_position(position);
    position.play(position.parse_move(text).unwrap())
}

fn square(number: u8) -> DarkSquare {
    DarkSquare::new(number).unwrap()
}

#[test]
fn starting_position() {
    let start = Checkers::start();
    assert_eq!(start.to_move(), Side::Black);
    assert_eq!((start.men(Side::Black), start.men(Side::White)), (0xfff, 0xfff0_0000));
    assert_eq!((start.pieces(), start.kings(Side::Black), start.quiet_plies()), (24, 0, 0));
    let text = "B:W21,22,23,24,25,26,27,28,29,30,31,32:B1,2,3,4,5,6,7,8,9,10,11,12";
    assert_eq!(start.to_string(), text);
    assert_eq!(legal_moves(text), ["9-13", "9-14", "10-14", "10-15", "11-15", "11-16", "12-16"]);
}

#[test]
fn men_move_forward_and_kings_in_all_directions() {
    assert_eq!(legal_moves("B:WK1:B18"), ["18-22", "18-23"]);
    assert_eq!(legal_moves("W:W18:BK1"), ["18-14", "18-15"]);
    assert_eq!(legal_moves("W:WK18:BK1"), ["18-22", "18-23", "18-14", "18-15"]);
    // Steps and captures stop at the edges.
    assert_eq!(legal_moves("W:WK5:BK1"), ["5-9"]);
    assert_eq!(legal_moves("W:WK12:B8,16"), ["12x19", "12x3"]);
    assert_eq!(legal_moves("W:WK28:B24,K32"), ["28x19"]);
}

#[test]
fn captures_are_mandatory_but_not_the_longest() {
    assert_eq!(legal_moves("B:W15:B1,11"), ["11x18"]);
    // One capture takes one piece, the other two pieces.
    assert_eq!(legal_moves("W:W22:B17,18,11"), ["22x13", "22x15x8"]);
    // A man does not capture backward, a king does.
    assert_eq!(legal_moves("W:W14:B18"), ["14-9", "14-10"]);
    assert_eq!(legal_moves("W:WK14:B18"), ["14x23"]);
}

#[test]
fn multiple_captures_must_be_completed() {
    let position = parse_position("W:W22:B11,18");
    let illegal = MoveError::Illegal { mv: "22x15".into(), side: Side::White };
    assert_eq!(position.parse_move("22x15"), Err(illegal));
    let mv = position.parse_move("22x15x8").unwrap();
    assert_eq!((mv.from(), mv.to()), (square(22), square(8)));
    assert_eq!(mv.landings().collect::<Vec<_>>(), [square(15), square(8)]);
    assert_eq!(mv.captured(), square(11).bit() | square(18).bit());
    assert_eq!(position.play(mv).to_string(), "B:W8:B");
}

#[test]
fn crowning_ends_the_move() {
    // A king on 3 could continue over 8.
    assert_eq!(legal_moves("W:W10:B7,8"), ["10x3"]);
    assert_eq!(play("W:W10:B7,8", "10x3").to_string(), "B:WK3:B8");
    assert_eq!(legal_moves("W:WK10:B7,8"), ["10x3x12"]);
    assert_eq!(play("B:WK1:B25", "25-29").to_string(), "W:WK1:BK29");
}

#[test]
fn a_capture_may_return_to_its_origin() {
    let text = "W:WK10:B7,8,15,16,K29";
    assert_eq!(legal_moves(text), ["10x19x12x3x10", "10x3x12x19x10"]);
    assert_eq!(play(text, "10x3x12x19x10").to_string(), "B:WK10:BK29");
}

/// The longest possible capture. There is one route from 1 to 10 and one from 19 to 28; between 10
/// and 19 there are three, and the king takes one of them or all three in any order.
#[test]
fn nine_pieces_can_be_captured_in_one_move() {
    let position = parse_position("W:WK1:B6,7,8,14,15,16,22,23,24");
    let moves: Vec<Move> = position.moves().collect();
    let capturing = |count| moves.iter().filter(|mv| mv.captured().count_ones() == count).count();
    assert_eq!((moves.len(), capturing(9), capturing(3), capturing(5)), (9, 6, 1, 2));
    assert!(moves.iter().all(|mv| (mv.from(), mv.to()) == (square(1), square(28))));
    for mv in moves {
        assert_eq!(position.parse_move(&mv.to_string()), Ok(mv));
        assert_eq!(position.play(mv).result().is_some(), mv.captured().count_ones() == 9);
    }
    let error = position.parse_move("1x28").unwrap_err().to_string();
    assert!(error.starts_with("1x28 (ambiguous: 9 captures"), "{error}");
    // The same for Black from the other corner.
    assert_eq!(position.swap_sides().to_string(), "B:W9,10,11,17,18,19,25,26,27:BK32");
    assert_eq!(position.swap_sides().moves().count(), 9);
}

#[test]
fn a_side_without_moves_loses() {
    let blocked = parse_position("B:W25,30:B21");
    assert_eq!((blocked.result(), blocked.moves().count()), (Some(-1), 0));
    assert_eq!(blocked.swap_sides().result(), Some(1));
    assert_eq!(parse_position("W:W:B1").result(), Some(1));
    assert_eq!(parse_position("B:W32:B").result(), Some(-1));
    let over = Err(MoveError::GameOver("21-25".into()));
    assert_eq!(blocked.parse_move("21-25"), over);
    assert_eq!(blocked.parse_move("25"), Err(MoveError::InvalidNotation("25".into())));
}

#[test]
fn eighty_plies_without_progress_are_a_draw() {
    let mut position = parse_position("B:WK32:BK1");
    let shuffle = ["1-5", "32-28", "5-1", "28-32"];
    for (ply, text) in shuffle.iter().cycle().take(DRAW_PLIES.into()).enumerate() {
        assert_eq!((position.result(), usize::from(position.quiet_plies())), (None, ply));
        position = position.play(position.parse_move(text).unwrap());
    }
    assert_eq!(position.to_string(), "B:WK32:BK1:H80");
    assert_eq!((position.result(), position.moves().count()), (Some(0), 0));
    // A man's move and a capture reset the count.
    assert_eq!(play("B:WK32:BK1,9:H79", "9-13").quiet_plies(), 0);
    assert_eq!(play("B:WK32,6:BK1:H79", "1x10").quiet_plies(), 0);
    assert_eq!(play("B:WK32:BK1,9:H79", "1-5").result(), Some(0));
    // Having no legal move takes precedence over the draw.
    assert_eq!(parse_position("B:W25,30:B21:H80").result(), Some(-1));
}

#[test]
fn move_notation_is_lenient() {
    let position = parse_position("W:W22:B11,18");
    let full = position.parse_move("22x15x8");
    for text in ["22x8", "22X15X8", "22:15:8", "22-15-8", " 22 x 15 x 08 ", "22-8"] {
        assert_eq!(position.parse_move(text), full, "{text}");
    }
    let step = Checkers::start().parse_move("11-15").unwrap();
    assert_eq!((step.captured(), step.is_capture()), (0, false));
    assert_eq!(Checkers::start().parse_move("11x15"), Ok(step));
    for text in ["", "x", "11", "11-", "-11-15", "11-33", "0-4", "11-+15", "11–15", "1115", "a3-b4"]
    {
        let unreadable = Err(MoveError::InvalidNotation(text.into()));
        assert_eq!(Checkers::start().parse_move(text), unreadable);
    }
    let long = vec!["1"; 1000].join("x");
    assert_eq!(position.parse_move(&long), Err(MoveError::InvalidNotation(long)));
    let illegal = Err(MoveError::Illegal { mv: "11-20".into(), side: Side::Black });
    assert_eq!(Checkers::start().parse_move("11-20"), illegal);
}

#[test]
fn ambiguous_captures_need_all_squares() {
    let position = parse_position("W:WK10:BK1,7,8,15,16");
    let error = position.parse_move("10x10").unwrap_err().to_string();
    assert!(error.starts_with("10x10 (ambiguous: 2 captures"), "{error}");
    for text in ["10x3x12x19x10", "10x19x12x3x10"] {
        assert_eq!(position.parse_move(text).unwrap().to_string(), text);
    }
    // Two captures end on 26; the square between distinguishes them.
    let position = parse_position("B:W14,15,22,23:B10");
    assert!(position.parse_move("10x26").is_err());
    assert_eq!(position.parse_move("10x17x26").unwrap().landings().count(), 2);
    assert_eq!(position.parse_move("10x19x26").unwrap().landings().count(), 2);
}

#[test]
fn position_notation_is_lenient() {
    let position = parse_position("W:W22,K30:B6,K29:H12");
    for text in ["W:B6,K29:W22,K30:H12.", " w : wk30, 22 : h12 : b6,k29 "] {
        assert_eq!(parse_position(text), position);
    }
    assert_eq!(parse_position("W:W22,K30:BK29,6:H12").to_string(), "W:W22,K30:B6,K29:H12");
    assert_eq!(format!("{position:?}"), position.to_string());
    assert_eq!(parse_position("B:W:B").to_string(), "B:W:B");
}

#[test]
fn invalid_positions_are_rejected() {
    use CheckersError::{InvalidSquare, Missing, Occupied, QuietPlies, Repeated, Section};
    use CheckersError::{SideToMove, TooMany, Uncrowned};
    let side = Side::White;
    let text = |text: &str| text.to_owned();
    let thirteen = "B:W13,14,15,16,17,18,19,20,21,22,23,24,25:B1";
    for (given, error) in [
        ("", SideToMove(text(""))),
        ("X:W1:B2", SideToMove(text("X"))),
        ("é:W1:B2", SideToMove(text("é"))),
        ("B", Missing(Side::Black)),
        ("B:B1", Missing(side)),
        ("B:W21:B1:", Section(text(""))),
        ("B:W21:B1:é", Section(text("é"))),
        ("B:W21:B1:Q3", Section(text("Q3"))),
        ("B:W21:W22:B1", Repeated(text("W22"))),
        ("B:W21:B1:H1:H1", Repeated(text("H1"))),
        ("B:W33:B1", InvalidSquare { side, text: text("33") }),
        ("B:W0:B1", InvalidSquare { side, text: text("0") }),
        ("B:WK:B1", InvalidSquare { side, text: text("K") }),
        ("B:W21,:B1", InvalidSquare { side, text: text("") }),
        ("B:W+21:B1", InvalidSquare { side, text: text("+21") }),
        ("B:W021:B1", InvalidSquare { side, text: text("021") }),
        ("B:W4:B5", Uncrowned { side, square: square(4) }),
        ("B:W21:B29", Uncrowned { side: Side::Black, square: square(29) }),
        ("B:W21,K21:B1", Occupied(square(21))),
        ("B:W21:B1,21", Occupied(square(21))),
        (thirteen, TooMany { side, count: 13 }),
        ("B:W21:B1:H81", QuietPlies(text("81"))),
        ("B:W21:B1:H-1", QuietPlies(text("-1"))),
        ("B:W21:B1:H", QuietPlies(text(""))),
    ] {
        assert_eq!(given.parse::<Checkers>(), Err(error), "{given}");
    }
}

proptest! {
    #[test]
    fn arbitrary_text_does_not_panic(
        text in ".*",
        similar in "[BW]:[WB]?K?[0-9,K]{0,9}:[WB][0-9,K]{0,9}(:[HQ][0-9]{0,3})?",
        mv in "[0-9x:-]{0,12}",
        arbitrary_mv in ".{0,8}",
    ) {
        for text in [text, similar] {
            if let Ok(position) = text.parse::<Checkers>() {
                prop_assert_eq!(position.to_string().parse(), Ok(position));
            }
        }
        for text in [mv, arbitrary_mv] {
            if let Ok(mv) = Checkers::start().parse_move(&text) {
                prop_assert!(Checkers::start().is_legal(mv));
            }
        }
    }
}

#[test]
fn mobility_counts_steps_or_first_jumps() {
    let mut position = Checkers::start();
    for ply in 0..4000usize {
        let moves: Vec<_> = position.moves().collect();
        if moves.is_empty() {
            position = Checkers::start();
            continue;
        }
        let first_steps: std::collections::BTreeSet<_> =
            moves.iter().map(|mv| (mv.from().number(), mv.landings().next())).collect();
        let mobility = position.mobility(position.to_move());
        assert_eq!(mobility as usize, first_steps.len(), "{position}");
        let swapped = position.swap_sides();
        assert_eq!(mobility, swapped.mobility(swapped.to_move()));
        position = position.play(moves[(ply * 7919) % moves.len()]);
    }
}
