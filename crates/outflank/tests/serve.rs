//! `outflank serve`: address, answers, stop.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

fn outflank(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_outflank"));
    command.env_remove("OUTFLANK_DATA").arg("serve").args(arguments);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// A server, killed when dropped.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn start(arguments: &[&str]) -> (Running, String) {
    let mut server = Running(outflank(arguments).spawn().unwrap());
    let mut line = String::new();
    BufReader::new(server.0.stdout.take().unwrap()).read_line(&mut line).unwrap();
    (server, line)
}

/// The `127.0.0.1:1234` in a line.
fn address(line: &str) -> &str {
    let (_, rest) = line.split_once("http://").unwrap();
    rest.split_once('/').unwrap().0
}

fn get(address: &str, path: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

#[test]
fn the_printed_address_answers() {
    let (_server, line) = start(&["--port", "0", "--no-open"]);
    assert!(line.contains("this machine only"), "{line}");
    let page = get(address(&line), "/");
    assert!(page.starts_with("HTTP/1.1 200") && page.contains("<title>Outflank</title>"));
    assert!(get(address(&line), "/api/players").contains("champion"));
}

#[test]
fn a_public_address_is_a_warning() {
    let (_server, line) = start(&["--port", "0", "--no-open", "--host", "0.0.0.0"]);
    assert!(line.contains("WARNING"), "{line}");
    assert!(get(address(&line), "/").starts_with("HTTP/1.1 200"));
}

#[cfg(unix)]
#[test]
fn a_stop_request_ends_the_server() {
    let (mut server, line) = start(&["--port", "0", "--no-open"]);
    assert!(get(address(&line), "/").starts_with("HTTP/1.1 200"));
    let id = server.0.id().to_string();
    assert!(Command::new("kill").args(["-INT", &id]).status().unwrap().success());
    assert_eq!(server.0.wait().unwrap().code(), Some(0));
}

#[test]
fn wrong_options_are_errors() {
    let (_server, line) = start(&["--port", "0", "--no-open"]);
    let taken = address(&line).rsplit_once(':').unwrap().1.to_owned();
    for (arguments, part) in [
        (vec!["--port", &taken], "another --port"),
        (vec!["--data", "no-such-folder", "--port", "0"], "no data folder"),
        (vec!["--host", "no such host", "--port", "0"], "--host 127.0.0.1"),
        (vec!["--port", "99999"], "--port"),
    ] {
        let done = outflank(&arguments).arg("--no-open").output().unwrap();
        let error = String::from_utf8_lossy(&done.stderr).into_owned();
        assert!(!done.status.success() && error.contains(part), "{arguments:?}: {error}");
    }
}
