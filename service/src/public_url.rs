//! The origin under which clients reach the service, for the absolute links that
//! OAuth challenges and metadata need. A configured origin wins; otherwise it is what
//! the request says, which can mislead nobody but the one who sent it.

use http::request::Parts;
use http::uri::Authority;
use http::{HeaderMap, header};

use crate::app::App;

/// The origin without a final slash, such as `https://memory.example.com`.
pub(crate) fn origin(app: &App, parts: &Parts) -> String {
    if let Some(configured) = &app.public_url {
        return configured.trim_end_matches('/').to_owned();
    }
    let scheme = first(&parts.headers, "x-forwarded-proto")
        .filter(|scheme| matches!(*scheme, "http" | "https"))
        .or_else(|| parts.uri.scheme_str())
        .unwrap_or("http");
    let authority = first(&parts.headers, "x-forwarded-host")
        .and_then(authority)
        .or_else(|| first(&parts.headers, header::HOST.as_str()).and_then(authority))
        .or_else(|| parts.uri.authority().cloned())
        .unwrap_or_else(|| Authority::from_static("localhost"));
    format!("{scheme}://{authority}")
}

/// The first of a comma-separated list: the hop that is nearest to the client.
fn first<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers
        .get(name)?
        .to_str()
        .ok()?
        .split(',')
        .next()
        .map(str::trim)
}

fn authority(text: &str) -> Option<Authority> {
    text.parse()
        .ok()
        .filter(|authority: &Authority| !authority.as_str().contains('@'))
}
