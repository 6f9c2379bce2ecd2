//! MCP: one stateless server for the revision 2026-07-28 and for the handshake
//! revisions before it, over HTTP and over lines. Its folders are what the protocol
//! names: tools, resources, prompts; `dispatch` is the seam to the transports.

mod bounded;
#[cfg(feature = "conformance")]
mod conformance;
mod dispatch;
mod endpoint;
mod envelope;
mod era;
mod instructions;
mod peer;
mod prompts;
mod request;
mod resources;
mod selection;
mod server;
mod standard_headers;
pub mod stdio;
mod tools;

use std::sync::Arc;

use axum::Router;
use axum::extract::Request;
use axum::routing::any;

use crate::app::App;
use crate::mcp::selection::Reachable;
use crate::mcp::server::MemoryServer;

/// The MCP endpoints. They guard themselves, so that the order of refusals is theirs.
pub(crate) fn routes(app: &Arc<App>) -> Router {
    let server = Arc::new(MemoryServer::new(&app.version));
    let endpoint = |reachable: Reachable| {
        let (app, server) = (Arc::clone(app), Arc::clone(&server));
        any(move |request: Request| async move {
            endpoint::serve(&app, &server, reachable, request).await
        })
    };
    Router::new()
        .route("/mcp", endpoint(Reachable::Everything))
        .route("/mcp/", endpoint(Reachable::Everything))
        .route("/mcp/readonly", endpoint(Reachable::Reads))
        .route("/mcp/readonly/", endpoint(Reachable::Reads))
}
