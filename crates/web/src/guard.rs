//! Who may ask: the checks that every request passes, and the headers that every answer carries.
//!
//! The server is for the person at this machine, but every page that they visit can send requests
//! to it. A page elsewhere is told apart by its `Origin`, and one that points its own name at this
//! machine (DNS rebinding) by the `Host` it asks for.

use crate::error::ApiError;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use std::net::IpAddr;

/// The names by which the server may be asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hosts {
    /// Whether it listens to more than this machine.
    open: bool,
    /// The name it was told to listen at.
    name: String,
}

impl Hosts {
    /// For a server that listens at this address.
    #[must_use]
    pub fn of(host: &str) -> Hosts {
        Hosts { open: !is_loopback(host), name: host.to_ascii_lowercase() }
    }

    /// Whether a `Host` header names this server: a name of this machine, and where others may
    /// ask, also any address written in numbers, since no foreign name can be one.
    #[must_use]
    pub fn allow(&self, host: &str) -> bool {
        let Some(name) = name_of(host) else { return false };
        is_loopback(&name) || name == self.name || (self.open && name.parse::<IpAddr>().is_ok())
    }
}

/// Whether an address or a name is this machine's own.
#[must_use]
pub fn is_loopback(host: &str) -> bool {
    host.eq_ignore_ascii_case("localhost")
        || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// The name in `name:port`, `[address]:port` or either without a port, in lower case.
fn name_of(host: &str) -> Option<String> {
    let (name, port) = match host.strip_prefix('[') {
        Some(rest) => {
            let (name, rest) = rest.split_once(']')?;
            (name, rest.strip_prefix(':').or(rest.is_empty().then_some("0"))?)
        }
        None => host.rsplit_once(':').unwrap_or((host, "0")),
    };
    let sound = !name.is_empty() && port.parse::<u16>().is_ok();
    sound.then(|| name.to_ascii_lowercase())
}

/// Whether a request comes from our own page, or from no page at all.
fn is_ours(headers: &HeaderMap, host: &str) -> bool {
    let foreign = headers
        .get("sec-fetch-site")
        .is_some_and(|site| site.as_bytes() == b"cross-site" || site.as_bytes() == b"same-site");
    let origin = headers.get(header::ORIGIN);
    let same = origin.is_none_or(|origin| {
        origin.to_str().ok().and_then(|text| text.strip_prefix("http://")) == Some(host)
    });
    same && !foreign
}

/// Turns away requests that are not meant for this server or come from foreign pages.
pub async fn check(State(hosts): State<Hosts>, request: Request, next: Next) -> Response {
    let headers = request.headers();
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok());
    let host = host.or_else(|| request.uri().authority().map(|authority| authority.as_str()));
    let Some(host) = host.filter(|host| hosts.allow(host)) else {
        let error = "this server answers to its own address only; ask for http://127.0.0.1";
        return sealed(ApiError::Forbidden(error.to_owned()).into_response());
    };
    // A link from elsewhere may open the page itself, which does nothing by being opened.
    let touches = request.uri().path().starts_with("/api/");
    if touches && !is_ours(headers, host) {
        let error = "requests from other pages are not answered".to_owned();
        return sealed(ApiError::Forbidden(error).into_response());
    }
    sealed(next.run(request).await)
}

/// What every answer says to the browser: load nothing from elsewhere, guess no type, be framed by
/// nobody. An answer that has a policy of its own keeps it.
fn sealed(mut response: Response) -> Response {
    const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; \
        img-src 'self' data: blob:; connect-src 'self'; frame-src 'self'; form-action 'none'; \
        base-uri 'none'; frame-ancestors 'none'";
    let headers = response.headers_mut();
    let mut set = |name: &'static str, value: &'static str| {
        headers
            .entry(HeaderName::from_static(name))
            .or_insert_with(|| HeaderValue::from_static(value));
    };
    set("content-security-policy", POLICY);
    set("x-content-type-options", "nosniff");
    set("referrer-policy", "no-referrer");
    set("cross-origin-resource-policy", "same-origin");
    set("cross-origin-opener-policy", "same-origin");
    set("cache-control", "no-store");
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_of_this_machine_are_answered() {
        let home = Hosts::of("127.0.0.1");
        for host in ["localhost", "127.0.0.1:8080", "LOCALHOST:1", "[::1]:80", "127.9.9.9"] {
            assert!(home.allow(host), "{host}");
        }
        for host in
            ["evil.example", "localhost.evil.example:80", "192.168.1.2", "", ":80", "[::1", "a:b"]
        {
            assert!(!home.allow(host), "{host}");
        }
        let open = Hosts::of("0.0.0.0");
        assert!(open.allow("192.168.1.2:8080") && !open.allow("evil.example"));
        assert!(Hosts::of("lab.example").allow("lab.example:80"));
    }

    #[test]
    fn foreign_pages_are_told_by_their_origin() {
        let headers = |pairs: &[(&'static str, &str)]| -> HeaderMap {
            let pair = |&(name, value): &(&'static str, &str)| {
                (HeaderName::from_static(name), HeaderValue::from_str(value).unwrap())
            };
            pairs.iter().map(pair).collect()
        };
        let host = "127.0.0.1:8080";
        assert!(is_ours(&headers(&[]), host));
        assert!(is_ours(&headers(&[("origin", "http://127.0.0.1:8080")]), host));
        for origin in ["http://evil.example", "https://127.0.0.1:8080", "null", "http://127.0.0.1"]
        {
            assert!(!is_ours(&headers(&[("origin", origin)]), host), "{origin}");
        }
        assert!(!is_ours(&headers(&[("sec-fetch-site", "cross-site")]), host));
        assert!(is_ours(&headers(&[("sec-fetch-site", "same-origin")]), host));
    }
}
