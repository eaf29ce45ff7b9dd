//! The HTTP interface: routes, and one handler for each.

use crate::body_memory::{self, BodyMemoryLimit};
use crate::error::ApiError;
use crate::game::GameRequest;
use crate::json_body::{JsonBody, read_body};
use crate::report::ReportRequest;
use crate::work_slots::{LineSender, StopSignal};
use crate::{AllowedHosts, App, assets, explorer, host_check, model, players, report};
use axum::extract::{Path, Query, Request, State};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router, middleware};
use outflank_analysis::{Analyzable, GameText};
use outflank_games::Position;
use outflank_games::othello::Othello;
use outflank_records::wthor::Names;
use outflank_records::{Format, parse_games, transcript};
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::compression::CompressionLayer;
use tower_http::compression::predicate::{DefaultPredicate, NotForContentType, Predicate};

/// The maximum size of a JSON request.
const MAX_REQUEST_BYTES: usize = 64 << 10;

/// The maximum size of an uploaded game file.
const MAX_FILE_BYTES: usize = 8 << 20;

/// The number of requests and of files of the maximum size whose bodies are in memory at the same
/// time; further ones wait.
const BODIES_IN_MEMORY: (usize, usize) = (256, 4);

/// The maximum number of games listed from a file.
const MAX_GAMES: usize = 20_000;

/// The maximum number of errors listed from a file.
const MAX_FILE_ERRORS: usize = 20;

/// The default and maximum time to evaluate a position, in seconds.
const EVALUATION_SECONDS: (f64, f64) = (3.0, 30.0);

/// The default and maximum time to analyze a game, in seconds.
const ANALYSIS_SECONDS: (f64, f64) = (8.0, 120.0);

/// The maximum search depth in plies.
const MAX_DEPTH: u32 = 60;

/// Builds the HTTP interface.
pub fn router(app: App, hosts: AllowedHosts) -> Router {
    // Compression would delay the lines of a stream.
    let not_streams =
        DefaultPredicate::new().and(NotForContentType::const_new("application/x-ndjson"));
    let (requests, files) = BODIES_IN_MEMORY;
    let file_memory = BodyMemoryLimit::new(files, MAX_FILE_BYTES);
    let request_memory = BodyMemoryLimit::new(requests, MAX_REQUEST_BYTES);
    let uploads = Router::new()
        .route("/api/games", post(parse_file))
        .layer(middleware::from_fn_with_state(file_memory, body_memory::reserve));
    Router::new()
        .route("/api/players", get(list_players))
        .route("/api/position", post(position))
        .route("/api/move", post(choose_move))
        .route("/api/evaluate", post(evaluate))
        .route("/api/experts", post(experts))
        .route("/api/analyze", post(analyze_game))
        .route("/api/report", post(build_report))
        .route("/api/explorer", post(explore))
        .route("/api/openings", get(|| async { Json(explorer::openings()) }))
        .route("/api/runs", get(list_runs))
        .route("/api/runs/{name}", get(show_run).delete(delete_run))
        .route("/api/runs/{name}/report", get(run_report))
        .route("/api/models", get(|| async { Json(model::list()) }))
        .route("/api/model", get(show_model))
        .route("/api/explain", post(explain))
        .fallback(get(assets::serve_file))
        .layer(middleware::from_fn_with_state(request_memory, body_memory::reserve))
        .merge(uploads)
        // A panic fails one request, not the server.
        .layer(CatchPanicLayer::new())
        .layer(middleware::from_fn_with_state(hosts, host_check::check))
        .layer(CompressionLayer::new().compress_when(not_streams))
        .with_state(app)
}

type JsonResult = Result<Json<Value>, ApiError>;

async fn list_players(State(app): State<App>) -> JsonResult {
    let runs = app.0.runs.clone();
    app.0.readers.run(move |_| Ok(Json(players::list(&runs)))).await
}

async fn position(JsonBody(request): JsonBody<GameRequest>) -> JsonResult {
    Ok(Json(request.parse()?.to_json()))
}

#[derive(Deserialize)]
struct MoveRequest {
    #[serde(flatten)]
    game: GameRequest,
    player: String,
    #[serde(default)]
    seed: u64,
}

async fn choose_move(
    State(app): State<App>,
    JsonBody(request): JsonBody<MoveRequest>,
) -> JsonResult {
    let line = request.game.parse()?;
    let shared = app.clone();
    let work = move |stop: &StopSignal| {
        let (player, seed, runs) = (request.player.as_str(), request.seed, &shared.0.runs);
        Ok(Json(json!({ "move": line.choose(player, seed, runs, stop)? })))
    };
    app.0.searches.run(work).await
}

