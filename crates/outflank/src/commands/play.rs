//! `outflank play`: a quick game in the terminal.

use crate::Outcome;
use crate::cli::SittingArgs;
use crate::output::print_json;
use anyhow::{Context, Result, anyhow, ensure};
use outflank_analysis::{BoardView, GameText, levels};
use outflank_games::checkers::Checkers;
use outflank_games::othello::Othello;
use outflank_games::{Game, Line, Side};
use outflank_players::spec::SearchSpec;
use outflank_players::{PlayerSpec, player_rating, registry};
use outflank_protocols::terminal_board::BoardStyle;
use outflank_protocols::play::{DisplayOptions, GameSession, Opponent, SessionEnd};
use outflank_protocols::serve;
use outflank_runs::{files, install_stop_handler};
use serde_json::{Value, json};
use std::io::{BufReader, ErrorKind, IsTerminal, Write};
use std::path::Path;

/// No game file that a person would go on with is larger.
const LARGEST: u64 = 1 << 24;

/// The longest that a move may take.
const LONGEST: f64 = 3600.0;

/// Plays until the person or the input has had enough.
pub fn run(args: &SittingArgs) -> Result<Outcome> {
    match Game::from(args.game) {
        Game::Othello => sit::<Othello>(args),
        Game::Checkers => sit::<Checkers>(args),
    }
}

fn sit<P: BoardView + GameText>(args: &SittingArgs) -> Result<Outcome> {
    let mut player = player::<P>(args)?;
    let mut spec: PlayerSpec = player.parse()?;
    if let Some(seconds) = args.seconds {
        ensure!(
            seconds > 0.0 && seconds <= LONGEST,
            "--seconds is a time for a move, above 0 and at most {LONGEST}, not {seconds}"
        );
        spec.seconds = Some(seconds);
        // The depth of a level is how long it thinks; who names a player means the depth as well.
        if args.player.is_none() && matches!(spec.search, SearchSpec::Depth { .. }) {
            spec.search = SearchSpec::Default;
            player.clone_from(&spec.model);
        }
    }
    let opponent = Opponent {
        player: registry::factory_from_spec::<P>(&spec)?.make()?,
        name: called::<P>(&player, args.seconds),
    };
    let line = match &args.from {
        Some(from) => begun::<P>(from)?,
        None => Line::default(),
    };
    let input = std::io::stdin();
    let screen =
        if args.json { std::io::stderr().is_terminal() } else { std::io::stdout().is_terminal() };
    let display = DisplayOptions { board_style: style(screen), echo: !input.is_terminal() };
    let mut sitting = GameSession::new(line, args.side.into(), opponent, display, args.seed);
    install_stop_handler();
    let input = BufReader::new(input);
    let served = match args.json {
        true => serve(&mut sitting, input, &mut std::io::stderr()),
        false => serve(&mut sitting, input, &mut std::io::stdout()),
    };
    match served {
        // Nobody looks any more.
        Err(error) if error.kind() == ErrorKind::BrokenPipe => return Ok(Outcome::Done),
        served => served?,
    }
    if args.json {
        print_json(&document(&sitting, &player))?;
    }
    std::io::stdout().flush().ok();
    match sitting.end() {
        SessionEnd::Stopped => Ok(Outcome::Stopped),
        SessionEnd::Fault(reason) => Err(anyhow!("the game could not go on: {reason}")),
        _ => Ok(Outcome::Done),
    }
}

/// The opponent as players are written.
fn player<P: BoardView>(args: &SittingArgs) -> Result<String> {
    if let Some(player) = &args.player {
        return Ok(player.clone());
    }
    let title = args.level.as_deref().unwrap_or(levels::DEFAULT_LEVEL);
    let level = levels::find_level(P::GAME, title).ok_or_else(|| {
        let known: Vec<String> = levels::levels(P::GAME).map(|l| l.title.to_lowercase()).collect();
        anyhow!("--level: {} has no level '{title}'; there are {}", P::GAME, known.join(", "))
    })?;
    Ok(level.player.to_owned())
}

/// What the opponent is called: the words of its level, how it is written, its rating.
fn called<P: BoardView>(player: &str, seconds: Option<f64>) -> String {
    let mut parts = vec![player.to_owned()];
    match seconds {
        // It is another player then, and nobody has rated it.
        Some(seconds) => parts.push(format!("{seconds} s a move")),
        None => {
            let rating = player_rating(P::GAME, player).and_then(|found| found.rating);
            // Halves go up, as on the page.
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

/// A game to go on with: a file, or the moves themselves.
fn begun<P: GameText>(from: &str) -> Result<Line<P>> {
    let path = Path::new(from);
    if path.is_file() {
        let bytes = files::read(path, LARGEST)?;
        return P::parse_file(path, &bytes).with_context(|| format!("--from {}", path.display()));
    }
    P::parse_game(from).with_context(|| format!("--from '{from}' is neither a file nor a game"))
}

/// Colours only where somebody looks at a terminal that has them.
fn style(terminal: bool) -> BoardStyle {
    let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let dumb = std::env::var_os("TERM").is_none_or(|term| term == "dumb");
    let colour = terminal && !set("NO_COLOR") && !dumb;
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"]
        .iter()
        .find_map(|name| std::env::var(name).ok().filter(|value| !value.is_empty()));
    let utf8 =
        locale.is_some_and(|name| name.to_ascii_lowercase().replace('-', "").contains("utf8"));
    BoardStyle { color: colour, unicode: colour && utf8 }
}

fn document<P: BoardView + GameText>(sitting: &GameSession<P>, player: &str) -> Value {
    let (line, position) = (sitting.line(), sitting.line().position());
    let moves: Vec<String> = line.moves().iter().map(ToString::to_string).collect();
    let winner = sitting.winner().map(|side| side.map_or("draw".to_owned(), |s| s.to_string()));
    json!({
        "game": P::GAME.name(),
        "player": player,
        "side": sitting.person().to_string(),
        "start": (*line.start() != P::start()).then(|| line.start().to_string()),
        "moves": moves,
        "transcript": P::format_game(line),
        "over": position.is_over(),
        "black": position.count(Side::Black),
        "white": position.count(Side::White),
        "result": position.result(),
        "winner": winner,
        "end": sitting.end().word(),
    })
}
