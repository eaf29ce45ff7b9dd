//! External engines: a fake engine with many kinds of misbehavior and, if installed, a real engine.

use outflank_games::othello::{Othello, Square};
use outflank_games::{Line, Position, Side};
use outflank_players::{Engine, EngineCommand, EngineOptions, Player, PlayerError, Protocol};
use outflank_runs::RngExt;
use outflank_runs::rng::{Rng, stream};
use std::time::Duration;

/// Returns the path of the fake engine, which cargo builds next to this test binary.
fn fake_program() -> String {
    let test = std::env::current_exe().expect("this test has a path");
    let folder = test.ancestors().nth(2).expect("a test lies in the target folder");
    let fake = folder.join("examples").join(format!("fake_engine{}", std::env::consts::EXE_SUFFIX));
    assert!(fake.exists(), "build the fake engine with: cargo build --example fake_engine");
    fake.to_str().expect("a path in UTF-8").to_owned()
}

fn fake_command(protocol: Protocol, arguments: &[&str]) -> EngineCommand {
    let mut words = vec![fake_program(), protocol.to_string()];
    words.extend(arguments.iter().map(|word| (*word).to_owned()));
    format!("{protocol}:{}", shell_words::join(words)).parse().expect("a command")
}

fn start_fake_engine(protocol: Protocol, mode: &str, options: EngineOptions) -> Engine {
    Engine::start(&fake_command(protocol, &[mode]), options).expect("the fake engine starts")
}

/// Short timeouts, for engines that hang.
fn short_timeout() -> EngineOptions {
    EngineOptions { timeout: Duration::from_millis(200), ..EngineOptions::default() }
}

fn test_rng() -> Rng {
    stream(1, &["engines"])
}

/// Returns a random unfinished game whose last ply was followed by a pass.
fn game_with_a_pass(rng: &mut Rng) -> Line<Othello> {
    loop {
        let mut game = Line::<Othello>::default();
        while !game.position().is_over() {
            let moves: Vec<Square> = game.position().moves().collect();
            let mover = game.position().to_move();
            game.push(*rng.pick(&moves).expect("not over")).expect("legal");
            if game.position().to_move() == mover && !game.position().is_over() {
                return game;
            }
        }
    }
}

/// Plays a game to its end, the engine against random moves.
fn play_out(
    engine: &mut Engine,
    mut game: Line<Othello>,
    side: Side,
    rng: &mut Rng,
) -> Line<Othello> {
    engine.new_game().expect("the engine starts a game");
    while !game.position().is_over() {
        let square = if game.position().to_move() == side {
            engine.choose(&game, rng).expect("the engine moves")
        } else {
            let moves: Vec<Square> = game.position().moves().collect();
            *rng.pick(&moves).expect("not over")
        };
        game.push(square).expect("the move is legal");
    }
    game
}

/// Plays whole games with either color, from the start and from a position after a pass.
fn check_whole_games(engine: &mut Engine, rng: &mut Rng) {
    for side in Side::BOTH {
        play_out(engine, Line::default(), side, rng);
        let opening = game_with_a_pass(rng);
        engine.new_game().expect("the engine starts a game");
        let square = engine.choose(&opening, rng).expect("the engine moves after a pass");
        assert!(opening.position().is_legal(square));
        play_out(engine, opening, side, rng);
    }
}

#[test]
fn well_behaved_engines_play_whole_games() {
    for protocol in Protocol::ALL {
        for mode in ["play", "autopass", "stale", "no-blank-line", "banner", "slow"] {
            let mut engine = start_fake_engine(protocol, mode, EngineOptions::default());
            check_whole_games(&mut engine, &mut test_rng());
        }
    }
}

#[test]
fn the_engine_receives_the_right_position() {
    // The fake engine plays the first legal move, which reveals its board.
    for protocol in Protocol::ALL {
        let mut rng = test_rng();
        let mut engine = start_fake_engine(protocol, "play", EngineOptions::default());
        for _ in 0..5 {
            engine.new_game().expect("starts a game");
            let mut game = Line::<Othello>::default();
            while !game.position().is_over() {
                // The engine moves for both sides, and its answer may not be the move played.
                let square = engine.choose(&game, &mut rng).expect("moves");
                assert_eq!(Some(square), game.position().moves().next());
                let moves: Vec<Square> = game.position().moves().collect();
                game.push(*rng.pick(&moves).expect("not over")).expect("legal");
            }
        }
    }
}

