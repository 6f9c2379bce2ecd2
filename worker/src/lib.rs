//! Ostraca on Cloudflare Workers: the router of `service` behind `fetch` and the compaction
//! job behind `scheduled`, on an R2 bucket or any S3 endpoint. Everything that only this platform has is in this crate, and
//! nothing else is.

mod background;
#[cfg(feature = "contract")]
mod contract;
mod fetch;
mod log;
mod ports;
mod r2;
mod s3;
mod settings;

use std::cell::OnceCell;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use http::StatusCode;
use object_store::ObjectStore;
use ostraca_memory::embed::{Embedder, OpenAiEmbedder};
use ostraca_memory::{Database, Effort, Ports, Settings, Unwatched};
use ostraca_object::decorator::retry::{RetryPolicy, RetryStore};
use ostraca_object::log::Grouping;
use ostraca_object::port::{Clock, Ids};
use ostraca_service::App;
use ostraca_service::environment::{Environment, EnvironmentError};
use tower_service::Service as _;
use worker::{Context, Env, HttpRequest, ScheduleContext, ScheduledEvent, event};

use crate::background::{InContext, WaitUntil};
use crate::fetch::WorkerFetch;
use crate::ports::{CryptoIds, WorkerClock};
use crate::r2::R2Store;

/// The bucket's name in wrangler.toml.
const BUCKET: &str = "BUCKET";
/// Requests in flight at once; the platform queues the seventh.
const IN_FLIGHT: usize = 6;
/// Bytes of rows that may be copied at once, of the 128 MB that an isolate has.
const COPY_BYTES: u64 = 16 << 20;

/// How long a scheduled run begins further collections. The runtime ends it after minutes;
/// what is left is due the next time.
const BUDGET: Duration = Duration::from_secs(45);

thread_local! {
    // What one request has read, the next one of this isolate need not read again.
    static SERVICE: OnceCell<Service> = const { OnceCell::new() };
}

/// What an isolate runs.
#[derive(Debug, Clone)]
struct Service {
    router: Router,
    database: Arc<Database>,
}

/// Why the Worker cannot start with these settings.
#[derive(Debug, thiserror::Error)]
enum StartError {
    #[error(transparent)]
    Settings(#[from] EnvironmentError),
    #[error(
        "no R2 bucket is bound as {BUCKET}: add [[r2_buckets]] to wrangler.toml or set OSTRACA_STORE"
    )]
    NoBucket,
    #[error("the store cannot be opened: {0}")]
    Store(#[from] object_store::Error),
}

/// Runs once for each isolate, before its first request.
#[event(start)]
fn start() {
    log::start();
}

/// Answers one request.
#[event(fetch)]
async fn fetch(
    request: HttpRequest,
    env: Env,
    context: Context,
) -> worker::Result<http::Response<Body>> {
    #[cfg(feature = "contract")]
    if let Some(answer) = contract::answer(&request, &env).await {
        return answer;
    }
    match service(&env) {
        Ok(mut service) => {
            let answer = service.router.call(request);
            Ok(InContext::new(Rc::new(context), answer).await?)
        }
        Err(error) => {
            tracing::error!(%error, "the Worker is not set up");
            let body = serde_json::json!({
                "error": { "code": "misconfigured", "message": error.to_string() }
            });
            Ok(http::Response::builder()
                .status(StatusCode::INTERNAL_SERVER_ERROR)
                .header(http::header::CONTENT_TYPE, "application/json")
                .body(Body::from(body.to_string()))?)
        }
    }
}

/// Runs the compaction job, for each cron trigger of wrangler.toml.
#[event(scheduled)]
async fn scheduled(_event: ScheduledEvent, env: Env, _context: ScheduleContext) {
    let database = match service(&env) {
        Ok(service) => service.database,
        Err(error) => {
            tracing::error!(%error, "the Worker is not set up");
            return;
        }
    };
    match database
        .run_due(Effort::SMALL, Some(BUDGET), &Unwatched)
        .await
    {
        Ok(report) => tracing::info!(
            collections = report.collections.len(),
            failed = report.failed(),
            postponed = report.postponed,
            memory_bytes = memory_bytes(),
            "the compaction job is done"
        ),
        Err(error) => tracing::error!(%error, "the compaction job could not begin"),
    }
}

/// The most memory that this isolate's module has had: it never gives any back.
fn memory_bytes() -> u64 {
    const PAGE_BYTES: u64 = 64 << 10;
    core::arch::wasm32::memory_size::<0>() as u64 * PAGE_BYTES
}

/// The service of this isolate, made for its first event.
fn service(env: &Env) -> Result<Service, StartError> {
    if let Some(service) = SERVICE.with(|cell| cell.get().cloned()) {
        return Ok(service);
    }
    let app = app(env)?;
    let service = Service {
        database: Arc::clone(&app.database),
        router: ostraca_service::router(app),
    };
    Ok(SERVICE.with(|cell| cell.get_or_init(|| service).clone()))
}

fn app(env: &Env) -> Result<App, StartError> {
    let lookup = |name: &str| settings::variable(env, name);
    let environment = Environment::new(&lookup);
    let auth = environment.auth()?;
    let clock: Arc<dyn Clock> = Arc::new(WorkerClock);
    let mut settings = Settings {
        // An isolate serves many requests at once, and none may wait for I/O of another.
        grouping: Grouping::Alone,
        in_flight: IN_FLIGHT,
        copy_bytes: COPY_BYTES,
        ..Settings::default()
    };
    if let Some(horizon) = environment.horizon()? {
        settings.horizon = horizon;
    }
    let embedder = environment.embedder()?.map(|endpoint| {
        settings.limits.embedding_wait = endpoint.timeout;
        let fetch = Arc::new(WorkerFetch);
        Arc::new(OpenAiEmbedder::new(endpoint, fetch, Arc::clone(&clock))) as Arc<dyn Embedder>
    });
    let ids: Arc<dyn Ids> = Arc::new(CryptoIds);
    let objects = RetryStore::new(
        store(env, &environment)?,
        Arc::clone(&clock),
        Arc::clone(&ids),
        RetryPolicy::default(),
    );
    let ports = Ports {
        store: Arc::new(objects),
        clock,
        ids,
        embedder,
        background: Some(Arc::new(WaitUntil)),
    };
    let database = Database::new(ports, settings);
    Ok(App::public(database, auth, environment.public_url()))
}

/// The store alone, as the contract wants it: nothing tried again.
#[cfg(feature = "contract")]
fn objects(env: &Env) -> Result<Arc<dyn ObjectStore>, StartError> {
    let lookup = |name: &str| settings::variable(env, name);
    store(env, &Environment::new(&lookup))
}

fn store(env: &Env, environment: &Environment<'_>) -> Result<Arc<dyn ObjectStore>, StartError> {
    if let Some(settings) = environment.s3()? {
        return Ok(s3::open(settings)?);
    }
    let bucket = env.bucket(BUCKET).map_err(|_| StartError::NoBucket)?;
    Ok(Arc::new(R2Store::new(bucket)))
}
