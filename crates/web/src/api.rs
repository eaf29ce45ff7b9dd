//! What can be asked, one function for each.

use crate::analyse::analyse;
use crate::asked::{Asked, body};
use crate::error::ApiError;
use crate::game::{AnyLine, Sent, shown_line};
use crate::report::Analysed;
use crate::{App, Hosts, assets, book, guard, model, players, report};
use axum::extract::{DefaultBodyLimit, Path, Query, Request, State};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router, middleware};
use outflank_analysis::think::{Thinks, Thought, think};
use outflank_analysis::{Shown, Written, line_of};
use outflank_games::checkers::Checkers;
use outflank_games::othello::Othello;
use outflank_games::{Line, Position};
use outflank_records::wthor::Names;
use outflank_records::{parse_games, transcript};
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::compression::CompressionLayer;
use tower_http::compression::predicate::{DefaultPredicate, NotForContentType, Predicate};

/// A question about one game is no longer than this.
const QUESTION_BYTES: usize = 64 << 10;

/// A file of games is no larger.
const FILE_BYTES: usize = 8 << 20;

/// No more games of a file are listed.
const MOST_GAMES: usize = 20_000;

/// The longest that one may let it think about a position, and about a game.
const LONGEST_THOUGHT: f64 = 30.0;
const LONGEST_ANALYSIS: f64 = 120.0;

/// The whole interface.
pub fn router(app: App, hosts: Hosts) -> Router {
    // Lines that come one by one must not wait for each other in a compressor.
    let whole = DefaultPredicate::new().and(NotForContentType::const_new("application/x-ndjson"));
    Router::new()
        .route("/api/players", get(list_players))
        .route("/api/position", post(position))
        .route("/api/move", post(choose))
        .route("/api/think", post(think_about))
        .route("/api/experts", post(experts))
        .route("/api/game", post(games).layer(DefaultBodyLimit::max(FILE_BYTES)))
        .route("/api/analyse", post(analyse_game))
        .route("/api/report", post(make_report))
        .route("/api/book", post(look_up))
        .route("/api/openings", get(|| async { Json(book::openings()) }))
        .route("/api/runs", get(list_runs))
        .route("/api/runs/{name}", get(show_run).delete(delete_run))
        .route("/api/runs/{name}/report", get(run_report))
        .route("/api/models", get(|| async { Json(model::list()) }))
        .route("/api/model", get(show_model))
        .route("/api/why", post(why))
        .fallback(get(assets::file))
        .layer(DefaultBodyLimit::max(QUESTION_BYTES))
        // A fault of ours costs one answer, not the server.
        .layer(CatchPanicLayer::new())
        .layer(middleware::from_fn_with_state(hosts, guard::check))
        .layer(CompressionLayer::new().compress_when(whole))
        .with_state(app)
}

type Answer = Result<Json<Value>, ApiError>;

async fn list_players(State(app): State<App>) -> Answer {
    let runs = app.0.runs.clone();
    app.0.readers.run(move |_| Ok(Json(players::list(&runs)))).await
}

async fn position(Asked(sent): Asked<Sent>) -> Answer {
    Ok(Json(match sent.read()? {
        AnyLine::Othello(line) => shown_line(&line),
        AnyLine::Checkers(line) => shown_line(&line),
    }))
}

#[derive(Deserialize)]
struct Choose {
    #[serde(flatten)]
    game: Sent,
    player: String,
    #[serde(default)]
    seed: u64,
}

async fn choose(State(app): State<App>, Asked(asked): Asked<Choose>) -> Answer {
    let line = asked.game.read()?;
    let shared = app.clone();
    let work = move |stop: &crate::Stop| {
        let (player, seed, runs) = (asked.player.as_str(), asked.seed, &shared.0.runs);
        let mv = match &line {
            AnyLine::Othello(line) => players::choose(line, player, seed, runs, stop)?.to_string(),
            AnyLine::Checkers(line) => players::choose(line, player, seed, runs, stop)?.to_string(),
        };
        Ok(Json(json!({ "move": mv })))
    };
    app.0.searches.run(work).await
}

#[derive(Deserialize)]
struct Think {
    #[serde(flatten)]
    game: Sent,
    /// Seconds.
    #[serde(default)]
    time: Option<f64>,
    #[serde(default)]
    depth: Option<u32>,
}

