//! `outflank play`: a game in the terminal.

use crate::Outcome;
use crate::cli::PlayArgs;
use crate::errors::{UsageError, ensure_usage};
use crate::output::print_json;
use anyhow::{Context, Result, anyhow};
use outflank_analysis::{BoardView, GameText, levels};
use outflank_games::{Line, Side, with_game};
use outflank_players::spec::SearchSpec;
use outflank_players::{PlayerSpec, player_rating, registry};
use outflank_protocols::play::{DisplayOptions, GameSession, Opponent, SessionEnd};
use outflank_protocols::terminal_board::BoardStyle;
use outflank_protocols::{TerminalGame, serve};
use outflank_runs::{files, install_stop_handler};
use serde_json::{Value, json};
use std::io::{BufReader, ErrorKind, IsTerminal, Write};
use std::path::Path;

/// Maximum size of a game file.
const MAX_FILE_SIZE: u64 = 1 << 24;

/// Maximum thinking time per move, in seconds.
const MAX_SECONDS: f64 = 3600.0;

/// Plays until the user quits or the input ends.
pub fn run(args: &PlayArgs) -> Result<Outcome> {
    with_game!(args.game.into(), P => play::<P>(args))
}

fn play<P: TerminalGame>(args: &PlayArgs) -> Result<Outcome> {
    let mut player = player::<P>(args)?;
    let mut spec: PlayerSpec = player.parse()?;
    if let Some(seconds) = args.seconds {
        ensure_usage!(
            seconds > 0.0 && seconds <= MAX_SECONDS,
            "--seconds is a time per move, above 0 and at most {MAX_SECONDS}, not {seconds}"
        );
        spec.seconds = Some(seconds);
        // A time limit replaces the depth of a level, but not that of a player.
        if args.player.is_none() && matches!(spec.search, SearchSpec::Depth { .. }) {
            spec.search = SearchSpec::Default;
            player.clone_from(&spec.model);
        }
    }
    let opponent = Opponent {
        player: registry::factory_from_spec::<P>(&spec)?.make()?,
        name: description::<P>(&player, args.seconds),
    };
    crate::model_source::note_players(&[&player], false);
    let line = match &args.from {
        Some(from) => read_game::<P>(from)?,
        None => Line::default(),
    };
    let input = std::io::stdin();
    let is_terminal =
        if args.json { std::io::stderr().is_terminal() } else { std::io::stdout().is_terminal() };
    let display = DisplayOptions { board_style: style(is_terminal), echo: !input.is_terminal() };
    let mut session = GameSession::new(line, args.side.into(), opponent, display, args.seed);
    install_stop_handler();
    let input = BufReader::new(input);
    let served = match args.json {
        true => serve(&mut session, input, &mut std::io::stderr()),
        false => serve(&mut session, input, &mut std::io::stdout()),
    };
    match served {
        // The reader has closed the pipe.
        Err(error) if error.kind() == ErrorKind::BrokenPipe => return Ok(Outcome::Done),
        served => served?,
    }
    if args.json {
        print_json(&session_json(&session, &player))?;
    }
    std::io::stdout().flush().ok();
    match session.end() {
        SessionEnd::Stopped => Ok(Outcome::Stopped),
        SessionEnd::Fault(reason) => Err(anyhow!("the game was aborted: {reason}")),
        _ => Ok(Outcome::Done),
    }
}

/// The player string of the opponent.
fn player<P: BoardView>(args: &PlayArgs) -> Result<String> {
    if let Some(player) = &args.player {
        return Ok(player.clone());
    }
    let title = args.level.as_deref().unwrap_or(levels::DEFAULT_LEVEL);
    let level = levels::find_level(P::GAME, title).ok_or_else(|| {
        let known: Vec<String> = levels::levels(P::GAME).map(|l| l.title.to_lowercase()).collect();
        let (game, known) = (P::GAME, known.join(", "));
        UsageError(format!("--level: {game} has no level '{title}'; the levels are {known}"))
    })?;
    Ok(level.player.to_owned())
}

/// A description of the opponent: level, player and rating.
fn description<P: BoardView>(player: &str, seconds: Option<f64>) -> String {
    let mut parts = vec![player.to_owned()];
    match seconds {
        // With a time limit it is a different player, without a rating.
        Some(seconds) => parts.push(format!("{seconds} s per move")),
        None => {
            let rating = player_rating(P::GAME, player).and_then(|strength| strength.rating);
            // Rounded as in the browser.
            parts.extend(
                rating.map(|(r, error)| format!("{} +/- {} Elo", r.round(), error.round())),
            );
        }
    }
    match levels::level_for_player(P::GAME, player).filter(|_| seconds.is_none()) {
        Some(level) => format!("{}, {}", level.title, parts.join(", ")),
        None => parts.join(", "),
    }
}

/// Reads the game to continue: a file, or its moves.
fn read_game<P: GameText>(from: &str) -> Result<Line<P>> {
    let path = Path::new(from);
    if path.is_file() {
        let bytes = files::read(path, MAX_FILE_SIZE)?;
        return P::parse_file(path, &bytes).with_context(|| format!("--from {}", path.display()));
    }
    P::parse_game(from).with_context(|| format!("--from '{from}' is neither a file nor a game"))
}

/// The style of the board: colors only on a terminal that supports them.
fn style(terminal: bool) -> BoardStyle {
    let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let dumb = std::env::var_os("TERM").is_none_or(|term| term == "dumb");
    let color = terminal && !set("NO_COLOR") && !dumb;
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"]
        .iter()
        .find_map(|name| std::env::var(name).ok().filter(|value| !value.is_empty()));
    let utf8 =
        locale.is_some_and(|name| name.to_ascii_lowercase().replace('-', "").contains("utf8"));
    BoardStyle { color, unicode: color && utf8 }
}

fn session_json<P: TerminalGame>(session: &GameSession<P>, player: &str) -> Value {
    let (line, position) = (session.line(), session.line().position());
    let moves: Vec<String> = line.moves().iter().map(ToString::to_string).collect();
    let winner = session.winner().map(|side| side.map_or("draw".to_owned(), |s| s.to_string()));
    json!({
        "game": P::GAME.name(),
        "player": player,
        "side": session.human().to_string(),
        "start": (*line.start() != P::start()).then(|| line.start().to_string()),
        "moves": moves,
        "transcript": P::format_game(line),
        "over": position.is_over(),
        "black": position.count(Side::Black),
        "white": position.count(Side::White),
        "result": position.result(),
        "winner": winner,
        "end": session.end().name(),
    })
}