#[test]
fn long_lines_before_an_answer_are_ignored() {
    for protocol in Protocol::ALL {
        let mut engine = start_fake_engine(protocol, "huge", EngineOptions::default());
        let square = engine.choose(&Line::default(), &mut test_rng()).expect("moves");
        assert_eq!(square.to_string(), "d3");
    }
}

#[test]
fn depth_is_forwarded_or_rejected() {
    let deep = || EngineOptions { level: Some(6), ..EngineOptions::default() };
    let mut engine = start_fake_engine(Protocol::NBoard, "play", deep());
    engine.choose(&Line::default(), &mut test_rng()).expect("moves");
    match Engine::start(&fake_command(Protocol::Gtp, &["play"]), deep()) {
        Err(PlayerError::Start { reason, .. }) => assert!(reason.contains("level 6"), "{reason}"),
        other => panic!("{:?}", other.err()),
    }
}

#[test]
fn custom_starts_are_played_by_nboard_and_refused_by_gtp() {
    let mut rng = test_rng();
    let mut game = Line::<Othello>::default();
    for text in ["f5", "d6", "c3"] {
        game.push(game.position().parse_move(text).expect("legal")).expect("legal");
    }
    let opening = Line::new(*game.position());
    let mut engine = start_fake_engine(Protocol::NBoard, "play", EngineOptions::default());
    play_out(&mut engine, opening.clone(), Side::White, &mut rng);

    let mut engine = start_fake_engine(Protocol::Gtp, "play", EngineOptions::default());
    for _ in 0..10 {
        engine.new_game().expect("starts a game");
        match engine.choose(&opening, &mut rng) {
            Err(PlayerError::Refused { reason, .. }) => {
                assert!(reason.contains("transcripts"), "{reason}")
            }
            other => panic!("{other:?}"),
        }
    }
    // The engine did not fail, so it keeps playing.
    play_out(&mut engine, Line::default(), Side::White, &mut rng);
}

#[test]
fn an_engine_out_of_sync_receives_the_whole_game() {
    let mut engine = start_fake_engine(Protocol::Gtp, "forgetful", EngineOptions::default());
    play_out(&mut engine, Line::default(), Side::Black, &mut test_rng());
}

#[test]
fn engines_that_hang_time_out() {
    for protocol in Protocol::ALL {
        for mode in ["hang", "flood", "endless"] {
            let mut engine = start_fake_engine(protocol, mode, short_timeout());
            let error = engine.choose(&Line::default(), &mut test_rng()).expect_err(mode);
            assert!(matches!(error, PlayerError::Timeout { seconds: 1, .. }), "{mode}: {error:?}");
            // Until the next game the error is repeated.
            assert_eq!(engine.choose(&Line::default(), &mut test_rng()), Err(error));
        }
        let options =
            EngineOptions { start_timeout: Duration::from_millis(200), ..short_timeout() };
        match Engine::start(&fake_command(protocol, &["mute"]), options) {
            Err(PlayerError::Start { reason, .. }) => {
                assert!(reason.contains("no answer"), "{reason}")
            }
            other => panic!("{:?}", other.err()),
        }
    }
}

#[test]
fn errors_of_crashed_engines_quote_standard_error() {
    for protocol in Protocol::ALL {
        let mut engine = start_fake_engine(protocol, "die", EngineOptions::default());
        match engine.choose(&Line::default(), &mut test_rng()) {
            Err(PlayerError::Exited { detail, .. }) => {
                assert!(detail.contains("assertion failed: board != NULL"), "{detail}");
                assert!(detail.contains('3'), "the exit status: {detail}");
            }
            other => panic!("{other:?}"),
        }
        match Engine::start(&fake_command(protocol, &["dead"]), EngineOptions::default()) {
            Err(PlayerError::Start { reason, .. }) => {
                assert!(reason.contains("no such table: eval.dat"), "{reason}");
            }
            other => panic!("{:?}", other.err()),
        }
    }
}

