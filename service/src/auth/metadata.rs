//! The well-known documents of the service as an OAuth protected resource (RFC 9728).
//! They are public, and every other well-known path is a plain JSON 404, which is
//! what makes clients stop looking.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Request, State};
use axum::response::{IntoResponse, Response};
use http::request::Parts;
use http::{HeaderValue, Method, StatusCode, header};
use serde::Serialize;

use crate::app::App;
use crate::error::ErrorBody;
use crate::public_url;

const WELL_KNOWN: &str = "/.well-known/oauth-protected-resource";
const SCOPES: [&str; 2] = ["memories:read", "memories:write"];

/// RFC 9728 metadata, as far as it applies.
#[derive(Debug, Serialize)]
struct ProtectedResource<'a> {
    resource: String,
    /// The protocol asks for at least one server, but none issues tokens for a service
    /// that is reached with API keys. Naming one all the same (ourselves, say) would send
    /// a client through discovery and registration into a 404. Without the member it
    /// stops here and can ask its user for a key.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    authorization_servers: &'a [String],
    scopes_supported: [&'static str; 2],
    bearer_methods_supported: [&'static str; 1],
    resource_name: &'static str,
}

/// Everything below `/.well-known/`.
pub(crate) async fn serve(State(app): State<Arc<App>>, request: Request) -> Response {
    let (parts, _) = request.into_parts();
    let Some(resource) = resource(parts.uri.path()) else {
        return (
            StatusCode::NOT_FOUND,
            Json(ErrorBody::new(
                "not_found",
                "there is no such well-known document here",
            )),
        )
            .into_response();
    };
    if !matches!(parts.method, Method::GET | Method::HEAD) {
        let body = Json(ErrorBody::new(
            "method_not_allowed",
            "this document can only be read; use GET",
        ));
        return (
            StatusCode::METHOD_NOT_ALLOWED,
            [(header::ALLOW, "GET, HEAD, OPTIONS")],
            body,
        )
            .into_response();
    }
    let document = ProtectedResource {
        resource: format!("{}{resource}", public_url::origin(&app, &parts)),
        authorization_servers: &app.settings.authorization_servers,
        scopes_supported: SCOPES,
        bearer_methods_supported: ["header"],
        resource_name: "Ostraca memory",
    };
    let mut response = Json(document).into_response();
    response.headers_mut().insert(
        header::CACHE_CONTROL,
        HeaderValue::from_static("public, max-age=3600"),
    );
    response
}

/// The path of the resource that a well-known path describes.
fn resource(path: &str) -> Option<&'static str> {
    match path.strip_prefix(WELL_KNOWN)?.trim_end_matches('/') {
        // The MCP endpoint is what clients look for when they only know the host.
        "" | "/mcp" => Some("/mcp"),
        "/mcp/readonly" => Some("/mcp/readonly"),
        _ => None,
    }
}

/// The absolute URL of the metadata for the resource that a request went to.
pub(crate) fn location(app: &App, parts: &Parts) -> String {
    let origin = public_url::origin(app, parts);
    let path = match parts.uri.path().trim_end_matches('/') {
        "/mcp/readonly" => "/mcp/readonly",
        "/mcp" => "/mcp",
        _ => "",
    };
    format!("{origin}{WELL_KNOWN}{path}")
}
