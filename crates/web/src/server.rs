//! The TCP listener, with limits on the number and the duration of connections.

use crate::{AllowedHosts, App, ServerConfig, router};
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

/// The maximum number of open connections; further ones wait. A browser opens at most six.
const MAX_CONNECTIONS: usize = 1024;

/// The maximum time to receive request headers. It also limits idle connections.
const HEADER_TIMEOUT: Duration = Duration::from_secs(15);

/// The maximum size of request headers.
const MAX_HEADER_BYTES: usize = 16 << 10;

/// The maximum duration of a connection.
const MAX_CONNECTION_TIME: Duration = Duration::from_secs(15 * 60);

/// The reason why the server cannot start.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The host name has no address.
    #[error("cannot resolve host '{host}': {reason}. Try --host 127.0.0.1.")]
    Host {
        /// The host name.
        host: String,
        /// The system's error.
        reason: String,
    },
    /// The address cannot be used.
    #[error("cannot listen on {address}: {reason}. {hint}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// The system's error.
        reason: String,
        /// A suggestion for the user.
        hint: &'static str,
    },
    /// The runtime cannot start.
    #[error("cannot start the server: {0}")]
    Start(#[from] io::Error),
}

/// Serves until `stop` completes; `on_ready` receives the address first.
pub fn serve(
    config: ServerConfig,
    on_ready: impl FnOnce(SocketAddr),
    stop: impl Future<Output = ()>,
) -> Result<(), ServeError> {
    let workers = std::thread::available_parallelism().map_or(2, usize::from).clamp(2, 4);
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(workers).enable_all().build()?;
    let served = runtime.block_on(async {
        let listener = listen(&config.host, config.port).await?;
        let address = listener.local_addr()?;
        let hosts = AllowedHosts::new(&config.host);
        let app = router(App::new(config), hosts);
        on_ready(address);
        tokio::select! {
            () = accept(listener, app) => {}
            () = stop => {}
        }
        Ok(())
    });
    // Do not wait for running searches.
    runtime.shutdown_timeout(Duration::from_millis(100));
    served
}

/// Listens on the first usable address of a host.
pub async fn listen(host: &str, port: u16) -> Result<TcpListener, ServeError> {
    let unresolved = |reason: String| ServeError::Host { host: host.to_owned(), reason };
    let addresses: Vec<SocketAddr> =
        lookup_host((host, port)).await.map_err(|error| unresolved(error.to_string()))?.collect();
    let mut last_error = unresolved("no address found".to_owned());
    for address in addresses {
        match TcpListener::bind(address).await {
            Ok(listener) => return Ok(listener),
            Err(error) => {
                let hint = match error.kind() {
                    io::ErrorKind::AddrNotAvailable => {
                        "This machine does not have the address. Try --host 127.0.0.1, or 0.0.0.0 for all."
                    }
                    _ => "Try another --port, or 0 for any free port.",
                };
                last_error = ServeError::Listen { address, reason: error.to_string(), hint };
            }
        }
    }
    Err(last_error)
}

/// Accepts connections until the future is dropped.
pub async fn accept(listener: TcpListener, app: axum::Router) {
    let slots = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    loop {
        let Ok(slot) = Arc::clone(&slots).acquire_owned().await else { return };
        let stream = match listener.accept().await {
            Ok((stream, _)) => stream,
            Err(_) => {
                // Most likely out of file descriptors; retry.
                tokio::time::sleep(Duration::from_millis(50)).await;
                continue;
            }
        };
        let app = app.clone();
        tokio::spawn(async move {
            let _slot = slot;
            let _ = tokio::time::timeout(MAX_CONNECTION_TIME, serve_connection(stream, app)).await;
        });
    }
}

async fn serve_connection(stream: TcpStream, app: axum::Router) {
    // Small responses should not wait for more data.
    let _ = stream.set_nodelay(true);
    let service = hyper::service::service_fn(move |request: Request<Incoming>| {
        app.clone().call(request.map(Body::new))
    });
    // A broken connection does not affect others.
    let _ = hyper::server::conn::http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEADER_TIMEOUT)
        .max_buf_size(MAX_HEADER_BYTES)
        .serve_connection(TokioIo::new(stream), service)
        .await;
}

/// Waits without blocking a thread, for callers that poll a stop request.
pub async fn pause(time: Duration) {
    tokio::time::sleep(time).await;
}
