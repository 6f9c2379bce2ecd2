//! What answers outside the interfaces: a short introduction at `/`, for whoever opens
//! the address in a browser, and plain JSON for paths that do not exist.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Request, State};
use axum::response::{IntoResponse, Response};
use http::StatusCode;
use serde_json::json;

use crate::app::App;
use crate::error::ErrorBody;
use crate::public_url;

/// `GET /`
pub(crate) async fn serve(State(app): State<Arc<App>>, request: Request) -> Response {
    let (parts, _) = request.into_parts();
    let origin = public_url::origin(&app, &parts);
    Json(json!({
        "name": "ostraca",
        "title": "Ostraca memory",
        "version": app.version,
        "links": {
            "mcp": format!("{origin}/mcp"),
            "mcp_readonly": format!("{origin}/mcp/readonly"),
            "rest": format!("{origin}/v1"),
            "openapi": format!("{origin}/v1/openapi.json"),
            "health": format!("{origin}/v1/health"),
        },
        "connect": format!("claude mcp add --transport http memory {origin}/mcp"),
    }))
    .into_response()
}

/// Any path that does not exist.
pub(crate) async fn not_found() -> Response {
    (
        StatusCode::NOT_FOUND,
        Json(ErrorBody::new(
            "not_found",
            "there is nothing at this path; GET / lists what there is",
        )),
    )
        .into_response()
}
