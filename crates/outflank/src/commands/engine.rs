//! `outflank engine`: serves a player to other programs over GTP or NBoard.

use crate::cli::{EngineArgs, ProtocolArg};
use crate::{Outcome, VERSION, model_source};
use anyhow::Result;
use outflank_protocols::{AnalysisEngine, Gtp, NBoard, serve};
use std::io::{BufReader, ErrorKind};

/// Answers commands until the client quits or disconnects.
pub fn run(args: &EngineArgs) -> Result<Outcome> {
    let player = AnalysisEngine::new(&args.player, args.threads.into(), args.seed)?;
    model_source::note_players(&[&args.player], false);
    let input = BufReader::new(std::io::stdin());
    let mut out = std::io::stdout();
    let served = match args.protocol {
        ProtocolArg::Gtp => serve(&mut Gtp::new(player, VERSION), input, &mut out),
        ProtocolArg::Nboard => serve(&mut NBoard::new(player), input, &mut out),
    };
    match served {
        // The client has disconnected.
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(Outcome::Done),
        served => Ok(served.map(|()| Outcome::Done)?),
    }
}
