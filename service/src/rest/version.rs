//! `GET /v1/version`: which software answers.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use http::StatusCode;
use schemars::JsonSchema;
use serde::Serialize;

use super::answer;
use super::route::Route;
use crate::app::App;

/// Which software answers.
#[derive(Debug, Serialize, JsonSchema)]
struct VersionReply {
    /// Its name.
    name: &'static str,
    /// Its version.
    version: String,
    /// The version of this API.
    api: &'static str,
}

pub(super) fn route() -> Route {
    Route::get("/v1/version", "version", version)
        .summary("Which software answers")
        .answers::<VersionReply>(StatusCode::OK, "Its name and version.")
}

async fn version(State(app): State<Arc<App>>) -> Response {
    answer::ok(&VersionReply {
        name: "ostraca",
        version: app.version.clone(),
        api: "v1",
    })
}