#[derive(Deserialize)]
struct EvaluateRequest {
    #[serde(flatten)]
    game: GameRequest,
    /// The time limit in seconds.
    #[serde(default)]
    time: Option<f64>,
    #[serde(default)]
    depth: Option<u32>,
}

/// Returns the requested time within the allowed range.
fn time_limit(seconds: Option<f64>, (default, max): (f64, f64)) -> Duration {
    let seconds = seconds.filter(|seconds| seconds.is_finite()).unwrap_or(default);
    Duration::from_secs_f64(seconds.clamp(0.05, max))
}

/// Streams the evaluated moves of a position, one line for each depth.
async fn evaluate(
    State(app): State<App>,
    JsonBody(request): JsonBody<EvaluateRequest>,
) -> Result<Response, ApiError> {
    let line = request.game.parse()?;
    let time = time_limit(request.time, EVALUATION_SECONDS);
    let depth = request.depth.unwrap_or(MAX_DEPTH).clamp(1, MAX_DEPTH);
    let work = move |out: &mut LineSender| {
        let control = Arc::new(out.stop_signal().control().child().with_time(time));
        line.evaluate(depth, &control, out);
        out.send(&json!({ "done": true }));
        Ok(())
    };
    app.0.searches.stream(work).await
}

/// Returns the probability that an expert plays each move.
async fn experts(State(app): State<App>, JsonBody(request): JsonBody<GameRequest>) -> JsonResult {
    let line = request.parse_othello()?;
    let work = move |_: &StopSignal| {
        let missing =
            || ApiError::Internal("the embedded policy network `experts` is damaged".into());
        let moves: Vec<Value> = line
            .position()
            .expert_probabilities()
            .ok_or_else(missing)?
            .into_iter()
            .map(|(mv, probability)| json!({ "move": mv.to_string(), "probability": probability }))
            .collect();
        Ok(Json(json!({ "model": "experts", "moves": moves })))
    };
    // A prediction takes some hundredths of a second and should not wait for long searches.
    app.0.readers.run(work).await
}

#[derive(Deserialize)]
struct NameQuery {
    #[serde(default)]
    name: String,
}

/// Parses a game file of any format.
async fn parse_file(
    State(app): State<App>,
    Query(query): Query<NameQuery>,
    request: Request,
) -> JsonResult {
    let bytes = read_body(request).await?;
    let shared = app.clone();
    let work = move |_: &StopSignal| {
        let name = std::path::Path::new(&query.name).file_name().unwrap_or_default();
        let data = shared.0.config.data.as_deref();
        let names: &Names = shared.0.names.get_or_init(|| explorer::load_names(data));
        let bytes = match std::path::Path::new(name).extension() {
            Some(_) => bytes,
            None => complete_pasted_text(bytes),
        };
        let found = parse_games(name.as_ref(), &bytes, names).map_err(ApiError::bad_request)?;
        let total = found.len();
        let (mut games, mut errors) = (Vec::new(), Vec::new());
        for game in found.into_iter().take(MAX_GAMES) {
            match game {
                Ok(record) => games.push(record_to_json(&record)),
                // For a single game the location in the file is not useful.
                Err(error) if total == 1 => errors.push(error.kind.to_string()),
                Err(error) => errors.push(error.to_string()),
            }
        }
        if games.is_empty() {
            let no_game = "no game found. Paste moves such as f5d6c3, or open a .wtb, .ggf, .pgn or \
                           transcript file.";
            let error = errors.into_iter().next().unwrap_or_else(|| no_game.into());
            return Err(ApiError::BadRequest(error));
        }
        errors.truncate(MAX_FILE_ERRORS);
        Ok(Json(json!({ "total": total, "games": games, "errors": errors })))
    };
    app.0.readers.run(work).await
}

/// Ends the lines of pasted OBF positions. Unlike a file, a pasted text is not truncated.
fn complete_pasted_text(bytes: Vec<u8>) -> Vec<u8> {
    if Format::from_content(&bytes) != Some(Format::Obf) {
        return bytes;
    }
    let text = String::from_utf8_lossy(&bytes);
    let lines = text.lines().map(|line| line.trim_end().trim_end_matches(';'));
    lines
        .filter(|line| !line.is_empty())
        .flat_map(|line| [line, ";\n"])
        .collect::<String>()
        .into_bytes()
}

