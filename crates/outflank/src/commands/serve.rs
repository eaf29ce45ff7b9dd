//! `outflank serve`: the local web server.

use crate::Outcome;
use crate::cli::ServeArgs;
use crate::errors::bail_usage;
use crate::output::{print, print_json};
use anyhow::Result;
use outflank_runs::{install_stop_handler, stop_requested};
use outflank_web::{ServerConfig, is_loopback, serve};
use serde_json::json;
use std::net::SocketAddr;
use std::process::{Command, Stdio};
use std::time::Duration;

/// Serves until a stop is requested.
pub fn run(args: &ServeArgs) -> Result<Outcome> {
    if let Some(data) = args.data.as_ref().filter(|data| !data.exists()) {
        bail_usage!(
            "there is no data folder {}; omit --data to use the embedded games",
            data.display()
        );
    }
    let mut settings = ServerConfig {
        host: args.host.clone(),
        port: args.port,
        data: args.data.clone(),
        runs: args.runs.clone(),
        ..ServerConfig::default()
    };
    if let Some(threads) = args.threads {
        settings.max_searches = usize::from(threads);
    }
    install_stop_handler();
    let announce = |address: SocketAddr| {
        let url = page_address(address);
        let _ = match args.json {
            true => print_json(&json!({ "address": url })),
            false => print(&format!("{}\n", startup_message(&args.host, &url))),
        };
        if !args.no_open {
            open(&url);
        }
    };
    let stop = async {
        while !stop_requested() {
            outflank_web::pause(Duration::from_millis(100)).await;
        }
    };
    serve(settings, announce, stop)?;
    Ok(Outcome::Done)
}

/// The URL for a browser on this machine.
fn page_address(address: SocketAddr) -> String {
    match address.ip().is_unspecified() {
        true => format!("http://127.0.0.1:{}/", address.port()),
        false => format!("http://{address}/"),
    }
}

fn startup_message(host: &str, url: &str) -> String {
    match is_loopback(host) {
        true => format!("Outflank is at {url} (this machine only). Ctrl-C stops it."),
        false => format!(
            "Outflank is at {url} and listens on {host}. WARNING: anyone who can reach this machine \
             can use it and delete runs. Ctrl-C stops it."
        ),
    }
}

/// Opens the page in a browser if the system has one; the address was printed anyway.
fn open(url: &str) {
    let opener = match std::env::consts::OS {
        "macos" => "open",
        "windows" => "explorer",
        _ => "xdg-open",
    };
    let quiet = || Stdio::null();
    let _ = Command::new(opener).arg(url).stdin(quiet()).stdout(quiet()).stderr(quiet()).spawn();
}
