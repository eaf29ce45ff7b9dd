//! The rules and the notation of English draughts, case by case.

use outflank_games::checkers::{Checkers, CheckersError, DRAW_PLIES, Move, Square};
use outflank_games::{MoveError, Position, Side};
use proptest::prelude::*;

fn at(text: &str) -> Checkers {
    text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn moves(text: &str) -> Vec<String> {
    at(text).moves().map(|mv| mv.to_string()).collect()
}

fn play(position: &str, text: &str) -> Checkers {
    let position = at(position);
    position.play(position.parse_move(text).unwrap())
}

fn square(number: u8) -> Square {
    Square::new(number).unwrap()
}

#[test]
fn the_start() {
    let start = Checkers::start();
    assert_eq!(start.to_move(), Side::Black);
    assert_eq!((start.men(Side::Black), start.men(Side::White)), (0xfff, 0xfff0_0000));
    assert_eq!((start.pieces(), start.kings(Side::Black), start.quiet_plies()), (24, 0, 0));
    let text = "B:W21,22,23,24,25,26,27,28,29,30,31,32:B1,2,3,4,5,6,7,8,9,10,11,12";
    assert_eq!(start.to_string(), text);
    assert_eq!(moves(text), ["9-13", "9-14", "10-14", "10-15", "11-15", "11-16", "12-16"]);
}

#[test]
fn men_go_forward_and_kings_both_ways() {
    assert_eq!(moves("B:WK1:B18"), ["18-22", "18-23"]);
    assert_eq!(moves("W:W18:BK1"), ["18-14", "18-15"]);
    assert_eq!(moves("W:WK18:BK1"), ["18-22", "18-23", "18-14", "18-15"]);
    // Edges stop steps and captures alike.
    assert_eq!(moves("W:WK5:BK1"), ["5-9"]);
    assert_eq!(moves("W:WK12:B8,16"), ["12x19", "12x3"]);
    assert_eq!(moves("W:WK28:B24,K32"), ["28x19"]);
}

#[test]
fn captures_are_forced_but_not_the_longest() {
    assert_eq!(moves("B:W15:B1,11"), ["11x18"]);
    // One way takes one piece, the other two.
    assert_eq!(moves("W:W22:B17,18,11"), ["22x13", "22x15x8"]);
    // A man does not capture backward, a king does.
    assert_eq!(moves("W:W14:B18"), ["14-9", "14-10"]);
    assert_eq!(moves("W:WK14:B18"), ["14x23"]);
}

#[test]
fn a_capture_is_carried_on_to_its_end() {
    let position = at("W:W22:B11,18");
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
    // From 3 a king could go on over 8.
    assert_eq!(moves("W:W10:B7,8"), ["10x3"]);
    assert_eq!(play("W:W10:B7,8", "10x3").to_string(), "B:WK3:B8");
    assert_eq!(moves("W:WK10:B7,8"), ["10x3x12"]);
    assert_eq!(play("B:WK1:B25", "25-29").to_string(), "W:WK1:BK29");
}

#[test]
fn a_king_may_come_home() {
    let text = "W:WK10:B7,8,15,16,K29";
    assert_eq!(moves(text), ["10x19x12x3x10", "10x3x12x19x10"]);
    assert_eq!(play(text, "10x3x12x19x10").to_string(), "B:WK10:BK29");
}

/// The longest capture there is. From 1 to 10 and from 19 to 28 there is one way each, between 10
/// and 19 there are three: the king takes one of them, or all three in any order.
#[test]
fn nine_at_once() {
    let position = at("W:WK1:B6,7,8,14,15,16,22,23,24");
    let moves: Vec<Move> = position.moves().collect();
    let taken = |count| moves.iter().filter(|mv| mv.captured().count_ones() == count).count();
    assert_eq!((moves.len(), taken(9), taken(3), taken(5)), (9, 6, 1, 2));
    assert!(moves.iter().all(|mv| (mv.from(), mv.to()) == (square(1), square(28))));
    for mv in moves {
        assert_eq!(position.parse_move(&mv.to_string()), Ok(mv));
        assert_eq!(position.play(mv).margin().is_some(), mv.captured().count_ones() == 9);
    }
    let error = position.parse_move("1x28").unwrap_err().to_string();
    assert!(error.starts_with("1x28, which could be any of 9 captures"), "{error}");
    // Nine for Black as well, from the other corner.
    assert_eq!(position.swap_sides().to_string(), "B:W9,10,11,17,18,19,25,26,27:BK32");
    assert_eq!(position.swap_sides().moves().count(), 9);
}

#[test]
fn who_cannot_move_loses() {
    let blocked = at("B:W25,30:B21");
    assert_eq!((blocked.margin(), blocked.moves().count()), (Some(-1), 0));
    assert_eq!(blocked.swap_sides().margin(), Some(1));
    assert_eq!(at("W:W:B1").margin(), Some(1));
    assert_eq!(at("B:W32:B").margin(), Some(-1));
    let over = Err(MoveError::Over("21-25".into()));
    assert_eq!(blocked.parse_move("21-25"), over);
    assert_eq!(blocked.parse_move("25"), Err(MoveError::Unreadable("25".into())));
}

#[test]
fn eighty_quiet_plies_are_a_draw() {
    let mut position = at("B:WK32:BK1");
    let shuffle = ["1-5", "32-28", "5-1", "28-32"];
    for (ply, text) in shuffle.iter().cycle().take(DRAW_PLIES.into()).enumerate() {
        assert_eq!((position.margin(), usize::from(position.quiet_plies())), (None, ply));
        position = position.play(position.parse_move(text).unwrap());
    }
    assert_eq!(position.to_string(), "B:WK32:BK1:H80");
    assert_eq!((position.margin(), position.moves().count()), (Some(0), 0));
    // A man's move and a capture begin the count anew.
    assert_eq!(play("B:WK32:BK1,9:H79", "9-13").quiet_plies(), 0);
    assert_eq!(play("B:WK32,6:BK1:H79", "1x10").quiet_plies(), 0);
    assert_eq!(play("B:WK32:BK1,9:H79", "1-5").margin(), Some(0));
    // Being unable to move weighs more than the draw.
    assert_eq!(at("B:W25,30:B21:H80").margin(), Some(-1));
}

#[test]
fn moves_may_be_written_carelessly() {
    let position = at("W:W22:B11,18");
    let full = position.parse_move("22x15x8");
    for text in ["22x8", "22X15X8", "22:15:8", "22-15-8", " 22 x 15 x 08 ", "22-8"] {
        assert_eq!(position.parse_move(text), full, "{text}");
    }
    let step = Checkers::start().parse_move("11-15").unwrap();
    assert_eq!((step.captured(), step.is_capture()), (0, false));
    assert_eq!(Checkers::start().parse_move("11x15"), Ok(step));
    for text in ["", "x", "11", "11-", "-11-15", "11-33", "0-4", "11-+15", "11–15", "1115", "a3-b4"]
    {
        let unreadable = Err(MoveError::Unreadable(text.into()));
        assert_eq!(Checkers::start().parse_move(text), unreadable);
    }
    let long = vec!["1"; 1000].join("x");
    assert_eq!(position.parse_move(&long), Err(MoveError::Unreadable(long)));
    let illegal = Err(MoveError::Illegal { mv: "11-20".into(), side: Side::Black });
    assert_eq!(Checkers::start().parse_move("11-20"), illegal);
}

#[test]
fn shared_ends_need_every_square() {
    let position = at("W:WK10:BK1,7,8,15,16");
    let error = position.parse_move("10x10").unwrap_err().to_string();
    assert!(error.starts_with("10x10, which could be any of 2 captures"), "{error}");
    for text in ["10x3x12x19x10", "10x19x12x3x10"] {
        assert_eq!(position.parse_move(text).unwrap().to_string(), text);
    }
    // Two ways to 26, and the square between tells them apart.
    let position = at("B:W14,15,22,23:B10");
    assert!(position.parse_move("10x26").is_err());
    assert_eq!(position.parse_move("10x17x26").unwrap().landings().count(), 2);
    assert_eq!(position.parse_move("10x19x26").unwrap().landings().count(), 2);
}

#[test]
fn positions_may_be_written_carelessly() {
    let position = at("W:W22,K30:B6,K29:H12");
    for text in ["W:B6,K29:W22,K30:H12.", " w : wk30, 22 : h12 : b6,k29 "] {
        assert_eq!(at(text), position);
    }
    assert_eq!(at("W:W22,K30:BK29,6:H12").to_string(), "W:W22,K30:B6,K29:H12");
    assert_eq!(format!("{position:?}"), position.to_string());
    assert_eq!(at("B:W:B").to_string(), "B:W:B");
}

#[test]
fn faults_of_positions_are_named() {
    use CheckersError::{Missing, Occupied, Part, Quiet, Repeated, TooMany, Uncrowned};
    use CheckersError::{Side as Turn, Square as Unknown};
    let side = Side::White;
    let text = |text: &str| text.to_owned();
    let thirteen = "B:W13,14,15,16,17,18,19,20,21,22,23,24,25:B1";
    for (given, error) in [
        ("", Turn(text(""))),
        ("X:W1:B2", Turn(text("X"))),
        ("é:W1:B2", Turn(text("é"))),
        ("B", Missing(Side::Black)),
        ("B:B1", Missing(side)),
        ("B:W21:B1:", Part(text(""))),
        ("B:W21:B1:é", Part(text("é"))),
        ("B:W21:B1:Q3", Part(text("Q3"))),
        ("B:W21:W22:B1", Repeated(text("W22"))),
        ("B:W21:B1:H1:H1", Repeated(text("H1"))),
        ("B:W33:B1", Unknown { side, text: text("33") }),
        ("B:W0:B1", Unknown { side, text: text("0") }),
        ("B:WK:B1", Unknown { side, text: text("K") }),
        ("B:W21,:B1", Unknown { side, text: text("") }),
        ("B:W+21:B1", Unknown { side, text: text("+21") }),
        ("B:W021:B1", Unknown { side, text: text("021") }),
        ("B:W4:B5", Uncrowned { side, square: square(4) }),
        ("B:W21:B29", Uncrowned { side: Side::Black, square: square(29) }),
        ("B:W21,K21:B1", Occupied(square(21))),
        ("B:W21:B1,21", Occupied(square(21))),
        (thirteen, TooMany { side, count: 13 }),
        ("B:W21:B1:H81", Quiet(text("81"))),
        ("B:W21:B1:H-1", Quiet(text("-1"))),
        ("B:W21:B1:H", Quiet(text(""))),
    ] {
        assert_eq!(given.parse::<Checkers>(), Err(error), "{given}");
    }
}

proptest! {
    #[test]
    fn any_text_is_answered(
        text in ".*",
        near in "[BW]:[WB]?K?[0-9,K]{0,9}:[WB][0-9,K]{0,9}(:[HQ][0-9]{0,3})?",
        mv in "[0-9x:-]{0,12}",
        wild in ".{0,8}",
    ) {
        for text in [text, near] {
            if let Ok(position) = text.parse::<Checkers>() {
                prop_assert_eq!(position.to_string().parse(), Ok(position));
            }
        }
        for text in [mv, wild] {
            if let Ok(mv) = Checkers::start().parse_move(&text) {
                prop_assert!(Checkers::start().is_legal(mv));
            }
        }
    }
}

#[test]
fn ways_to_move_are_the_steps_or_the_first_jumps() {
    let mut position = Checkers::start();
    for ply in 0..4000usize {
        let moves: Vec<_> = position.moves().collect();
        if moves.is_empty() {
            position = Checkers::start();
            continue;
        }
        let firsts: std::collections::BTreeSet<_> =
            moves.iter().map(|mv| (mv.from().number(), mv.landings().next())).collect();
        let ways = position.mobility(position.to_move());
        assert_eq!(ways as usize, firsts.len(), "{position}");
        // The opponent's are counted as if the opponent were to move.
        let turned = position.swap_sides();
        assert_eq!(ways, turned.mobility(turned.to_move()));
        position = position.play(moves[(ply * 7919) % moves.len()]);
    }
}
