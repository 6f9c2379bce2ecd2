//! The HTTP side: every path and method becomes an invocation, except the paths with which a
//! test kills a process, reads start times, and hands the function an event of its own.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use axum::body::{Body, to_bytes};
use axum::extract::{Query, Request, State};
use axum::http::{Response, StatusCode};
use axum::routing::{get, post};
use axum::{Json, Router};
use serde_json::{Value, json};
use tokio::sync::oneshot;

use crate::answer;
use crate::environment::{Environment, Function};
use crate::event::event;
use crate::invocation::{Invocation, Outcome, Queue};

/// What an event may be, body and envelope together.
const LARGEST_EVENT_BYTES: usize = 6 * 1024 * 1024;
/// Longer than any function may run: so much for one that waits for a free environment.
const PATIENCE: Duration = Duration::from_mins(2);

static SERIAL: AtomicU64 = AtomicU64::new(1);

/// Requests for one environment.
pub(crate) fn of_one(environment: &Arc<Environment>) -> Router {
    let function = Arc::clone(&environment.function);
    let queue = environment.own.clone();
    Router::new()
        .fallback(invoke)
        .with_state(Entry { function, queue })
}

/// Requests for whichever environment is free, and the test's own paths.
pub(crate) fn of_all(function: Arc<Function>, queue: Queue, all: Vec<Arc<Environment>>) -> Router {
    Router::new()
        .route("/__kill", post(kill))
        .route("/__stats", get(stats))
        .with_state(all)
        .merge(
            Router::new()
                .route("/__invoke", post(hand))
                .with_state(queue.clone()),
        )
        .fallback_service(
            Router::new()
                .fallback(invoke)
                .with_state(Entry { function, queue }),
        )
}

#[derive(Clone)]
struct Entry {
    function: Arc<Function>,
    queue: Queue,
}

fn new_id() -> String {
    format!(
        "00000000-0000-4000-8000-{:012x}",
        SERIAL.fetch_add(1, Ordering::Relaxed)
    )
}

async fn outcome(queue: &Queue, id: String, event: Value) -> Outcome {
    let (sender, receiver) = oneshot::channel();
    queue.put(Invocation {
        id,
        event,
        outcome: sender,
    });
    match tokio::time::timeout(PATIENCE, receiver).await {
        Ok(Ok(outcome)) => outcome,
        Ok(Err(_)) => Outcome::Failed,
        Err(_) => Outcome::TimedOut,
    }
}

/// An event as it is, such as a schedule sends one; the answer as the function gave it.
async fn hand(State(queue): State<Queue>, Json(event): Json<Value>) -> (StatusCode, Json<Value>) {
    match outcome(&queue, new_id(), event).await {
        Outcome::Answer(answer) => (StatusCode::OK, Json(answer)),
        other => (
            StatusCode::BAD_GATEWAY,
            Json(json!({ "outcome": format!("{other:?}") })),
        ),
    }
}

async fn invoke(State(entry): State<Entry>, request: Request) -> Response<Body> {
    let front = entry.function.front;
    let (parts, body) = request.into_parts();
    let Ok(body) = to_bytes(body, LARGEST_EVENT_BYTES).await else {
        return answer::request_too_large();
    };
    let id = new_id();
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    let now_ms = u64::try_from(now.as_millis()).unwrap_or(u64::MAX);
    let event = event(front, &id, &parts, &body, now_ms);
    if event.to_string().len() > LARGEST_EVENT_BYTES {
        return answer::request_too_large();
    }
    answer::response(front, outcome(&entry.queue, id, event).await)
}

#[derive(serde::Deserialize)]
struct Which {
    instance: usize,
}

async fn kill(
    State(all): State<Vec<Arc<Environment>>>,
    Query(which): Query<Which>,
) -> (StatusCode, Json<Value>) {
    match all.get(which.instance) {
        Some(environment) => {
            environment.kill();
            (StatusCode::OK, Json(json!({ "killed": which.instance })))
        }
        None => (
            StatusCode::NOT_FOUND,
            Json(json!({ "instances": all.len() })),
        ),
    }
}

async fn stats(State(all): State<Vec<Arc<Environment>>>) -> Json<Value> {
    Json(
        json!({ "instances": all.iter().map(|environment| environment.stats()).collect::<Vec<_>>() }),
    )
}
