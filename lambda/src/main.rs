//! Ostraca on AWS Lambda: the router of `service` behind function URLs and HTTP APIs
//! (payload format 2.0), and the compaction job for events of a schedule, on an S3 bucket.
//! It is the only code that knows Lambda; one environment answers one event at a time and
//! keeps what it has read for the next.

mod after;
mod handler;
mod log;

use std::sync::Arc;

use lambda_http::Adapter;
use lambda_http::lambda_runtime::Runtime;
use ostraca_memory::embed::{Embedder, OpenAiEmbedder, ReqwestClient};
use ostraca_memory::{Database, Ports, Settings};
use ostraca_object::port::native::{OsIds, SystemClock};
use ostraca_object::port::{Clock, Ids};
use ostraca_object::s3::{self, S3Error, S3Settings, Transport};
use ostraca_service::App;
use ostraca_service::environment::{Environment, EnvironmentError};

use crate::after::AfterAnswer;
use crate::handler::Handler;

/// Why the function cannot start with these variables.
#[derive(Debug, thiserror::Error)]
enum StartError {
    #[error(transparent)]
    Environment(#[from] EnvironmentError),
    #[error(
        "the variable OSTRACA_STORE is not set; it has to be `s3://bucket` or `s3://bucket/prefix`"
    )]
    NoStore,
    #[error(transparent)]
    Store(#[from] S3Error),
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), lambda_http::Error> {
    log::start();
    let after = AfterAnswer::default();
    let app = app(&Environment::new(&variable), &after)?;
    let database = Arc::clone(&app.database);
    let http = Adapter::from(ostraca_service::router(app));
    let handler = Handler::new(http, database);
    Runtime::new(handler).layer(after).run().await
}

fn app(environment: &Environment<'_>, after: &AfterAnswer) -> Result<App, StartError> {
    let auth = environment.auth()?;
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    let mut settings = Settings::default();
    if let Some(horizon) = environment.horizon()? {
        settings.horizon = horizon;
    }
    let embedder = environment.embedder()?.map(|endpoint| {
        settings.limits.embedding_wait = endpoint.timeout;
        let http = Arc::new(ReqwestClient::new());
        Arc::new(OpenAiEmbedder::new(endpoint, http, Arc::clone(&clock))) as Arc<dyn Embedder>
    });
    let ids: Arc<dyn Ids> = Arc::new(OsIds);
    let bucket = environment.s3()?.ok_or(StartError::NoStore)?;
    let bucket = S3Settings {
        bucket: bucket.bucket,
        prefix: bucket.prefix,
        endpoint: bucket.endpoint,
        region: bucket.region,
        access_key_id: Some(bucket.access_key_id),
        secret_access_key: Some(bucket.secret_access_key),
        session_token: bucket.session_token,
        transport: if bucket.allow_http {
            Transport::PlainAllowed
        } else {
            Transport::Tls
        },
        ..S3Settings::default()
    };
    let ports = Ports {
        store: s3::open(&bucket, Arc::clone(&clock), Arc::clone(&ids))?,
        clock,
        ids,
        embedder,
        background: Some(Arc::new(after.clone())),
    };
    let database = Database::new(ports, settings);
    Ok(App::public(database, auth, environment.public_url()))
}

#[expect(
    clippy::disallowed_methods,
    reason = "this is the edge that reads the environment"
)]
fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}