/// Seconds as asked, within bounds.
fn seconds(asked: Option<f64>, usual: f64, most: f64) -> Duration {
    let wished = asked.filter(|seconds| seconds.is_finite()).unwrap_or(usual);
    Duration::from_secs_f64(wished.clamp(0.05, most))
}

async fn think_about(
    State(app): State<App>,
    Asked(asked): Asked<Think>,
) -> Result<Response, ApiError> {
    let line = asked.game.read()?;
    let time = seconds(asked.time, 3.0, LONGEST_THOUGHT);
    let depth = asked.depth.unwrap_or(60).clamp(1, 60);
    let work = move |lines: &mut crate::searches::Lines| {
        let control = Arc::new(lines.stop().control().child().with_time(time));
        match &line {
            AnyLine::Othello(line) => {
                let say = |found: &_| lines.say(&told::<Othello>(found));
                think(line.position(), depth, &control, say);
            }
            AnyLine::Checkers(line) => {
                let say = |found: &_| lines.say(&told::<Checkers>(found));
                think(line.position(), depth, &control, say);
            }
        }
        lines.say(&json!({ "done": true }));
        Ok(())
    };
    app.0.searches.stream(work).await
}

/// All judged moves for the page.
fn told<P: BoardView>(found: &Thought<P::Move>) -> Value {
    let moves: Vec<Value> = found
        .moves
        .iter()
        .map(|judged| {
            json!({
                "move": judged.mv.to_string(),
                "path": P::path(judged.mv),
                "worth": judged.points,
                "exact": judged.decided,
                "line": judged.line.iter().map(ToString::to_string).collect::<Vec<_>>(),
            })
        })
        .collect();
    json!({
        "depth": found.depth,
        "exact": found.exact,
        "nodes": found.nodes,
        "unit": <P as Thinks>::UNIT,
        "moves": moves,
    })
}

/// How likely an expert is to make each move.
async fn experts(State(app): State<App>, Asked(sent): Asked<Sent>) -> Answer {
    let line = sent.othello()?;
    let work = move |_: &crate::Stop| {
        let missing =
            || ApiError::Failed("the program was built without its move predictor".into());
        let moves: Vec<Value> = line
            .position()
            .experts()
            .ok_or_else(missing)?
            .into_iter()
            .map(|(mv, probability)| json!({ "move": mv.to_string(), "probability": probability }))
            .collect();
        Ok(Json(json!({ "model": "experts", "moves": moves })))
    };
    // A network's answer takes hundredths of a second, and does not wait for long searches.
    app.0.readers.run(work).await
}

#[derive(Deserialize)]
struct Named {
    #[serde(default)]
    name: String,
}

/// The games in a text or a file of any format, or what is wrong with it.
async fn games(State(app): State<App>, Query(named): Query<Named>, request: Request) -> Answer {
    let bytes = body(request, &()).await?;
    let shared = app.clone();
    let work = move |_: &crate::Stop| {
        let name = std::path::Path::new(&named.name).file_name().unwrap_or_default();
        let data = shared.0.settings.data.as_deref();
        let names: &Names = shared.0.names.get_or_init(|| book::names(data));
        let found = parse_games(name.as_ref(), &bytes, names).map_err(ApiError::bad)?;
        let total = found.len();
        let (mut games, mut faults) = (Vec::new(), Vec::new());
        for game in found.into_iter().take(MOST_GAMES) {
            match game {
                Ok(record) => games.push(told_game(&record)),
                // Of a single game the place in the file says nothing.
                Err(fault) if total == 1 => faults.push(fault.kind.to_string()),
                Err(fault) => faults.push(fault.to_string()),
            }
        }
        if games.is_empty() {
            let none = "there is no game in it; paste moves such as f5d6c3, or open a .wtb, .ggf or \
                        transcript file";
            return Err(ApiError::Bad(faults.into_iter().next().unwrap_or_else(|| none.into())));
        }
        faults.truncate(20);
        Ok(Json(json!({ "total": total, "games": games, "faults": faults })))
    };
    app.0.readers.run(work).await
}

