//! Tests of the HTTP interface without a socket: responses, errors, and files that must not be
//! served.

mod support;

use axum::body::Body;
use axum::http::{Method, Request, StatusCode, header};
use http_body_util::BodyExt;
use outflank_records::wthor;
use outflank_web::{AllowedHosts, App, ServerConfig, router};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::path::Path;
use support::TestRuns;
use tower::ServiceExt;

/// A response with its body.
struct Reply {
    status: StatusCode,
    headers: axum::http::HeaderMap,
    bytes: Vec<u8>,
}

impl Reply {
    fn json(&self) -> Value {
        serde_json::from_slice(&self.bytes).unwrap_or(Value::Null)
    }

    /// Parses a body of JSON lines.
    fn lines(&self) -> Vec<Value> {
        let text = String::from_utf8(self.bytes.clone()).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

/// A client of the router.
struct Client {
    runtime: tokio::runtime::Runtime,
    router: axum::Router,
    runs: TestRuns,
}

impl Client {
    fn new() -> Client {
        Client::with_data(None)
    }

    /// Creates a client of a server with a data folder.
    fn with_data(data: Option<std::path::PathBuf>) -> Client {
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
        let runs = TestRuns::new();
        let config = ServerConfig { data, ..runs.config() };
        let router = router(App::new(config), AllowedHosts::new("127.0.0.1"));
        Client { runtime, router, runs }
    }

    fn send(&self, request: Request<Body>) -> Reply {
        self.runtime.block_on(async {
            let response = self.router.clone().oneshot(request).await.unwrap();
            let (parts, body) = response.into_parts();
            let bytes = body.collect().await.unwrap().to_bytes().to_vec();
            Reply { status: parts.status, headers: parts.headers, bytes }
        })
    }

    fn request(&self, method: Method, path: &str, body: impl Into<Body>) -> Reply {
        let request = Request::builder().method(method).uri(path).header(header::HOST, "localhost");
        self.send(request.body(body.into()).unwrap())
    }

    fn get(&self, path: &str) -> Reply {
        self.request(Method::GET, path, Body::empty())
    }

    fn post(&self, path: &str, body: &Value) -> Reply {
        self.request(Method::POST, path, body.to_string())
    }
}

#[test]
fn page_is_small_and_has_security_headers() {
    let client = Client::new();
    let page = client.get("/");
    assert_eq!(page.status, StatusCode::OK);
    assert!(String::from_utf8_lossy(&page.bytes).contains("<title>Outflank</title>"));
    let policy = page.headers["content-security-policy"].to_str().unwrap();
    assert!(policy.contains("default-src 'none'") && !policy.contains("http"));
    assert_eq!(page.headers["x-content-type-options"], "nosniff");
    // All files together, uncompressed.
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("page");
    let files = std::fs::read_dir(folder).unwrap();
    let bytes: u64 = files.map(|file| file.unwrap().metadata().unwrap().len()).sum();
    assert!(bytes < 200_000, "{bytes}");
    // A browser that has the page does not receive it again.
    let tag = page.headers["etag"].to_str().unwrap();
    let again = Request::get("/").header(header::HOST, "localhost").header("if-none-match", tag);
    assert_eq!(client.send(again.body(Body::empty()).unwrap()).status, StatusCode::NOT_MODIFIED);
}

#[test]
fn only_page_files_are_served() {
    let client = Client::new();
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
        let reply = client.get(path);
        assert!(reply.status.is_client_error(), "{path}: {}", reply.status);
        assert!(!String::from_utf8_lossy(&reply.bytes).contains("not for the page"), "{path}");
    }
}

#[test]
fn requests_of_other_sites_are_rejected() {
    let client = Client::new();
    let status = |headers: &[(&str, &str)], path: &str| {
        let mut request = Request::get(path);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        client.send(request.body(Body::empty()).unwrap()).status
    };
    assert_eq!(status(&[("host", "evil.example")], "/"), StatusCode::FORBIDDEN);
    assert_eq!(status(&[], "/"), StatusCode::FORBIDDEN);
    let other_origin = [("host", "localhost:1"), ("origin", "http://evil.example")];
    assert_eq!(status(&other_origin, "/api/players"), StatusCode::FORBIDDEN);
    let cross_site = [("host", "localhost:1"), ("sec-fetch-site", "cross-site")];
    assert_eq!(status(&cross_site, "/api/runs"), StatusCode::FORBIDDEN);
    assert_eq!(status(&cross_site, "/"), StatusCode::OK);
    let same_origin = [("host", "localhost:1"), ("origin", "http://localhost:1")];
    assert_eq!(status(&same_origin, "/api/players"), StatusCode::OK);
}

#[test]
fn positions_of_both_games_are_returned() {
    let client = Client::new();
    let start = client.post("/api/position", &json!({ "game": "othello" })).json();
    assert_eq!(start["current"]["legal"].as_array().unwrap().len(), 4);
    let three =
        client.post("/api/position", &json!({ "game": "othello", "moves": "F5 d6C3" })).json();
    assert_eq!(
        (three["steps"][2]["black"].as_u64(), three["current"]["side"].as_str()),
        (Some(5), Some("white"))
    );
    let body = json!({ "game": "checkers", "moves": "1. 11-15 23-18", "start": null });
    let checkers = client.post("/api/position", &body).json();
    assert_eq!(checkers["current"]["side"], "black");
    for (body, expected) in [
        (json!({ "game": "othello", "moves": "f5d6f5" }), "move 3"),
        (json!({ "game": "othello", "moves": "f5zz" }), "move 2"),
        (json!({ "game": "checkers", "moves": "11-15 11-16" }), "move 2"),
        (json!({ "game": "othello", "start": "XO" }), "64 cells"),
        (json!({ "game": "chess" }), "unknown game"),
        (json!([1, 2]), "invalid request"),
    ] {
        let reply = client.post("/api/position", &body);
        assert_eq!(reply.status, StatusCode::BAD_REQUEST, "{body}");
        let error = reply.json()["error"].as_str().unwrap_or_default().to_owned();
        assert!(error.contains(expected), "{body}: {error}");
    }
}

#[test]
fn opponents_play_legal_moves_and_cannot_start_programs() {
    let client = Client::new();
    let list = client.get("/api/players").json();
    let levels = list["othello"]["levels"].as_array().unwrap();
    assert!(levels.len() >= 6 && levels.iter().all(|level| level["rating"].is_number()));
    for player in ["random", "heuristic", "champion@2"] {
        let body = json!({ "game": "othello", "moves": "f5", "player": player, "seed": 4 });
        let first = client.post("/api/move", &body).json();
        let mv = first["move"].as_str().unwrap();
        let line = json!({ "game": "othello", "moves": format!("f5{mv}") });
        assert_eq!(client.post("/api/position", &line).status, StatusCode::OK);
        // The move depends only on the game and the seed.
        assert_eq!(client.post("/api/move", &body).json(), first);
    }
    let body = json!({ "game": "checkers", "player": "material@2" });
    assert_eq!(client.post("/api/move", &body).status, StatusCode::OK);
    for player in
        ["gtp:touch x", "nboard:sh", "champion@60", "../x.player", "run:..", "run:league-001"]
    {
        let reply = client.post("/api/move", &json!({ "game": "othello", "player": player }));
        assert!(reply.status.is_client_error(), "{player}: {}", reply.status);
    }
}

#[test]
fn evaluations_deepen_and_expert_probabilities_sum_to_one() {
    let client = Client::new();
    let body = json!({ "game": "othello", "moves": "f5d6", "time": 30, "depth": 3 });
    let lines = client.post("/api/evaluate", &body).lines();
    let depths: Vec<_> = lines.iter().filter_map(|line| line["depth"].as_u64()).collect();
    assert_eq!(depths, [1, 2, 3]);
    assert_eq!(lines.last().unwrap()["done"], true);
    let experts =
        client.post("/api/experts", &json!({ "game": "othello", "moves": "f5d6" })).json();
    let moves = experts["moves"].as_array().unwrap();
    let sum: f64 = moves.iter().map(|one| one["probability"].as_f64().unwrap()).sum();
    assert!((sum - 1.0).abs() < 1e-9 && moves.len() == lines[0]["moves"].as_array().unwrap().len());
    // The four first moves are symmetric.
    let first = client.post("/api/experts", &json!({ "game": "othello", "moves": "" })).json();
    let probability = |index: usize| first["moves"][index]["probability"].as_f64().unwrap();
    assert!((0..4).all(|index| (probability(index) - 0.25).abs() < 1e-12), "{first}");
}

#[test]
fn games_are_parsed_from_text_and_files() {
    let client = Client::new();
    let read = |name: &str, bytes: Vec<u8>| {
        client.request(Method::POST, &format!("/api/games?name={name}"), bytes)
    };
    assert_eq!(read("x.txt", b"f5d6c3\n".to_vec()).json()["games"][0]["moves"], "f5d6c3");
    let ggf = b"(;GM[Othello]PB[Ada]PW[Ben]BO[8 -------- -------- -------- ---O*--- ---*O--- -------- -------- -------- *]B[f5]W[d6];)";
    assert_eq!(read("x.ggf", ggf.to_vec()).json()["games"][0]["black"], "Ada");
    let database = read("x.wtb", outflank_records::embedded::GAMES.to_vec()).json();
    assert_eq!(database["total"], outflank_records::embedded::count());
    for (name, bytes) in
        [("x.txt", &b"f5d6zz"[..]), ("x.wtb", b"nonsense"), ("x.txt", b"hello"), ("x.txt", b"")]
    {
        let reply = read(name, bytes.to_vec());
        assert_eq!(reply.status, StatusCode::BAD_REQUEST, "{name}");
        assert!(reply.json()["error"].is_string());
    }
    assert_eq!(read("x.wtb", vec![0; 9 << 20]).status, StatusCode::PAYLOAD_TOO_LARGE);
}

/// WTHOR games have numbers of players; the names are in files of the data folder.
#[test]
fn wthor_names_come_from_the_data_folder() {
    let mut record = outflank_records::transcript::game(b"f5d6c3").unwrap();
    record.info.black = "Ada".to_owned();
    record.info.white = "Ben".to_owned();
    record.info.event = "Cup".to_owned();
    let files = wthor::encode(&[record], &wthor::Names::default(), Default::default()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("wthor")).unwrap();
    std::fs::write(folder.path().join("wthor/WTHOR.JOU"), &files.players).unwrap();
    std::fs::write(folder.path().join("wthor/WTHOR.TRN"), &files.tournaments).unwrap();
    let read = |client: &Client| {
        let found =
            client.request(Method::POST, "/api/games?name=x.wtb", files.games.clone()).json();
        ["black", "white", "event"].map(|key| found["games"][0][key].as_str().unwrap().to_owned())
    };
    let with_names = Client::with_data(Some(folder.path().to_owned()));
    assert_eq!(read(&with_names), ["Ada", "Ben", "Cup"]);
    for (name, kind) in read(&Client::new()).iter().zip(["player ", "player ", "tournament "]) {
        let number = name.strip_prefix(kind);
        assert!(number.is_some_and(|n| n.parse::<u16>().is_ok()), "{name}");
    }
}

#[test]
fn analysis_is_consistent_and_makes_a_report() {
    let client = Client::new();
    let record = outflank_records::embedded::games().swap_remove(0);
    let moves: String = record.plies().iter().map(|ply| ply.mv.to_string()).collect();
    let game = json!({ "game": "othello", "moves": moves, "time": 0.5 });
    let lines = client.post("/api/analyze", &game).lines();
    assert_eq!(lines[0]["plies"], record.plies().len());
    assert_eq!(lines.last().unwrap()["done"], true);
    let mut rows = std::collections::BTreeMap::new();
    for line in &lines[1..lines.len() - 1] {
        assert!(line["loss"].as_f64().unwrap() >= 0.0);
        rows.insert(line["ply"].as_u64().unwrap(), line.clone());
    }
    assert_eq!(rows.len(), record.plies().len());
    // Where values are exact, the losses account for their changes.
    let exact: Vec<_> = rows.values().filter(|row| row["exact"] == true).collect();
    assert!(exact.len() >= 12);
    for pair in exact.windows(2) {
        let (before, after) =
            (pair[0]["value_after"].as_f64().unwrap(), pair[1]["value_after"].as_f64().unwrap());
        let sign = if pair[1]["side"] == "black" { 1.0 } else { -1.0 };
        assert_eq!(after, before - sign * pair[1]["loss"].as_f64().unwrap());
    }
    assert_eq!(
        rows.values().last().unwrap()["value_after"].as_f64().unwrap() as i32,
        record.end().tournament_score().unwrap()
    );
    let rows: Vec<_> = rows.into_values().collect();
    let report = client.post(
        "/api/report",
        &json!({ "game": "othello", "moves": moves, "rows": rows, "black": "<b>" }),
    );
    let text = String::from_utf8(report.bytes).unwrap();
    assert!(report.status.is_success() && text.contains("&lt;b&gt;") && text.contains("exact"));
}

#[test]
fn explorer_runs_and_models_are_served() {
    let client = Client::new();
    let explorer = loop {
        let found = client
            .post("/api/explorer", &json!({ "game": "othello", "moves": "c4e3f6e6f5" }))
            .json();
        if found["loading"] != true {
            break found;
        }
        std::thread::sleep(std::time::Duration::from_millis(20));
    };
    assert_eq!(explorer["opening"]["name"], "Tiger");
    assert!(client.get("/api/openings").json().as_array().unwrap().len() >= 50);
    let runs = client.get("/api/runs").json();
    assert_eq!(runs["runs"].as_array().unwrap().len(), 2);
    let league = client.get("/api/runs/league-001").json();
    assert_eq!(
        (league["cross_table"][1][1].as_str(), league["state"].as_str()),
        (Some("strong"), Some("finished"))
    );
    let report = client.get("/api/runs/league-001/report");
    assert!(report.headers["content-security-policy"].to_str().unwrap().contains("sandbox"));
    let training = client.get("/api/runs/train-001").json();
    assert_eq!(training["curve"]["points"][2][1], 47.5);
    assert_eq!(training["state"], "running");
    let delete = |name: &str, token: &Value| {
        client
            .request(
                Method::DELETE,
                &format!("/api/runs/{name}"),
                json!({ "confirm": token }).to_string(),
            )
            .status
    };
    assert_eq!(delete("train-001", &training["confirm"]), StatusCode::CONFLICT);
    assert_eq!(delete("league-001", &json!("please")), StatusCode::CONFLICT);
    assert_eq!(delete("league-001", &league["confirm"]), StatusCode::OK);
    assert!(!client.runs.folder().join("league-001").exists());
    let model = client.get("/api/model?name=heuristic").json();
    assert_eq!(model["disc_values"].as_array().unwrap().len(), 64);
    for model in client.get("/api/models").json().as_array().unwrap() {
        let (name, game) = (model["name"].as_str().unwrap(), model["game"].as_str().unwrap());
        let description = client.get(&format!("/api/model?name={name}"));
        assert!(
            description.status.is_success() && description.json()["weights"].as_u64().unwrap() > 0,
            "{name}"
        );
        let body = json!({ "game": "othello", "moves": "f5", "model": name, "move": "d6" });
        let explanation = client.post("/api/explain", &body).json();
        let count = explanation["contributions"].as_array().map_or(0, Vec::len);
        // Neural networks are not sums of features.
        let is_neural = ["cnn", "experts", "ann"].contains(&name);
        assert_eq!(count > 0, game == "othello" && !is_neural, "{name}");
    }
    assert_eq!(client.get("/api/model?name=../x").status, StatusCode::NOT_FOUND);
}

#[test]
fn large_requests_are_rejected() {
    let client = Client::new();
    let long = json!({ "game": "checkers", "moves": "x".repeat(100_000) });
    assert_eq!(client.post("/api/position", &long).status, StatusCode::PAYLOAD_TOO_LARGE);
    let many = json!({ "game": "checkers", "moves": "11-15 ".repeat(5000) });
    assert_eq!(client.post("/api/position", &many).status, StatusCode::BAD_REQUEST);
}

#[test]
fn arbitrary_requests_do_not_fail_internally() {
    let client = Client::new();
    let paths = [
        "position", "move", "evaluate", "experts", "games", "analyze", "report", "explorer",
        "explain", "runs/x", "model",
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
            let reply =
                client.request(methods[method].clone(), &format!("/api/{}", paths[path]), body);
            prop_assert_ne!(reply.status, StatusCode::INTERNAL_SERVER_ERROR);
            Ok(())
        })
        .unwrap();
}
