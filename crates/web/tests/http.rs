//! The interface, asked without a socket: right answers, clear refusals, nothing that should not be
//! served.

mod support;

use axum::body::Body;
use axum::http::{Method, Request, StatusCode, header};
use http_body_util::BodyExt;
use outflank_records::wthor;
use outflank_web::{App, Hosts, Settings, first_page_bytes, router};
use proptest::prelude::*;
use serde_json::{Value, json};
use support::Lab;
use tower::ServiceExt;

/// Everything that comes back.
struct Reply {
    status: StatusCode,
    headers: axum::http::HeaderMap,
    bytes: Vec<u8>,
}

impl Reply {
    fn json(&self) -> Value {
        serde_json::from_slice(&self.bytes).unwrap_or(Value::Null)
    }

    /// One JSON value a line.
    fn lines(&self) -> Vec<Value> {
        let text = String::from_utf8(self.bytes.clone()).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

/// A server without a socket.
struct Desk {
    runtime: tokio::runtime::Runtime,
    router: axum::Router,
    lab: Lab,
}

impl Desk {
    fn new() -> Desk {
        Desk::with(None)
    }

    /// With a data folder.
    fn with(data: Option<std::path::PathBuf>) -> Desk {
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
        let lab = Lab::new();
        let settings = Settings { data, ..lab.settings() };
        let router = router(App::new(settings), Hosts::of("127.0.0.1"));
        Desk { runtime, router, lab }
    }

    fn send(&self, request: Request<Body>) -> Reply {
        self.runtime.block_on(async {
            let response = self.router.clone().oneshot(request).await.unwrap();
            let (parts, body) = response.into_parts();
            let bytes = body.collect().await.unwrap().to_bytes().to_vec();
            Reply { status: parts.status, headers: parts.headers, bytes }
        })
    }

    fn ask(&self, method: Method, path: &str, body: impl Into<Body>) -> Reply {
        let request = Request::builder().method(method).uri(path).header(header::HOST, "localhost");
        self.send(request.body(body.into()).unwrap())
    }

    fn get(&self, path: &str) -> Reply {
        self.ask(Method::GET, path, Body::empty())
    }

    fn post(&self, path: &str, body: &Value) -> Reply {
        self.ask(Method::POST, path, body.to_string())
    }
}

#[test]
fn the_page_is_small_and_sealed() {
    let desk = Desk::new();
    let page = desk.get("/");
    assert_eq!(page.status, StatusCode::OK);
    assert!(String::from_utf8_lossy(&page.bytes).contains("<title>Outflank</title>"));
    let policy = page.headers["content-security-policy"].to_str().unwrap();
    assert!(policy.contains("default-src 'none'") && !policy.contains("http"));
    assert_eq!(page.headers["x-content-type-options"], "nosniff");
    // Everything there is, the laboratory too, before compression.
    assert!(first_page_bytes() < 200_000, "{}", first_page_bytes());
    // A browser that has it is not sent it again.
    let tag = page.headers["etag"].to_str().unwrap();
    let again = Request::get("/").header(header::HOST, "localhost").header("if-none-match", tag);
    assert_eq!(desk.send(again.body(Body::empty()).unwrap()).status, StatusCode::NOT_MODIFIED);
}

#[test]
fn no_file_outside_its_own_is_served() {
    let desk = Desk::new();
    for path in [
        "/../Cargo.toml",
        "/..%2f..%2fCargo.toml",
        "/%2e%2e/secret.txt",
        "//etc/passwd",
        "/style.css/..",
        "/api/runs/..%2fsecret.txt",
        "/api/runs/%2e%2e/report",
        "/api/runs/..%2fruns%2fleague-001",
        "/api/runs/league-001%2freport",
        "/api/runs/%00",
        "/nothing",
        "/api/nothing",
        "/page/index.html",
    ] {
        let reply = desk.get(path);
        assert!(reply.status.is_client_error(), "{path}: {}", reply.status);
        assert!(!String::from_utf8_lossy(&reply.bytes).contains("not for the page"), "{path}");
    }
}

#[test]
fn strangers_are_turned_away() {
    let desk = Desk::new();
    let from = |headers: &[(&str, &str)], path: &str| {
        let mut request = Request::get(path);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        desk.send(request.body(Body::empty()).unwrap()).status
    };
    assert_eq!(from(&[("host", "evil.example")], "/"), StatusCode::FORBIDDEN);
    assert_eq!(from(&[], "/"), StatusCode::FORBIDDEN);
    let foreign = [("host", "localhost:1"), ("origin", "http://evil.example")];
    assert_eq!(from(&foreign, "/api/players"), StatusCode::FORBIDDEN);
    let link = [("host", "localhost:1"), ("sec-fetch-site", "cross-site")];
    assert_eq!(from(&link, "/api/runs"), StatusCode::FORBIDDEN);
    assert_eq!(from(&link, "/"), StatusCode::OK);
    let own = [("host", "localhost:1"), ("origin", "http://localhost:1")];
    assert_eq!(from(&own, "/api/players"), StatusCode::OK);
}

#[test]
fn positions_of_both_games() {
    let desk = Desk::new();
    let start = desk.post("/api/position", &json!({ "game": "othello" })).json();
    assert_eq!(start["at"]["legal"].as_array().unwrap().len(), 4);
    let three =
        desk.post("/api/position", &json!({ "game": "othello", "moves": "F5 d6C3" })).json();
    assert_eq!(
        (three["steps"][2]["black"].as_u64(), three["at"]["side"].as_str()),
        (Some(5), Some("white"))
    );
    let draughts = json!({ "game": "checkers", "moves": "1. 11-15 23-18", "start": null });
    let checkers = desk.post("/api/position", &draughts).json();
    assert_eq!(checkers["at"]["side"], "black");
    for (body, part) in [
        (json!({ "game": "othello", "moves": "f5d6f5" }), "move 3"),
        (json!({ "game": "othello", "moves": "f5zz" }), "move 2"),
        (json!({ "game": "checkers", "moves": "11-15 11-16" }), "move 2"),
        (json!({ "game": "othello", "start": "XO" }), "64 cells"),
        (json!({ "game": "chess" }), "unknown game"),
        (json!([1, 2]), "not as expected"),
    ] {
        let reply = desk.post("/api/position", &body);
        assert_eq!(reply.status, StatusCode::BAD_REQUEST, "{body}");
        let error = reply.json()["error"].as_str().unwrap_or_default().to_owned();
        assert!(error.contains(part), "{body}: {error}");
    }
}

#[test]
fn opponents_answer_legally_and_programs_are_not_started() {
    let desk = Desk::new();
    let list = desk.get("/api/players").json();
    let levels = list["othello"]["levels"].as_array().unwrap();
    assert!(levels.len() >= 6 && levels.iter().all(|level| level["rating"].is_number()));
    for player in ["random", "heuristic", "champion@2"] {
        let asked = json!({ "game": "othello", "moves": "f5", "player": player, "seed": 4 });
        let first = desk.post("/api/move", &asked).json();
        let mv = first["move"].as_str().unwrap();
        let line = json!({ "game": "othello", "moves": format!("f5{mv}") });
        assert_eq!(desk.post("/api/position", &line).status, StatusCode::OK);
        // The same seed gives the same move.
        assert_eq!(desk.post("/api/move", &asked).json(), first);
    }
    let draughts = json!({ "game": "checkers", "player": "material@2" });
    assert_eq!(desk.post("/api/move", &draughts).status, StatusCode::OK);
    for player in
        ["gtp:touch x", "nboard:sh", "champion@60", "../x.player", "run:..", "run:league-001"]
    {
        let reply = desk.post("/api/move", &json!({ "game": "othello", "player": player }));
        assert!(reply.status.is_client_error(), "{player}: {}", reply.status);
    }
}

#[test]
fn thoughts_come_deeper_and_deeper_and_experts_sum_to_one() {
    let desk = Desk::new();
    let asked = json!({ "game": "othello", "moves": "f5d6", "time": 30, "depth": 3 });
    let lines = desk.post("/api/think", &asked).lines();
    let depths: Vec<_> = lines.iter().filter_map(|line| line["depth"].as_u64()).collect();
    assert_eq!(depths, [1, 2, 3]);
    assert_eq!(lines.last().unwrap()["done"], true);
    let experts = desk.post("/api/experts", &json!({ "game": "othello", "moves": "f5d6" })).json();
    let moves = experts["moves"].as_array().unwrap();
    let sum: f64 = moves.iter().map(|one| one["probability"].as_f64().unwrap()).sum();
    assert!((sum - 1.0).abs() < 1e-9 && moves.len() == lines[0]["moves"].as_array().unwrap().len());
    // The four first moves are one, turned and mirrored.
    let first = desk.post("/api/experts", &json!({ "game": "othello", "moves": "" })).json();
    let odds = |at: usize| first["moves"][at]["probability"].as_f64().unwrap();
    assert!((0..4).all(|at| (odds(at) - 0.25).abs() < 1e-12), "{first}");
}

#[test]
fn games_are_read_from_text_and_files() {
    let desk = Desk::new();
    let read = |name: &str, bytes: Vec<u8>| {
        desk.ask(Method::POST, &format!("/api/game?name={name}"), bytes)
    };
    assert_eq!(read("x.txt", b"f5d6c3\n".to_vec()).json()["games"][0]["moves"], "f5d6c3");
    let ggf = b"(;GM[Othello]PB[Ada]PW[Ben]BO[8 -------- -------- -------- ---O*--- ---*O--- -------- -------- -------- *]B[f5]W[d6];)";
    assert_eq!(read("x.ggf", ggf.to_vec()).json()["games"][0]["black"], "Ada");
    let base = read("x.wtb", outflank_records::embedded::GAMES.to_vec()).json();
    assert_eq!(base["total"], outflank_records::embedded::count());
    for (name, bytes) in
        [("x.txt", &b"f5d6zz"[..]), ("x.wtb", b"nonsense"), ("x.txt", b"hello"), ("x.txt", b"")]
    {
        let reply = read(name, bytes.to_vec());
        assert_eq!(reply.status, StatusCode::BAD_REQUEST, "{name}");
        assert!(reply.json()["error"].is_string());
    }
    assert_eq!(read("x.wtb", vec![0; 9 << 20]).status, StatusCode::PAYLOAD_TOO_LARGE);
}

/// A WTHOR file has numbers for its players; the files of names are in the data folder, if anywhere.
#[test]
fn players_have_names_where_the_names_are_known() {
    let mut record = outflank_records::transcript::game(b"f5d6c3").unwrap();
    record.info.black = "Ada".to_owned();
    record.info.white = "Ben".to_owned();
    record.info.event = "Cup".to_owned();
    let files = wthor::encode(&[record], &wthor::Names::default(), Default::default()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("wthor")).unwrap();
    std::fs::write(folder.path().join("wthor/WTHOR.JOU"), &files.players).unwrap();
    std::fs::write(folder.path().join("wthor/WTHOR.TRN"), &files.tournaments).unwrap();
    let read = |desk: &Desk| {
        let told = desk.ask(Method::POST, "/api/game?name=x.wtb", files.games.clone()).json();
        ["black", "white", "event"].map(|key| told["games"][0][key].as_str().unwrap().to_owned())
    };
    let known = Desk::with(Some(folder.path().to_owned()));
    assert_eq!(read(&known), ["Ada", "Ben", "Cup"]);
    for (name, kind) in read(&Desk::new()).iter().zip(["player ", "player ", "tournament "]) {
        let number = name.strip_prefix(kind);
        assert!(number.is_some_and(|n| n.parse::<u16>().is_ok()), "{name}");
    }
}

#[test]
fn an_analysis_finds_the_blunder_and_makes_a_report() {
    let desk = Desk::new();
    // Black gives the corner away with b2 while better moves are there.
    let record = outflank_records::embedded::games().swap_remove(0);
    let moves: String = record.plies().iter().map(|ply| ply.mv.to_string()).collect();
    let game = json!({ "game": "othello", "moves": moves, "time": 0.5 });
    let lines = desk.post("/api/analyse", &game).lines();
    assert_eq!(lines[0]["plies"], record.plies().len());
    assert_eq!(lines.last().unwrap()["done"], true);
    let mut rows = std::collections::BTreeMap::new();
    for line in &lines[1..lines.len() - 1] {
        assert!(line["loss"].as_f64().unwrap() >= 0.0);
        rows.insert(line["ply"].as_u64().unwrap(), line.clone());
    }
    assert_eq!(rows.len(), record.plies().len());
    // Near the end all is exact, and what each move costs leads from one margin to the next.
    let exact: Vec<_> = rows.values().filter(|row| row["exact"] == true).collect();
    assert!(exact.len() >= 12);
    for pair in exact.windows(2) {
        let (before, after) =
            (pair[0]["worth"].as_f64().unwrap(), pair[1]["worth"].as_f64().unwrap());
        let sign = if pair[1]["side"] == "black" { 1.0 } else { -1.0 };
        assert_eq!(after, before - sign * pair[1]["loss"].as_f64().unwrap());
    }
    assert_eq!(
        rows.values().last().unwrap()["worth"].as_f64().unwrap() as i32,
        record.end().score().unwrap()
    );
    let rows: Vec<_> = rows.into_values().collect();
    let report = desk.post(
        "/api/report",
        &json!({ "game": "othello", "moves": moves, "rows": rows, "black": "<b>" }),
    );
    let text = String::from_utf8(report.bytes).unwrap();
    assert!(report.status.is_success() && text.contains("&lt;b&gt;") && text.contains("exact"));
}

#[test]
fn the_book_and_the_laboratory_answer() {
    let desk = Desk::new();
    let book = loop {
        let told =
            desk.post("/api/book", &json!({ "game": "othello", "moves": "c4e3f6e6f5" })).json();
        if told["reading"] != true {
            break told;
        }
        std::thread::sleep(std::time::Duration::from_millis(20));
    };
    assert_eq!(book["opening"]["name"], "Tiger");
    assert!(desk.get("/api/openings").json().as_array().unwrap().len() >= 50);
    let runs = desk.get("/api/runs").json();
    assert_eq!(runs["runs"].as_array().unwrap().len(), 2);
    let league = desk.get("/api/runs/league-001").json();
    assert_eq!(
        (league["cross"][1][1].as_str(), league["state"].as_str()),
        (Some("strong"), Some("finished"))
    );
    let report = desk.get("/api/runs/league-001/report");
    assert!(report.headers["content-security-policy"].to_str().unwrap().contains("sandbox"));
    let learning = desk.get("/api/runs/learn-001").json();
    assert_eq!(learning["points"]["points"][2][1], 47.5);
    assert_eq!(learning["state"], "running");
    let erase = |name: &str, word: &Value| {
        desk.ask(
            Method::DELETE,
            &format!("/api/runs/{name}"),
            json!({ "confirm": word }).to_string(),
        )
        .status
    };
    assert_eq!(erase("learn-001", &learning["confirm"]), StatusCode::CONFLICT);
    assert_eq!(erase("league-001", &json!("please")), StatusCode::CONFLICT);
    assert_eq!(erase("league-001", &league["confirm"]), StatusCode::OK);
    assert!(!desk.lab.runs().join("league-001").exists());
    let model = desk.get("/api/model?name=heuristic").json();
    assert_eq!(model["worth"].as_array().unwrap().len(), 64);
    for model in desk.get("/api/models").json().as_array().unwrap() {
        let (name, game) = (model["name"].as_str().unwrap(), model["game"].as_str().unwrap());
        let told = desk.get(&format!("/api/model?name={name}"));
        assert!(told.status.is_success() && told.json()["weights"].as_u64().unwrap() > 0, "{name}");
        let why = json!({ "game": "othello", "moves": "f5", "model": name, "move": "d6" });
        let parts = desk.post("/api/why", &why).json()["parts"].as_array().map_or(0, Vec::len);
        // A network of layers is no sum of parts.
        let layers = ["cnn", "experts", "ann"].contains(&name);
        assert_eq!(parts > 0, game == "othello" && !layers, "{name}");
    }
    assert_eq!(desk.get("/api/model?name=../x").status, StatusCode::NOT_FOUND);
}

#[test]
fn too_much_is_refused() {
    let desk = Desk::new();
    let long = json!({ "game": "checkers", "moves": "x".repeat(100_000) });
    assert_eq!(desk.post("/api/position", &long).status, StatusCode::PAYLOAD_TOO_LARGE);
    let many = json!({ "game": "checkers", "moves": "11-15 ".repeat(5000) });
    assert_eq!(desk.post("/api/position", &many).status, StatusCode::BAD_REQUEST);
}

#[test]
fn arbitrary_requests_get_an_answer() {
    let desk = Desk::new();
    let paths = [
        "position", "move", "think", "experts", "game", "analyse", "report", "book", "why",
        "runs/x", "model",
    ];
    let mut runner = proptest::test_runner::TestRunner::new(ProptestConfig::with_cases(300));
    let words = prop_oneof![
        any::<Vec<u8>>(),
        "\\{\"game\":\"(othello|checkers)\",\"moves\":\"[a-h1-8 x:-]{0,20}\",\"start\":\"[XO: -]{0,70}\"\\}".prop_map(String::into_bytes),
        "[\\[\\]{}\":,0-9a-z]{0,40}".prop_map(String::into_bytes),
    ];
    let strategy = (0..paths.len(), words, 0..5usize);
    runner
        .run(&strategy, |(path, body, method)| {
            let methods = [Method::POST, Method::GET, Method::DELETE, Method::PUT, Method::OPTIONS];
            let reply = desk.ask(methods[method].clone(), &format!("/api/{}", paths[path]), body);
            prop_assert_ne!(reply.status, StatusCode::INTERNAL_SERVER_ERROR);
            Ok(())
        })
        .unwrap();
}
