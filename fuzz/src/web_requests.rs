//! Bodies of HTTP requests.

use axum::Router;
use axum::body::Body;
use axum::http::{Request, header};
use http_body_util::BodyExt;
use outflank_web::{AllowedHosts, App, ServerConfig, router};
use std::cell::LazyCell;
use tower::ServiceExt;

/// The routes that parse a body without a search. The first byte of an input selects one.
const ROUTES: [&str; 6] = [
    "/api/position",
    "/api/games?name=x.txt",
    "/api/games?name=x.wtb",
    "/api/report",
    "/api/explorer",
    "/api/explain",
];

thread_local! {
    static SERVER: LazyCell<(tokio::runtime::Runtime, Router)> = LazyCell::new(|| {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build();
        let config = ServerConfig { runs: "no-such-folder".into(), ..ServerConfig::default() };
        let router = router(App::new(config), AllowedHosts::new("127.0.0.1"));
        (runtime.expect("a runtime"), router)
    });
}

pub fn http(bytes: &[u8]) {
    let Some((first, body)) = bytes.split_first() else { return };
    let route = ROUTES[usize::from(*first) % ROUTES.len()];
    let request = Request::post(route)
        .header(header::HOST, "localhost")
        .header(header::CONTENT_LENGTH, body.len())
        .body(Body::from(body.to_vec()))
        .expect("a request");
    SERVER.with(|server| {
        let (runtime, router) = &**server;
        let status = runtime.block_on(async {
            let response = router.clone().oneshot(request).await.expect("a response");
            let status = response.status();
            response.into_body().collect().await.expect("a body");
            status
        });
        // A panic of a handler is answered with status 500.
        assert!(!status.is_server_error(), "{route}: {status}");
    });
}
