//! A thousand clients at once on real sockets, clients that say nothing, and searches that nobody
//! waits for any more.

mod support;

use outflank_web::{ApiError, Searches, Stop, accept, listen};
use serde_json::json;
use std::time::Duration;
use support::{Lab, Server};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::JoinSet;

const CLIENTS: usize = 1000;

fn request(path: &str, body: &serde_json::Value) -> String {
    let body = body.to_string();
    format!(
        "POST {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )
}

/// Sends a request and returns all of the answer.
async fn ask(stream: &mut TcpStream, request: &str) -> String {
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await.unwrap();
    String::from_utf8_lossy(&answer).into_owned()
}

#[test]
fn a_thousand_clients_at_once_all_get_their_answer() {
    let lab = Lab::new();
    let server = Server::start(lab.settings());
    let address = server.at();
    server.block_on(async {
        // Everybody is connected before anybody asks.
        let mut streams = Vec::new();
        for _ in 0..CLIENTS {
            streams.push(TcpStream::connect(address).await.unwrap());
        }
        let mut clients = JoinSet::new();
        for (number, mut stream) in streams.into_iter().enumerate() {
            clients.spawn(async move {
                let othello = json!({ "game": "othello", "moves": "f5d6c3" });
                let (request, wanted) = match number % 4 {
                    0 => ("GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".to_owned(), "Outflank"),
                    1 => (request("/api/position", &othello), "\"legal\""),
                    2 => {
                        let asked = json!({ "game": "othello", "moves": "f5", "player": "heuristic", "seed": number });
                        (request("/api/move", &asked), "\"move\"")
                    }
                    _ => (request("/api/think", &json!({ "game": "othello", "moves": "f5d6", "depth": 1 })), "\"done\""),
                };
                let answer = ask(&mut stream, &request).await;
                assert!(answer.starts_with("HTTP/1.1 200") && answer.contains(wanted), "{number}: {answer}");
            });
        }
        let mut answered = 0;
        while let Some(done) = clients.join_next().await {
            done.unwrap();
            answered += 1;
        }
        assert_eq!(answered, CLIENTS);
        all_free(&server).await;
    });
}

/// Waits until every place for a search is free again: work ends a moment after its last word.
async fn all_free(server: &Server) {
    until(|| server.app.free_searches() == 2).await;
}

#[test]
fn silent_and_noisy_clients_hinder_nobody() {
    let lab = Lab::new();
    let server = Server::start(lab.settings());
    let address = server.at();
    server.block_on(async {
        let mut silent = Vec::new();
        for number in 0..200usize {
            let mut stream = TcpStream::connect(address).await.unwrap();
            let noise: Vec<u8> = (0..number * 97).map(|i| (i * 131 + number * 7) as u8).collect();
            // The server may hang up on nonsense before all of it is sent.
            let _ = match number % 4 {
                0 => Ok(()),
                1 => stream.write_all(b"GET / HTTP/1.1\r\nHost: loc").await,
                2 => stream.write_all(&noise).await,
                _ => stream.write_all(b"POST /api/move HTTP/1.1\r\nHost: localhost\r\nContent-Length: 50000\r\n\r\n{").await,
            };
            silent.push(stream);
        }
        let mut stream = TcpStream::connect(address).await.unwrap();
        let answer = ask(&mut stream, &request("/api/position", &json!({ "game": "checkers" }))).await;
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
        let headers = "GET / HTTP/1.1\r\nHost: localhost\r\n".to_owned() + &"a: b\r\n".repeat(20_000);
        let mut stream = TcpStream::connect(address).await.unwrap();
        let _ = stream.write_all(headers.as_bytes()).await;
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer).await;
        assert!(answer.is_empty() || answer.starts_with(b"HTTP/1.1 431"));
    });
}

#[test]
fn a_search_that_was_abandoned_stops() {
    let lab = Lab::new();
    let server = Server::start(lab.settings());
    let address = server.at();
    server.block_on(async {
        let mut streams = Vec::new();
        for path in ["/api/think", "/api/analyse"] {
            let mut stream = TcpStream::connect(address).await.unwrap();
            let game = json!({ "game": "othello", "moves": "f5d6c3d3c4f4c5b3c2", "time": 30, "depth": 60 });
            stream.write_all(request(path, &game).as_bytes()).await.unwrap();
            let mut first = [0; 64];
            stream.read_exact(&mut first).await.unwrap();
            streams.push(stream);
        }
        assert_eq!(server.app.free_searches(), 0);
        drop(streams);
        // Long before the half minute that was asked for.
        all_free(&server).await;
        assert_eq!(server.app.searches_given_up(), 2);
    });
}

/// An opponent thinks for a moment only, so that it may be done before the server hears that its client
/// has gone; but not time and again.
#[test]
fn a_move_that_nobody_waits_for_is_given_up() {
    let lab = Lab::new();
    let server = Server::start(lab.settings());
    let address = server.at();
    server.block_on(async {
        let moves = "e6f4f6e7d7b5e3b3g5e8c8c7f8g8";
        let start = "---------------------O----XXO-----XOXX----OO-------------------- X";
        let asked =
            json!({ "game": "othello", "start": start, "moves": moves, "player": "champion@8e16" });
        let asked = request("/api/move", &asked);
        for _ in 0..50 {
            let mut stream = TcpStream::connect(address).await.unwrap();
            stream.write_all(asked.as_bytes()).await.unwrap();
            let mut looked = 0;
            while server.app.free_searches() == 2 && looked < 1000 {
                tokio::time::sleep(Duration::from_millis(1)).await;
                looked += 1;
            }
            drop(stream);
            all_free(&server).await;
            if server.app.searches_given_up() > 0 {
                break;
            }
        }
        assert_eq!(server.app.searches_given_up(), 1);
        // Its place serves the next one, who waits.
        let mut stream = TcpStream::connect(address).await.unwrap();
        assert!(ask(&mut stream, &asked).await.contains("\"move\""));
        all_free(&server).await;
        assert_eq!(server.app.searches_given_up(), 1);
    });
}

/// Work that ends only when it is told to, behind the server's own connections.
#[test]
fn whoever_hangs_up_stops_the_work() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let searches = Searches::new(1);
        let shared = searches.clone();
        let work = |stop: &Stop| -> Result<String, ApiError> {
            while !stop.requested() {
                std::thread::sleep(Duration::from_millis(1));
            }
            Err(ApiError::Conflict("nobody waits".to_owned()))
        };
        let route = axum::routing::get(move || async move { shared.run(work).await });
        let listener = listen("127.0.0.1", 0).await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(accept(listener, axum::Router::new().route("/", route)));
        // One is at work and two wait their turn; each that goes makes room for the next.
        let mut streams = Vec::new();
        for _ in 0..3 {
            let mut stream = TcpStream::connect(address).await.unwrap();
            stream.write_all(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n").await.unwrap();
            streams.push(stream);
        }
        until(|| searches.free() == 0).await;
        drop(streams);
        until(|| searches.free() == 1 && searches.given_up() >= 1).await;
    });
}

/// Waits for something that must come.
async fn until(come: impl Fn() -> bool) {
    for _ in 0..400 {
        if come() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("it does not come");
}
