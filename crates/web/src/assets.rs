//! The files of the page, which are embedded in the program. No other files are served.

use axum::http::{HeaderMap, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use rust_embed::RustEmbed;

/// The embedded files of the page.
#[derive(RustEmbed)]
#[folder = "page/"]
struct PageFiles;

/// Serves the file at a path; `/` is the page itself.
pub async fn serve_file(uri: Uri, headers: HeaderMap) -> Response {
    let name = match uri.path() {
        "/" => "index.html",
        path => path.trim_start_matches('/'),
    };
    let Some(file) = PageFiles::get(name) else {
        return (StatusCode::NOT_FOUND, "not found\n").into_response();
    };
    let tag = format!("\"{}\"", to_hex(&file.metadata.sha256_hash()[..12]));
    let is_cached =
        headers.get(header::IF_NONE_MATCH).is_some_and(|cached_tag| cached_tag == tag.as_str());
    let response_headers = [
        (header::ETAG, tag),
        (header::CACHE_CONTROL, "no-cache".to_owned()),
        (header::CONTENT_TYPE, content_type(name).to_owned()),
    ];
    match is_cached {
        true => (StatusCode::NOT_MODIFIED, response_headers).into_response(),
        false => (response_headers, file.data).into_response(),
    }
}

fn to_hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn content_type(name: &str) -> &'static str {
    match name.rsplit('.').next() {
        Some("html") => "text/html; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("svg") => "image/svg+xml",
        _ => "application/octet-stream",
    }
}
