//! Listening: connections, at most so many at once, none of them for ever.

use crate::{App, Settings, guard, router};
use axum::body::Body;
use axum::extract::Request;
use hyper::body::Incoming;
use hyper_util::rt::{TokioIo, TokioTimer};
use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream, lookup_host};
use tokio::sync::Semaphore;
use tower::Service;

/// So many connections at once; further ones wait at the door.
pub const CONNECTIONS: usize = 4096;

/// A client has this long to say what it wants, and a connection without requests lasts no longer.
const HEADERS_WITHIN: Duration = Duration::from_secs(15);

/// The most that the headers of a request may fill.
const HEADER_BYTES: usize = 16 << 10;

/// No connection lasts longer, whatever it does.
const LONGEST: Duration = Duration::from_secs(15 * 60);

/// Why the server cannot begin.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The name leads to no address.
    #[error("'{host}' is not an address of this machine: {reason}; try --host 127.0.0.1")]
    Host {
        /// What was asked for.
        host: String,
        /// What the system says.
        reason: String,
    },
    /// The address cannot be listened at.
    #[error("cannot listen at {address}: {reason}; {next}")]
    Listen {
        /// Where.
        address: SocketAddr,
        /// What the system says.
        reason: String,
        /// What to try.
        next: &'static str,
    },
    /// Threads cannot be started.
    #[error("the server does not start: {0}")]
    Start(#[from] io::Error),
}

/// Serves until `stop` is done; `ready` is told the address first.
pub fn serve(
    settings: Settings,
    ready: impl FnOnce(SocketAddr),
    stop: impl Future<Output = ()>,
) -> Result<(), ServeError> {
    let workers = std::thread::available_parallelism().map_or(2, usize::from).clamp(2, 4);
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(workers).enable_all().build()?;
    let served = runtime.block_on(async {
        let listener = listen(&settings.host, settings.port).await?;
        let address = listener.local_addr()?;
        let hosts = guard::Hosts::of(&settings.host);
        let app = router(App::new(settings), hosts);
        ready(address);
        tokio::select! {
            () = accept(listener, app) => {}
            () = stop => {}
        }
        Ok(())
    });
    // Searches that are still running are not waited for.
    runtime.shutdown_timeout(Duration::from_millis(100));
    served
}

/// Listens at the first address of a host that lets us.
pub async fn listen(host: &str, port: u16) -> Result<TcpListener, ServeError> {
    let unknown = |reason: String| ServeError::Host { host: host.to_owned(), reason };
    let addresses: Vec<SocketAddr> =
        lookup_host((host, port)).await.map_err(|error| unknown(error.to_string()))?.collect();
    let mut refused = unknown("it has no address".to_owned());
    for address in addresses {
        match TcpListener::bind(address).await {
            Ok(listener) => return Ok(listener),
            Err(error) => {
                let next = match error.kind() {
                    io::ErrorKind::AddrNotAvailable => {
                        "this machine has no such address: try --host 127.0.0.1, or 0.0.0.0 for all"
                    }
                    _ => "try another --port, or 0 for any free one",
                };
                refused = ServeError::Listen { address, reason: error.to_string(), next };
            }
        }
    }
    Err(refused)
}

/// Takes connections for ever.
pub async fn accept(listener: TcpListener, app: axum::Router) {
    let places = Arc::new(Semaphore::new(CONNECTIONS));
    loop {
        let Ok(place) = Arc::clone(&places).acquire_owned().await else { return };
        let stream = match listener.accept().await {
            Ok((stream, _)) => stream,
            Err(_) => {
                // Out of descriptors, most likely: some will be free again.
                tokio::time::sleep(Duration::from_millis(50)).await;
                continue;
            }
        };
        let app = app.clone();
        tokio::spawn(async move {
            let _place = place;
            let _ = tokio::time::timeout(LONGEST, connection(stream, app)).await;
        });
    }
}

async fn connection(stream: TcpStream, app: axum::Router) {
    // Small answers should leave at once.
    let _ = stream.set_nodelay(true);
    let service = hyper::service::service_fn(move |request: Request<Incoming>| {
        app.clone().call(request.map(Body::new))
    });
    // A connection that breaks concerns nobody else.
    let _ = hyper::server::conn::http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEADERS_WITHIN)
        .max_buf_size(HEADER_BYTES)
        .serve_connection(TokioIo::new(stream), service)
        .await;
}

/// Waits without keeping a thread: for whoever looks now and then whether to stop.
pub async fn pause(time: Duration) {
    tokio::time::sleep(time).await;
}
