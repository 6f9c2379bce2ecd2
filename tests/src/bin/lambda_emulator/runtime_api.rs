//! The Runtime API (2018-06-01) that a function's process talks to: it asks for the next event
//! and posts what came of it. Each environment has its own, so an answer needs no name.

use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use axum::body::{Body, Bytes};
use axum::extract::{DefaultBodyLimit, Path, State};
use axum::http::{Response, StatusCode};
use axum::response::IntoResponse;
use axum::routing::{get, post};
use axum::{Json, Router};
use serde_json::{Value, json};

use crate::environment::Environment;
use crate::invocation::Outcome;

/// What a synchronous invocation may return: 6 MB and a little for the envelope.
const LARGEST_ANSWER_BYTES: usize = 6_291_556;

/// The API of one environment.
pub(crate) fn router(environment: Arc<Environment>) -> Router {
    Router::new()
        .route("/2018-06-01/runtime/invocation/next", get(next))
        .route(
            "/2018-06-01/runtime/invocation/{id}/response",
            post(response),
        )
        .route("/2018-06-01/runtime/invocation/{id}/error", post(error))
        .route("/2018-06-01/runtime/init/error", post(init_error))
        .layer(DefaultBodyLimit::max(4 * LARGEST_ANSWER_BYTES))
        .with_state(environment)
}

type TheEnvironment = State<Arc<Environment>>;

async fn next(State(environment): TheEnvironment) -> impl IntoResponse {
    let (id, event) = environment.next().await;
    let deadline = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default()
        .saturating_add(environment.function.timeout);
    let timer = Arc::clone(&environment);
    let expiring = id.clone();
    tokio::spawn(async move {
        tokio::time::sleep(timer.function.timeout).await;
        timer.expire(&expiring);
    });
    Response::builder()
        .header("content-type", "application/json")
        .header("lambda-runtime-aws-request-id", id)
        .header(
            "lambda-runtime-deadline-ms",
            deadline.as_millis().to_string(),
        )
        .header(
            "lambda-runtime-invoked-function-arn",
            "arn:aws:lambda:us-east-1:123456789012:function:ostraca",
        )
        .header(
            "lambda-runtime-trace-id",
            "Root=1-00000000-000000000000000000000000;Sampled=0",
        )
        .body(Body::from(event.to_string()))
        .unwrap_or_default()
}

async fn response(
    State(environment): TheEnvironment,
    Path(id): Path<String>,
    body: Bytes,
) -> impl IntoResponse {
    if body.len() > LARGEST_ANSWER_BYTES {
        environment.answer(&id, Outcome::TooLarge);
        return (
            StatusCode::PAYLOAD_TOO_LARGE,
            Json(json!({ "errorType": "RequestEntityTooLarge" })),
        );
    }
    let outcome = serde_json::from_slice::<Value>(&body).map_or(Outcome::Failed, Outcome::Answer);
    accepted(environment.answer(&id, outcome))
}

async fn error(State(environment): TheEnvironment, Path(id): Path<String>) -> impl IntoResponse {
    accepted(environment.answer(&id, Outcome::Failed))
}

async fn init_error() -> impl IntoResponse {
    // The process ends by itself after this, and is reported then.
    accepted(true)
}

fn accepted(known: bool) -> (StatusCode, Json<Value>) {
    if known {
        (StatusCode::ACCEPTED, Json(json!({ "status": "OK" })))
    } else {
        (
            StatusCode::BAD_REQUEST,
            Json(
                json!({ "errorType": "InvalidRequestID", "errorMessage": "not the current invocation" }),
            ),
        )
    }
}
