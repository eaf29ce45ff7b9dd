//! Lines of GTP and NBoard: those of a client to our server, and those of an engine to our client.

use outflank_analysis::AnalysisEngine;
use outflank_players::{Protocol, parse_engine_line};
use outflank_protocols::{Gtp, LineProtocol, NBoard};

/// The maximum number of lines of a session, since each `genmove` plays a move.
const MAX_LINES: usize = 64;

/// A player that answers at once.
fn player() -> AnalysisEngine {
    AnalysisEngine::new("random", 1, 1).expect("an embedded player")
}

fn session(mut protocol: impl LineProtocol, bytes: &[u8]) {
    let mut out = Vec::new();
    protocol.start(&mut out).expect("memory can be written");
    for line in String::from_utf8_lossy(bytes).lines().take(MAX_LINES) {
        if !protocol.handle_line(line, &mut out).expect("memory can be written") {
            break;
        }
    }
    protocol.finish(&mut out).expect("memory can be written");
}

pub fn gtp(bytes: &[u8]) {
    session(Gtp::new(player(), "0"), bytes);
}

pub fn nboard(bytes: &[u8]) {
    session(NBoard::new(player()), bytes);
}

pub fn engine_output(bytes: &[u8]) {
    for line in String::from_utf8_lossy(bytes).lines() {
        for protocol in Protocol::ALL {
            parse_engine_line(protocol, line);
        }
    }
}