fn told_game(record: &outflank_records::Record<Othello>) -> Value {
    let about = &record.info;
    let usual = *record.start() == Othello::start();
    // A number that no list of names explains is a player all the same.
    let named = |kind: &str, name: &str| match name.strip_prefix('#').filter(|n| is_number(n)) {
        Some(number) => format!("{kind} {number}"),
        None => name.to_owned(),
    };
    json!({
        "black": named("player", &about.black),
        "white": named("player", &about.white),
        "event": named("tournament", &about.event),
        "date": about.date,
        "result": about.result.or_else(|| record.end().score()),
        "start": (!usual).then(|| record.start().to_string()),
        "moves": Othello::write_moves(&record.to_line()),
        "text": transcript::write(record),
    })
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

#[derive(Deserialize)]
struct Analyse {
    #[serde(flatten)]
    game: Sent,
    #[serde(default)]
    time: Option<f64>,
}

async fn analyse_game(
    State(app): State<App>,
    Asked(asked): Asked<Analyse>,
) -> Result<Response, ApiError> {
    let line = asked.game.read()?;
    let time = seconds(asked.time, 8.0, LONGEST_ANALYSIS);
    let threads = app.0.settings.max_searches;
    let work = move |lines: &mut crate::searches::Lines| {
        match &line {
            AnyLine::Othello(line) => analyse(line, time, threads, lines),
            AnyLine::Checkers(line) => analyse(line, time, threads, lines),
        }
        Ok(())
    };
    app.0.searches.stream(work).await
}

async fn make_report(Asked(asked): Asked<Analysed>) -> Result<Response, ApiError> {
    let page = report::page(&asked)?;
    let head = [
        (header::CONTENT_TYPE, "text/html; charset=utf-8"),
        (header::CONTENT_DISPOSITION, "attachment; filename=\"outflank-game.html\""),
    ];
    Ok((head, page).into_response())
}

async fn look_up(State(app): State<App>, Asked(sent): Asked<Sent>) -> Answer {
    let line: Line<Othello> = sent.othello()?;
    let shared = app.clone();
    let work = move |_: &crate::Stop| match shared.0.book.get() {
        Some(book) => Ok(Json(book.look_up(&line))),
        None => Ok(Json(json!({ "reading": true }))),
    };
    app.0.readers.run(work).await
}

async fn list_runs(State(app): State<App>) -> Answer {
    let runs = app.0.runs.clone();
    app.0.readers.run(move |_| Ok(Json(runs.list()))).await
}

async fn show_run(State(app): State<App>, Path(name): Path<String>) -> Answer {
    let runs = app.0.runs.clone();
    app.0.readers.run(move |_| runs.show(&name).map(Json)).await
}

#[derive(Deserialize)]
struct Confirm {
    confirm: String,
}

async fn delete_run(
    State(app): State<App>,
    Path(name): Path<String>,
    Asked(asked): Asked<Confirm>,
) -> Answer {
    let runs = app.0.runs.clone();
    let work = move |_: &crate::Stop| {
        runs.delete(&name, &asked.confirm)?;
        Ok(Json(json!({ "deleted": name })))
    };
    app.0.readers.run(work).await
}

/// A run's report in a frame of its own, in which nothing runs and nothing is loaded.
async fn run_report(
    State(app): State<App>,
    Path(name): Path<String>,
) -> Result<Response, ApiError> {
    let runs = app.0.runs.clone();
    let page = app.0.readers.run(move |_| runs.report(&name)).await?;
    let policy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox; \
                  frame-ancestors 'self'";
    let head = [
        (header::CONTENT_TYPE, "text/html; charset=utf-8"),
        (header::CONTENT_SECURITY_POLICY, policy),
    ];
    Ok((head, page).into_response())
}

async fn show_model(State(app): State<App>, Query(asked): Query<Named>) -> Answer {
    let shared = app.clone();
    let work = move |_: &crate::Stop| {
        let name = asked.name;
        let kept = || shared.0.models.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        if let Some(known) = kept().get(&name) {
            return Ok(Json(known.clone()));
        }
        let found = model::find(&name, &shared.0.runs)?;
        let told = model::show(&name, &found);
        if !name.starts_with("run:") {
            kept().insert(name, told.clone());
        }
        Ok(Json(told))
    };
    app.0.searches.run(work).await
}

#[derive(Deserialize)]
struct Why {
    #[serde(flatten)]
    game: Sent,
    model: String,
    r#move: String,
}

async fn why(State(app): State<App>, Asked(asked): Asked<Why>) -> Answer {
    let line = asked.game.othello()?;
    let shared = app.clone();
    let work = move |_: &crate::Stop| {
        let position = line.position();
        let mv = position.parse_move(&asked.r#move).map_err(ApiError::bad)?;
        let model = model::find(&asked.model, &shared.0.runs)?;
        model::why(&model, position, mv).map(Json)
    };
    app.0.searches.run(work).await
}
