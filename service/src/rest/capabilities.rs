//! `GET /v1/capabilities`: what this server can do and where its limits lie, so that
//! a client can ask before it tries.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use http::StatusCode;
use schemars::JsonSchema;
use serde::Serialize;

use super::answer;
use super::route::Route;
use crate::app::{App, AuthMode};
use crate::wire::recall::Mode;

/// What this server can do.
#[derive(Debug, Serialize, JsonSchema)]
struct CapabilitiesReply {
    /// The modes that `recall` has here.
    modes: Vec<Mode>,
    /// How callers are told apart: `none` or `keys`.
    auth: &'static str,
    /// The paths of the MCP endpoints.
    mcp: [&'static str; 2],
    /// What a request may not pass.
    limits: LimitsReply,
}

/// What a request may not pass.
#[derive(Debug, Serialize, JsonSchema)]
struct LimitsReply {
    /// Bytes of a request body.
    body_bytes: usize,
    /// Bytes of the content of one memory.
    content_bytes: usize,
    /// Bytes of the metadata of one memory.
    metadata_bytes: usize,
    /// Bytes of a query.
    query_bytes: usize,
    /// Memories in one call.
    items: usize,
    /// Hits of one recall.
    recall_hits: u32,
    /// Memories on one page.
    page: u32,
    /// Seconds that a watch waits at most.
    watch_wait_seconds: u64,
}

pub(super) fn route() -> Route {
    Route::get("/v1/capabilities", "capabilities", capabilities)
        .summary("What this server can do, and its limits")
        .answers::<CapabilitiesReply>(StatusCode::OK, "Modes, authentication, limits.")
}

async fn capabilities(State(app): State<Arc<App>>) -> Response {
    let limits = app.database.limits();
    let modes = if app.database.embedding_model().is_some() {
        vec![Mode::Hybrid, Mode::Keyword, Mode::Semantic]
    } else {
        vec![Mode::Keyword]
    };
    answer::ok(&CapabilitiesReply {
        modes,
        auth: match app.auth {
            AuthMode::Open { .. } => "none",
            AuthMode::Keys => "keys",
        },
        mcp: ["/mcp", "/mcp/readonly"],
        limits: LimitsReply {
            body_bytes: app.settings.max_body_bytes,
            content_bytes: limits.content_bytes,
            metadata_bytes: limits.metadata_bytes,
            query_bytes: limits.query_bytes,
            items: limits.items,
            recall_hits: limits.recall_hits,
            page: limits.page,
            watch_wait_seconds: limits.watch_wait.as_secs(),
        },
    })
}