fn record_to_json(record: &outflank_records::Record<Othello>) -> Value {
    let info = &record.info;
    let is_standard = *record.start() == Othello::start();
    // WTHOR players and tournaments without a name have a number such as `#12`.
    let name = |kind: &str, name: &str| match name.strip_prefix('#').filter(|n| is_number(n)) {
        Some(number) => format!("{kind} {number}"),
        None => name.to_owned(),
    };
    json!({
        "black": name("player", &info.black),
        "white": name("player", &info.white),
        "event": name("tournament", &info.event),
        "date": info.date,
        "result": info.result.or_else(|| record.end().tournament_score()),
        "start": (!is_standard).then(|| record.start().to_string()),
        "moves": Othello::format_moves(&record.to_line()),
        "text": transcript::write(record),
    })
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

#[derive(Deserialize)]
struct AnalyzeRequest {
    #[serde(flatten)]
    game: GameRequest,
    /// The time limit in seconds.
    #[serde(default)]
    time: Option<f64>,
    /// The depth that the client has for each move; 255 for a solved position.
    #[serde(default)]
    known_depths: Vec<u32>,
}

async fn analyze_game(
    State(app): State<App>,
    JsonBody(request): JsonBody<AnalyzeRequest>,
) -> Result<Response, ApiError> {
    let line = request.game.parse()?;
    let time = time_limit(request.time, ANALYSIS_SECONDS);
    let threads = app.0.config.max_searches;
    let work = move |out: &mut LineSender| {
        line.analyze(time, &request.known_depths, threads, out);
        Ok(())
    };
    app.0.searches.stream(work).await
}

async fn build_report(JsonBody(request): JsonBody<ReportRequest>) -> Result<Response, ApiError> {
    let page = report::build_page(&request)?;
    let headers = [
        (header::CONTENT_TYPE, "text/html; charset=utf-8"),
        (header::CONTENT_DISPOSITION, "attachment; filename=\"outflank-game.html\""),
    ];
    Ok((headers, page).into_response())
}

async fn explore(State(app): State<App>, JsonBody(request): JsonBody<GameRequest>) -> JsonResult {
    let line = request.parse_othello()?;
    let shared = app.clone();
    let work = move |_: &StopSignal| match shared.0.explorer.get() {
        Some(explorer) => Ok(Json(explorer.look_up(&line))),
        None => Ok(Json(json!({ "loading": true }))),
    };
    app.0.readers.run(work).await
}

async fn list_runs(State(app): State<App>) -> JsonResult {
    let runs = app.0.runs.clone();
    app.0.readers.run(move |_| Ok(Json(runs.list()))).await
}

async fn show_run(State(app): State<App>, Path(name): Path<String>) -> JsonResult {
    let runs = app.0.runs.clone();
    app.0.readers.run(move |_| runs.show(&name).map(Json)).await
}

#[derive(Deserialize)]
struct DeleteRequest {
    confirm: String,
}

async fn delete_run(
    State(app): State<App>,
    Path(name): Path<String>,
    JsonBody(request): JsonBody<DeleteRequest>,
) -> JsonResult {
    let runs = app.0.runs.clone();
    let work = move |_: &StopSignal| {
        runs.delete(&name, &request.confirm)?;
        Ok(Json(json!({ "deleted": name })))
    };
    app.0.readers.run(work).await
}

/// Serves the report of a run with a policy that forbids scripts and external resources.
async fn run_report(
    State(app): State<App>,
    Path(name): Path<String>,
) -> Result<Response, ApiError> {
    let runs = app.0.runs.clone();
    let page = app.0.readers.run(move |_| runs.report(&name)).await?;
    let policy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox; \
                  frame-ancestors 'self'";
    let headers = [
        (header::CONTENT_TYPE, "text/html; charset=utf-8"),
        (header::CONTENT_SECURITY_POLICY, policy),
    ];
    Ok((headers, page).into_response())
}

async fn show_model(State(app): State<App>, Query(query): Query<NameQuery>) -> JsonResult {
    let shared = app.clone();
    let work = move |_: &StopSignal| {
        let name = query.name;
        let cache = || shared.0.models.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        if let Some(cached) = cache().get(&name) {
            return Ok(Json(cached.clone()));
        }
        let found = model::find(&name, &shared.0.runs)?;
        let description = model::to_json(&name, &found);
        if !name.starts_with("run:") {
            cache().insert(name, description.clone());
        }
        Ok(Json(description))
    };
    app.0.searches.run(work).await
}

#[derive(Deserialize)]
struct ExplainRequest {
    #[serde(flatten)]
    game: GameRequest,
    model: String,
    r#move: String,
}

async fn explain(
    State(app): State<App>,
    JsonBody(request): JsonBody<ExplainRequest>,
) -> JsonResult {
    let line = request.game.parse_othello()?;
    let shared = app.clone();
    let work = move |_: &StopSignal| {
        let position = line.position();
        let mv = position.parse_move(&request.r#move).map_err(ApiError::bad_request)?;
        let model = model::find(&request.model, &shared.0.runs)?;
        model::explain(&model, position, mv).map(Json)
    };
    app.0.searches.run(work).await
}
