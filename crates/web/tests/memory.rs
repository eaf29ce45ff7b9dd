//! The memory of request bodies, on real sockets.
#![cfg(target_os = "linux")]

mod support;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Duration;
use support::{Server, TestRuns};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

const CLIENTS: usize = 64;
const FILE_BYTES: usize = 8 << 20;

/// Returns the resident memory of this process in MiB.
fn resident_mebibytes() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<usize>().unwrap() >> 10
}

/// All bodies were read before one of the four slots for files was taken: 200 uploads of 8 MiB took
/// 3.3 GB.
#[test]
fn uploads_do_not_fill_the_memory() {
    let runs = TestRuns::new();
    let server = Server::start(runs.config());
    let address = server.socket_address();
    let before = resident_mebibytes();
    server.block_on(async {
        let sent = Arc::new(AtomicUsize::new(0));
        let part: Arc<[u8]> = vec![b'\n'; 1 << 16].into();
        let mut uploads = Vec::new();
        for _ in 0..CLIENTS {
            let (sent, part) = (Arc::clone(&sent), Arc::clone(&part));
            uploads.push(tokio::spawn(async move {
                let mut stream = TcpStream::connect(address).await.unwrap();
                let head = format!(
                    "POST /api/games?name=x.txt HTTP/1.1\r\nHost: localhost\r\nContent-Length: \
                     {FILE_BYTES}\r\n\r\n"
                );
                stream.write_all(head.as_bytes()).await.unwrap();
                // The last part is held back, so that no request is complete.
                for _ in 1..FILE_BYTES / part.len() {
                    if stream.write_all(&part).await.is_err() {
                        return;
                    }
                    sent.fetch_add(part.len(), Relaxed);
                }
                std::future::pending::<()>().await;
            }));
        }
        let (mut last, mut peak) = (0, 0);
        for _ in 0..100 {
            tokio::time::sleep(Duration::from_millis(200)).await;
            peak = peak.max(resident_mebibytes());
            let now = sent.load(Relaxed);
            if now > 0 && now == last {
                break;
            }
            last = now;
        }
        let growth = peak - before;
        assert!(growth < 200, "{growth} MiB for {CLIENTS} uploads of {FILE_BYTES} bytes");

        // Other requests do not wait for the uploads.
        let body = r#"{"game": "othello"}"#;
        let request = format!(
            "POST /api/position HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\
             Content-Length: {}\r\n\r\n{body}",
            body.len()
        );
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut response = String::new();
        stream.read_to_string(&mut response).await.unwrap();
        assert!(response.starts_with("HTTP/1.1 200"), "{response}");
        uploads.iter().for_each(tokio::task::JoinHandle::abort);
    });
}

/// A body without an announced size is cut off at the limit.
#[test]
fn bodies_of_unknown_size_are_limited() {
    let runs = TestRuns::new();
    let server = Server::start(runs.config());
    let address = server.socket_address();
    server.block_on(async {
        let mut stream = TcpStream::connect(address).await.unwrap();
        let head = "POST /api/position HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\
                    Transfer-Encoding: chunked\r\n\r\n";
        stream.write_all(head.as_bytes()).await.unwrap();
        let chunk = format!("8000\r\n{}\r\n", " ".repeat(0x8000));
        for _ in 0..3 {
            // The server may answer and close before all of it is sent.
            let _ = stream.write_all(chunk.as_bytes()).await;
        }
        let mut response = Vec::new();
        let _ = stream.read_to_end(&mut response).await;
        let response = String::from_utf8_lossy(&response);
        assert!(response.starts_with("HTTP/1.1 413"), "{response}");
    });
}
