//! The page's own files, which are part of the program. Nothing else is ever served as a file.

use axum::http::{HeaderMap, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use rust_embed::RustEmbed;

/// The files of the page.
#[derive(RustEmbed)]
#[folder = "page/"]
pub struct Files;

/// The file at a path, the page itself at `/`.
pub async fn file(uri: Uri, headers: HeaderMap) -> Response {
    let name = match uri.path() {
        "/" => "index.html",
        path => path.trim_start_matches('/'),
    };
    let Some(file) = Files::get(name) else {
        return (StatusCode::NOT_FOUND, "there is nothing here\n").into_response();
    };
    // A browser that has this very file keeps it: a reload costs nothing.
    let tag = format!("\"{}\"", hexadecimal(&file.metadata.sha256_hash()[..12]));
    let known = headers.get(header::IF_NONE_MATCH).is_some_and(|known| known == tag.as_str());
    let head = [
        (header::ETAG, tag),
        (header::CACHE_CONTROL, "no-cache".to_owned()),
        (header::CONTENT_TYPE, kind(name).to_owned()),
    ];
    match known {
        true => (StatusCode::NOT_MODIFIED, head).into_response(),
        false => (head, file.data).into_response(),
    }
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn kind(name: &str) -> &'static str {
    match name.rsplit('.').next() {
        Some("html") => "text/html; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("svg") => "image/svg+xml",
        _ => "application/octet-stream",
    }
}

/// How many bytes the first page takes before compression: the page itself and what it names.
#[must_use]
pub fn first_page_bytes() -> usize {
    Files::iter().filter_map(|name| Files::get(&name)).map(|file| file.data.len()).sum()
}