#[test]
fn wrong_answers_are_errors() {
    for protocol in Protocol::ALL {
        for (mode, expected) in [("illegal", "d4"), ("garbage", "z9"), ("pass", "pa")] {
            let mut engine = start_fake_engine(protocol, mode, EngineOptions::default());
            match engine.choose(&Line::default(), &mut test_rng()) {
                Err(PlayerError::IllegalMove { answer, .. }) => {
                    assert!(answer.to_lowercase().contains(expected), "{answer}");
                    assert!(!answer.contains('\u{1b}'), "no control characters: {answer:?}");
                }
                other => panic!("{mode}: {other:?}"),
            }
        }
    }
    // GTP 2 defines `resign` as an answer to `genmove`. The engine keeps running.
    let mut engine = start_fake_engine(Protocol::Gtp, "resign", EngineOptions::default());
    for _ in 0..2 {
        let mut game = Line::<Othello>::default();
        engine.new_game().expect("starts a game");
        for _ in 0..2 {
            game.push(engine.choose(&game, &mut test_rng()).expect("moves")).expect("legal");
        }
        match engine.choose(&game, &mut test_rng()) {
            Err(PlayerError::Resigned { .. }) => {}
            other => panic!("{other:?}"),
        }
    }
    let mut engine = start_fake_engine(Protocol::Gtp, "refuse", EngineOptions::default());
    match engine.choose(&Line::default(), &mut test_rng()) {
        Err(PlayerError::Refused { reason, .. }) => {
            assert!(reason.contains("out of ideas"), "{reason}")
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn an_engine_restarts_after_an_error() {
    let folder = tempfile::tempdir().expect("a folder");
    for protocol in Protocol::ALL {
        let file = folder.path().join(protocol.name());
        let file = file.to_str().expect("a path in UTF-8");
        let command = fake_command(protocol, &["recover", file]);
        let mut engine = Engine::start(&command, EngineOptions::default()).expect("starts");
        engine.new_game().expect("starts a game");
        let error = engine.choose(&Line::default(), &mut test_rng()).expect_err("dies");
        assert!(matches!(error, PlayerError::Exited { .. }), "{error:?}");
        play_out(&mut engine, Line::default(), Side::Black, &mut test_rng());
    }
}

#[test]
fn an_engine_that_exits_between_games_is_restarted() {
    for protocol in Protocol::ALL {
        let mut engine = start_fake_engine(protocol, "leave", EngineOptions::default());
        for _ in 0..6 {
            engine.new_game().expect("starts a game");
            engine.choose(&Line::default(), &mut test_rng()).expect("moves");
        }
    }
}

#[test]
fn restarts_are_limited() {
    let options =
        EngineOptions { restarts: 2, name: Some("Wobbly".to_owned()), ..EngineOptions::default() };
    let mut engine = start_fake_engine(Protocol::Gtp, "die", options);
    assert_eq!(engine.name(), "Wobbly");
    for _ in 0..3 {
        engine.new_game().expect("starts a game");
        engine.choose(&Line::default(), &mut test_rng()).expect_err("dies");
    }
    for _ in 0..2 {
        match engine.new_game() {
            Err(PlayerError::Start { player, reason }) => {
                assert_eq!(player, "Wobbly");
                assert!(reason.contains("3 times in a row"), "{reason}");
                assert!(reason.contains("assertion failed"), "{reason}");
            }
            other => panic!("{other:?}"),
        }
        engine.choose(&Line::default(), &mut test_rng()).expect_err("is not there");
    }
}

#[test]
fn a_missing_program_is_reported() {
    for program in ["no-such-engine-here", "/no/such/folder/engine"] {
        let command = format!("gtp:{program} -l 1").parse().expect("a command");
        match Engine::start(&command, EngineOptions::default()) {
            Err(error @ PlayerError::Start { .. }) => {
                let text = error.to_string();
                assert!(text.contains(&format!("'{program}'")) && text.contains("PATH"), "{text}");
            }
            other => panic!("{:?}", other.err()),
        }
    }
}

#[test]
fn engines_run_on_several_threads() {
    let command = fake_command(Protocol::NBoard, &["play"]);
    let games: Vec<_> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..4)
            .map(|_| {
                scope.spawn(|| {
                    let options = EngineOptions::default();
                    let engine = Engine::start(&command, options).expect("starts");
                    let mut engine: Box<dyn Player<Othello>> = Box::new(engine);
                    let mut game = Line::<Othello>::default();
                    engine.new_game().expect("starts a game");
                    while !game.position().is_over() {
                        game.push(engine.choose(&game, &mut test_rng()).expect("moves"))
                            .expect("legal");
                    }
                    game
                })
            })
            .collect();
        workers.into_iter().map(|worker| worker.join().expect("no panic")).collect()
    });
    assert!(games.windows(2).all(|pair| pair[0] == pair[1]));
}

