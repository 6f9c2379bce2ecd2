//! The service: one axum router with MCP, REST and what surrounds them. It holds no
//! platform code; the Worker, the Lambda and the local binary each hand it requests
//! and an [`App`].

mod app;
mod auth;
mod body_limit;
mod cors;
pub mod environment;
mod error;
mod exact_numbers;
mod exposure;
mod index;
pub mod mcp;
mod openapi;
mod public_url;
mod rest;
pub mod wire;

use std::sync::Arc;

use axum::routing::{any, get};
use axum::{Router, middleware};

pub use app::{App, AuthMode, ServiceSettings};
pub use error::{ErrorBody, ErrorDetail};
pub use exposure::Exposure;

/// The router of a service.
pub fn router(app: App) -> Router {
    let app = Arc::new(app);
    let rest = rest::router().layer(middleware::from_fn_with_state(
        Arc::clone(&app),
        exposure::guard,
    ));
    Router::new()
        .route("/", get(index::serve))
        .route("/.well-known/{*path}", any(auth::metadata::serve))
        .merge(rest)
        .with_state(Arc::clone(&app))
        .merge(mcp::routes(&app))
        .fallback(index::not_found)
        .layer(middleware::from_fn(cors::allow))
}
