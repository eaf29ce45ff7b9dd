//! Checks of the `Host` and `Origin` headers of requests, and security headers of responses.
//!
//! The server is for the user of this machine, but every web page that the user visits can send
//! requests to it. Requests of other sites are recognized by their `Origin`, and DNS rebinding by
//! the `Host` header.

use crate::error::ApiError;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use std::net::IpAddr;

/// The host names that requests may use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AllowedHosts {
    /// Whether the server listens on an address other than loopback.
    is_public: bool,
    /// The host name that the server listens on.
    name: String,
}

impl AllowedHosts {
    /// Creates the rules for a server that listens on `host`.
    #[must_use]
    pub fn new(host: &str) -> AllowedHosts {
        AllowedHosts { is_public: !is_loopback(host), name: host.to_ascii_lowercase() }
    }

    /// Returns whether a `Host` header names this server: a loopback name, the configured name, or,
    /// if the server is public, any IP address, because DNS rebinding needs a name.
    #[must_use]
    pub fn allow(&self, host: &str) -> bool {
        let Some(name) = host_name(host) else { return false };
        let is_address = || name.parse::<IpAddr>().is_ok();
        is_loopback(&name) || name == self.name || (self.is_public && is_address())
    }
}

/// Returns whether an address or name is loopback.
#[must_use]
pub fn is_loopback(host: &str) -> bool {
    host.eq_ignore_ascii_case("localhost")
        || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// Returns the name in `name:port`, `[address]:port` or either without a port, in lower case.
fn host_name(host: &str) -> Option<String> {
    let (name, port) = match host.strip_prefix('[') {
        Some(rest) => {
            let (name, rest) = rest.split_once(']')?;
            (name, rest.strip_prefix(':').or(rest.is_empty().then_some("0"))?)
        }
        None => host.rsplit_once(':').unwrap_or((host, "0")),
    };
    let is_valid = !name.is_empty() && port.parse::<u16>().is_ok();
    is_valid.then(|| name.to_ascii_lowercase())
}

/// Returns whether a request comes from this server's page or names no origin, as requests of
/// programs do.
fn is_same_origin(headers: &HeaderMap, host: &str) -> bool {
    let is_cross_site = headers
        .get("sec-fetch-site")
        .is_some_and(|site| site.as_bytes() == b"cross-site" || site.as_bytes() == b"same-site");
    let origin = headers.get(header::ORIGIN);
    let origin_matches = origin.is_none_or(|origin| {
        origin.to_str().ok().and_then(|text| text.strip_prefix("http://")) == Some(host)
    });
    origin_matches && !is_cross_site
}

/// Rejects requests with an unknown host name, and API requests of other sites.
pub async fn check(State(hosts): State<AllowedHosts>, request: Request, next: Next) -> Response {
    let headers = request.headers();
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok());
    let host = host.or_else(|| request.uri().authority().map(|authority| authority.as_str()));
    let Some(host) = host.filter(|host| hosts.allow(host)) else {
        let error =
            "unknown host name. Use the address that the server printed, such as http://127.0.0.1.";
        return with_security_headers(ApiError::Forbidden(error.to_owned()).into_response());
    };
    // Other sites may link to the page, because opening it has no effect.
    let is_api = request.uri().path().starts_with("/api/");
    if is_api && !is_same_origin(headers, host) {
        let error = "requests from other sites are not allowed".to_owned();
        return with_security_headers(ApiError::Forbidden(error).into_response());
    }
    with_security_headers(next.run(request).await)
}

/// Adds headers that forbid loading from other sites, content sniffing and framing. Existing
/// headers are not replaced.
fn with_security_headers(mut response: Response) -> Response {
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
    fn only_own_host_names_are_allowed() {
        let local = AllowedHosts::new("127.0.0.1");
        for host in ["localhost", "127.0.0.1:8080", "LOCALHOST:1", "[::1]:80", "127.9.9.9"] {
            assert!(local.allow(host), "{host}");
        }
        for host in
            ["evil.example", "localhost.evil.example:80", "192.168.1.2", "", ":80", "[::1", "a:b"]
        {
            assert!(!local.allow(host), "{host}");
        }
        let public = AllowedHosts::new("0.0.0.0");
        assert!(public.allow("192.168.1.2:8080") && !public.allow("evil.example"));
        assert!(AllowedHosts::new("lab.example").allow("lab.example:80"));
    }

    #[test]
    fn other_sites_are_recognized_by_their_origin() {
        let headers = |pairs: &[(&'static str, &str)]| -> HeaderMap {
            let pair = |&(name, value): &(&'static str, &str)| {
                (HeaderName::from_static(name), HeaderValue::from_str(value).unwrap())
            };
            pairs.iter().map(pair).collect()
        };
        let host = "127.0.0.1:8080";
        assert!(is_same_origin(&headers(&[]), host));
        assert!(is_same_origin(&headers(&[("origin", "http://127.0.0.1:8080")]), host));
        for origin in ["http://evil.example", "https://127.0.0.1:8080", "null", "http://127.0.0.1"]
        {
            assert!(!is_same_origin(&headers(&[("origin", origin)]), host), "{origin}");
        }
        assert!(!is_same_origin(&headers(&[("sec-fetch-site", "cross-site")]), host));
        assert!(is_same_origin(&headers(&[("sec-fetch-site", "same-origin")]), host));
    }
}