/// Returns whether a process is running (a zombie is not).
#[cfg(target_os = "linux")]
fn is_running(id: &str) -> bool {
    let state = std::fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
    state.rsplit(')').next().is_some_and(|rest| !rest.is_empty() && !rest.starts_with(" Z"))
}

#[cfg(target_os = "linux")]
#[test]
fn no_process_outlives_its_engine() {
    let folder = tempfile::tempdir().expect("a folder");
    // The engine and `sleep` are children of the shell.
    let script = r#"sleep 600 & echo "$$ $!" > "$0"; "$1" gtp "$2"; exit"#;
    for (mode, options) in [("play", EngineOptions::default()), ("hang", short_timeout())] {
        let file = folder.path().join(mode);
        let path = file.to_str().expect("a path in UTF-8");
        let words = ["sh", "-c", script, path, &fake_program(), mode].map(str::to_owned);
        let command = format!("gtp:{}", shell_words::join(words)).parse().expect("a command");
        let mut engine = Engine::start(&command, options).expect("starts");
        let written = std::fs::read_to_string(&file).expect("the shell wrote its process ids");
        let ids: Vec<&str> = written.split_whitespace().collect();
        assert!(ids.len() == 2 && ids.iter().all(|id| is_running(id)), "{written}");

        let answer = engine.choose(&Line::default(), &mut test_rng());
        assert_eq!(answer.is_ok(), mode == "play");
        drop(engine);
        // The shell was waited for, so no zombie is left.
        assert!(!std::path::Path::new(&format!("/proc/{}", ids[0])).exists(), "a zombie is left");
        // The signal to `sleep` may take a moment.
        for _ in 0..1000 {
            if !is_running(ids[1]) {
                break;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        assert!(!is_running(ids[1]), "a child is left after '{mode}'");
    }
}

/// Returns the command of a real GTP engine, if one is installed.
fn real_engine() -> Option<String> {
    std::env::var("OUTFLANK_GTP_ENGINE").ok().or_else(|| {
        let path = std::env::var_os("PATH")?;
        let found = std::env::split_paths(&path).any(|folder| folder.join("gtp-rhino").exists());
        found.then(|| "gtp-rhino -l 1".to_owned())
    })
}

#[test]
fn a_real_engine_plays_whole_games() {
    let Some(command) = real_engine() else {
        eprintln!("skipped: no gtp-rhino on PATH, and OUTFLANK_GTP_ENGINE is not set");
        return;
    };
    let command = format!("gtp:{command}").parse().expect("a command");
    let mut engine = Engine::start(&command, EngineOptions::default()).expect("starts");
    let mut rng = test_rng();
    check_whole_games(&mut engine, &mut rng);
    // Playing other moves than the engine's forces a resynchronization.
    engine.new_game().expect("starts a game");
    let mut game = game_with_a_pass(&mut rng);
    while !game.position().is_over() {
        engine.choose(&game, &mut rng).expect("moves");
        let moves: Vec<Square> = game.position().moves().collect();
        game.push(*rng.pick(&moves).expect("not over")).expect("legal");
    }
}
