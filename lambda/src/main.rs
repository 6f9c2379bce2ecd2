//! Ostraca on AWS Lambda: the router of `service` behind function URLs and HTTP APIs
//! (payload format 2.0), on an S3 bucket. It is the only code that knows Lambda; one
//! environment answers one request at a time and keeps what it has read for the next.

mod log;

use std::sync::Arc;

use ostraca_memory::embed::{Embedder, OpenAiEmbedder, ReqwestClient};
use ostraca_memory::{Database, Ports, Settings};
use ostraca_object::port::native::{OsIds, SystemClock};
use ostraca_object::port::{Clock, Ids};
use ostraca_object::s3::{self, S3Error, S3Settings, Transport};
use ostraca_service::App;
use ostraca_service::environment::{Environment, EnvironmentError};

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
    let router = ostraca_service::router(app(&Environment::new(&variable))?);
    lambda_http::run(router).await
}

fn app(environment: &Environment<'_>) -> Result<App, StartError> {
    let auth = environment.auth()?;
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    let mut settings = Settings::default();
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
