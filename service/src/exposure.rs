//! Which `Host` and `Origin` a request may carry. This is the guard against DNS
//! rebinding and against web pages that call a local server; who the caller is, is
//! decided elsewhere.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use http::request::Parts;
use http::uri::Authority;
use http::{HeaderMap, StatusCode, header};

use crate::app::App;
use crate::error::ErrorBody;

/// How far the service is reachable.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Exposure {
    /// A loopback address: only loopback names in `Host` and `Origin`.
    #[default]
    Loopback,
    /// A public address. As callers present bearer tokens and never cookies, a page of
    /// any origin can do no more than its user could; both lists narrow this further.
    Public {
        /// The host names that are answered, without port; empty answers all.
        hosts: Vec<String>,
        /// The origins that may call, such as `https://app.example.com`; empty allows all.
        origins: Vec<String>,
    },
}

/// Why a request was refused before its caller was looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Refused {
    /// The `Host` names another server.
    #[error("this Host is not served here; use the address that the server was started with")]
    Host,
    /// The `Origin` is not allowed.
    #[error("this Origin may not call the server; its operator can allow it")]
    Origin,
}

impl Exposure {
    /// Refuses a request that came under a wrong name or from a wrong page.
    pub(crate) fn admit(&self, parts: &Parts) -> Result<(), Refused> {
        let host = host_name(parts);
        match self {
            Self::Loopback => {
                if host.is_some_and(|host| !is_loopback(host)) {
                    return Err(Refused::Host);
                }
            }
            Self::Public { hosts, .. } => {
                let served =
                    |host: &str| hosts.iter().any(|known| known.eq_ignore_ascii_case(host));
                if !hosts.is_empty() && !host.is_some_and(served) {
                    return Err(Refused::Host);
                }
            }
        }
        match origin(&parts.headers) {
            Origin::Absent => Ok(()),
            Origin::Of(origin) if self.allows_origin(origin) => Ok(()),
            Origin::Unreadable | Origin::Of(_) => Err(Refused::Origin),
        }
    }

    fn allows_origin(&self, origin: &str) -> bool {
        match self {
            Self::Loopback => origin
                .strip_prefix("http://")
                .or_else(|| origin.strip_prefix("https://"))
                .and_then(|authority| authority.parse::<Authority>().ok())
                .is_some_and(|authority| plain(&authority) && is_loopback(authority.host())),
            Self::Public { origins, .. } => {
                origins.is_empty()
                    || origins
                        .iter()
                        .any(|known| known.eq_ignore_ascii_case(origin))
            }
        }
    }
}

impl IntoResponse for Refused {
    fn into_response(self) -> Response {
        (
            StatusCode::FORBIDDEN,
            Json(ErrorBody::new("forbidden", self.to_string())),
        )
            .into_response()
    }
}

/// Keeps requests under a wrong name or from a wrong page from the routes behind it.
pub(crate) async fn guard(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    let (parts, body) = request.into_parts();
    match app.settings.exposure.admit(&parts) {
        Ok(()) => next.run(Request::from_parts(parts, body)).await,
        Err(refused) => refused.into_response(),
    }
}

/// The host name under which the request came, without port.
fn host_name(parts: &Parts) -> Option<&str> {
    match parts.headers.get(header::HOST) {
        // A name that cannot be read is no name that is served.
        Some(host) => Some(host.to_str().map_or("", without_port)),
        None => parts.uri.host(),
    }
}

fn without_port(host: &str) -> &str {
    match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    }
}

fn is_loopback(host: &str) -> bool {
    matches!(host, "127.0.0.1" | "[::1]") || host.eq_ignore_ascii_case("localhost")
}

/// `user@localhost` parses as an authority, but is no origin.
fn plain(authority: &Authority) -> bool {
    !authority.as_str().contains('@')
}

enum Origin<'a> {
    Absent,
    Unreadable,
    Of(&'a str),
}

fn origin(headers: &HeaderMap) -> Origin<'_> {
    match headers.get(header::ORIGIN).map(|origin| origin.to_str()) {
        None => Origin::Absent,
        Some(Err(_)) => Origin::Unreadable,
        Some(Ok(origin)) => Origin::Of(origin.trim()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn admit(exposure: &Exposure, host: Option<&str>, origin: Option<&str>) -> Result<(), Refused> {
        let mut request = http::Request::builder().uri("/mcp");
        if let Some(host) = host {
            request = request.header(header::HOST, host);
        }
        if let Some(origin) = origin {
            request = request.header(header::ORIGIN, origin);
        }
        exposure.admit(&request.body(()).unwrap().into_parts().0)
    }

    #[test]
    fn loopback_answers_loopback_names_only() {
        let here = Exposure::Loopback;
        for host in [
            "localhost",
            "LOCALHOST:7700",
            "127.0.0.1",
            "127.0.0.1:7700",
            "[::1]",
            "[::1]:7700",
        ] {
            assert_eq!(admit(&here, Some(host), None), Ok(()), "{host}");
        }
        for host in [
            "evil.example",
            "127.0.0.1.evil.example",
            "localhost.evil.example:7700",
            "127.0.0.1@evil.example",
            "",
            "::1",
        ] {
            assert_eq!(admit(&here, Some(host), None), Err(Refused::Host), "{host}");
        }
    }

    #[test]
    fn loopback_refuses_pages_from_elsewhere() {
        let here = Exposure::Loopback;
        for origin in [
            "http://localhost",
            "http://localhost:6274",
            "https://127.0.0.1:1",
            "http://[::1]:3",
        ] {
            assert_eq!(
                admit(&here, Some("localhost"), Some(origin)),
                Ok(()),
                "{origin}"
            );
        }
        for origin in [
            "null",
            "https://evil.example",
            "http://localhost.evil.example",
            "http://a@localhost",
            "file://localhost",
            "",
        ] {
            assert_eq!(
                admit(&here, Some("localhost"), Some(origin)),
                Err(Refused::Origin),
                "{origin}"
            );
        }
    }

    #[test]
    fn a_public_service_narrows_by_its_lists() {
        let open = Exposure::Public {
            hosts: Vec::new(),
            origins: Vec::new(),
        };
        assert_eq!(
            admit(
                &open,
                Some("anything.example"),
                Some("https://inspector.example")
            ),
            Ok(())
        );
        let narrow = Exposure::Public {
            hosts: vec!["mem.example".to_owned()],
            origins: vec!["https://app.example".to_owned()],
        };
        assert_eq!(
            admit(
                &narrow,
                Some("MEM.example:443"),
                Some("https://app.example")
            ),
            Ok(())
        );
        assert_eq!(admit(&narrow, Some("mem.example"), None), Ok(()));
        assert_eq!(
            admit(&narrow, Some("other.example"), None),
            Err(Refused::Host)
        );
        assert_eq!(admit(&narrow, None, None), Err(Refused::Host));
        assert_eq!(
            admit(
                &narrow,
                Some("mem.example"),
                Some("https://app.example.evil.example")
            ),
            Err(Refused::Origin)
        );
    }
}
