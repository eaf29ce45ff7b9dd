//! Load tests on real sockets: many clients, stalled clients, and clients that disconnect.

mod support;

use serde_json::json;
use std::time::Duration;
use support::{Server, TestRuns};
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

/// Sends a request and returns the response.
async fn send(stream: &mut TcpStream, request: &str) -> String {
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut response = Vec::new();
    stream.read_to_end(&mut response).await.unwrap();
    String::from_utf8_lossy(&response).into_owned()
}

#[test]
fn a_thousand_concurrent_clients_get_responses() {
    let runs = TestRuns::new();
    let server = Server::start(runs.config());
    let address = server.socket_address();
    server.block_on(async {
        // All clients connect before the first one sends.
        let mut streams = Vec::new();
        for _ in 0..CLIENTS {
            streams.push(TcpStream::connect(address).await.unwrap());
        }
        let mut clients = JoinSet::new();
        for (number, mut stream) in streams.into_iter().enumerate() {
            clients.spawn(async move {
                let othello = json!({ "game": "othello", "moves": "f5d6c3" });
                let (request, expected) = match number % 4 {
                    0 => ("GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".to_owned(), "Outflank"),
                    1 => (request("/api/position", &othello), "\"legal\""),
                    2 => {
                        let body = json!({ "game": "othello", "moves": "f5", "player": "heuristic", "seed": number });
                        (request("/api/move", &body), "\"move\"")
                    }
                    _ => (request("/api/evaluate", &json!({ "game": "othello", "moves": "f5d6", "depth": 1 })), "\"done\""),
                };
                let response = send(&mut stream, &request).await;
                assert!(response.starts_with("HTTP/1.1 200") && response.contains(expected), "{number}: {response}");
            });
        }
        let mut responses = 0;
        while let Some(done) = clients.join_next().await {
            done.unwrap();
            responses += 1;
        }
        assert_eq!(responses, CLIENTS);
        wait_until_free(&server).await;
    });
}

/// Waits until all search slots are free; a search ends shortly after the last line of its response.
async fn wait_until_free(server: &Server) {
    wait_until(|| server.app.free_searches() == 2).await;
}

#[test]
fn stalled_and_invalid_clients_do_not_block_others() {
    let runs = TestRuns::new();
    let server = Server::start(runs.config());
    let address = server.socket_address();
    server.block_on(async {
        let mut stalled = Vec::new();
        for number in 0..200usize {
            let mut stream = TcpStream::connect(address).await.unwrap();
            let noise: Vec<u8> = (0..number * 97).map(|i| (i * 131 + number * 7) as u8).collect();
            // The server may close the connection before all bytes are sent.
            let _ = match number % 4 {
                0 => Ok(()),
                1 => stream.write_all(b"GET / HTTP/1.1\r\nHost: loc").await,
                2 => stream.write_all(&noise).await,
                _ => stream.write_all(b"POST /api/move HTTP/1.1\r\nHost: localhost\r\nContent-Length: 50000\r\n\r\n{").await,
            };
            stalled.push(stream);
        }
        let mut stream = TcpStream::connect(address).await.unwrap();
        let response = send(&mut stream, &request("/api/position", &json!({ "game": "checkers" }))).await;
        assert!(response.starts_with("HTTP/1.1 200"), "{response}");
        let headers = "GET / HTTP/1.1\r\nHost: localhost\r\n".to_owned() + &"a: b\r\n".repeat(20_000);
        let mut stream = TcpStream::connect(address).await.unwrap();
        let _ = stream.write_all(headers.as_bytes()).await;
        let mut response = Vec::new();
        let _ = stream.read_to_end(&mut response).await;
        assert!(response.is_empty() || response.starts_with(b"HTTP/1.1 431"));
    });
}

#[test]
fn search_stops_when_the_client_disconnects() {
    let runs = TestRuns::new();
    let server = Server::start(runs.config());
    let address = server.socket_address();
    server.block_on(async {
        let mut streams = Vec::new();
        for path in ["/api/evaluate", "/api/analyze"] {
            let mut stream = TcpStream::connect(address).await.unwrap();
            let game = json!({ "game": "othello", "moves": "f5d6c3d3c4f4c5b3c2", "time": 30, "depth": 60 });
            stream.write_all(request(path, &game).as_bytes()).await.unwrap();
            let mut first = [0; 64];
            stream.read_exact(&mut first).await.unwrap();
            streams.push(stream);
        }
        assert_eq!(server.app.free_searches(), 0);
        drop(streams);
        // Long before the requested 30 seconds.
        wait_until_free(&server).await;
        assert_eq!(server.app.cancelled_searches(), 2);
    });
}

/// A move takes only a moment and may be done before the server notices that its client has
/// disconnected, so the test tries several times.
#[test]
fn move_search_stops_when_the_client_disconnects() {
    let runs = TestRuns::new();
    let server = Server::start(runs.config());
    let address = server.socket_address();
    server.block_on(async {
        let moves = "e6f4f6e7d7b5e3b3g5e8c8c7f8g8";
        let start = "---------------------O----XXO-----XOXX----OO-------------------- X";
        let body =
            json!({ "game": "othello", "start": start, "moves": moves, "player": "champion@8e16" });
        let request = request("/api/move", &body);
        for _ in 0..50 {
            let mut stream = TcpStream::connect(address).await.unwrap();
            stream.write_all(request.as_bytes()).await.unwrap();
            let mut polls = 0;
            while server.app.free_searches() == 2 && polls < 1000 {
                tokio::time::sleep(Duration::from_millis(1)).await;
                polls += 1;
            }
            drop(stream);
            wait_until_free(&server).await;
            if server.app.cancelled_searches() > 0 {
                break;
            }
        }
        assert_eq!(server.app.cancelled_searches(), 1);
        // The slot serves the next request.
        let mut stream = TcpStream::connect(address).await.unwrap();
        assert!(send(&mut stream, &request).await.contains("\"move\""));
        wait_until_free(&server).await;
        assert_eq!(server.app.cancelled_searches(), 1);
    });
}

/// Waits for a condition.
async fn wait_until(condition: impl Fn() -> bool) {
    for _ in 0..400 {
        if condition() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("timeout");
}
