//! From flags and environment to an open database: the store, the ports of a native
//! process and the embedder. It is the only place of this edge where parts are put
//! together.

use std::path::Path;
use std::sync::Arc;

use object_store::aws::AmazonS3Builder;
use object_store::prefix::PrefixStore;
use object_store::{ObjectStore, RetryConfig};
use ostraca_memory::embed::{Embedder, EmbedderSettings, OpenAiEmbedder, ReqwestClient};
use ostraca_memory::{Database, Ports, Settings};
use ostraca_object::port::Clock;
use ostraca_object::port::native::{OsIds, SystemClock};
use ostraca_service::environment::S3Settings;

use crate::args::{EmbedArgs, StoreArgs};
use crate::environment::{self, Platform};
use crate::error::CliError;
use crate::location::StoreLocation;

/// A database and where it lies.
#[derive(Debug)]
pub(crate) struct Opened {
    /// The database.
    pub(crate) database: Arc<Database>,
    /// Its store.
    pub(crate) location: StoreLocation,
    /// The objects in it, for those that check the store itself.
    pub(crate) objects: Arc<dyn ObjectStore>,
    /// The embedder that it uses, for those that check it.
    pub(crate) embedder: Option<Arc<dyn Embedder>>,
}

/// Opens the database that flags and environment describe.
///
/// Commands that neither write nor recall need no embedder and pass `None`.
/// A folder is created; a bucket is not asked anything yet.
pub(crate) async fn open(store: &StoreArgs, embed: Option<&EmbedArgs>) -> Result<Opened, CliError> {
    let location = location(store)?;
    let objects = objects(&location).await?;
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    let embedder = match embed {
        Some(embed) => embedder(embed, &clock)?,
        None => None,
    };
    let ports = Ports { store: Arc::clone(&objects), clock, ids: Arc::new(OsIds), embedder: embedder.clone() };
    Ok(Opened { database: Database::new(ports, Settings::default()), location, objects, embedder })
}

/// Where the store lies.
pub(crate) fn location(store: &StoreArgs) -> Result<StoreLocation, CliError> {
    let platform = Platform::current();
    match &store.store {
        Some(given) => {
            let home = environment::home(platform, &environment::process);
            Ok(StoreLocation::parse(given, platform, home.as_deref())?)
        }
        None => environment::default_folder(platform, &environment::process)
            .map(StoreLocation::Folder)
            .ok_or(CliError::NoDataFolder),
    }
}

/// The objects at a location.
pub(crate) async fn objects(location: &StoreLocation) -> Result<Arc<dyn ObjectStore>, CliError> {
    let failed = |source: Box<dyn std::error::Error + Send + Sync>| CliError::Store {
        location: location.to_string(),
        source,
    };
    match location {
        StoreLocation::Folder(path) => folder(path).await.map_err(failed),
        StoreLocation::S3 { .. } => {
            let settings = environment::s3(&environment::process, &location.to_string())?;
            s3(settings).map_err(|source| failed(Box::new(source)))
        }
    }
}

async fn folder(path: &Path) -> Result<Arc<dyn ObjectStore>, Box<dyn std::error::Error + Send + Sync>> {
    tokio::fs::create_dir_all(path).await?;
    let path = tokio::fs::canonicalize(path).await?;
    Ok(Arc::new(object_store::local::LocalFileSystem::new_with_prefix(&path)?))
}

fn s3(settings: S3Settings) -> object_store::Result<Arc<dyn ObjectStore>> {
    let mut builder = AmazonS3Builder::new()
        .with_bucket_name(settings.bucket)
        .with_region(settings.region)
        .with_access_key_id(settings.access_key_id)
        .with_secret_access_key(settings.secret_access_key)
        .with_allow_http(settings.allow_http)
        // It would repeat conditional writes; what may be repeated, the layer above repeats.
        .with_retry(RetryConfig { max_retries: 0, ..RetryConfig::default() });
    if let Some(endpoint) = settings.endpoint {
        builder = builder.with_endpoint(endpoint);
    }
    if let Some(token) = settings.session_token {
        builder = builder.with_token(token);
    }
    let bucket = builder.build()?;
    Ok(if settings.prefix.is_empty() {
        Arc::new(bucket)
    } else {
        Arc::new(PrefixStore::new(bucket, settings.prefix))
    })
}

fn embedder(args: &EmbedArgs, clock: &Arc<dyn Clock>) -> Result<Option<Arc<dyn Embedder>>, CliError> {
    let (Some(url), Some(model)) = (&args.embed_url, &args.embed_model) else {
        return Ok(None);
    };
    let mut settings = EmbedderSettings::new(url.as_str(), model);
    settings.dimensions = args.embed_dimensions;
    settings.timeout = args.embed_timeout;
    settings.api_key = environment::embed_api_key(&environment::process)?;
    let http = Arc::new(ReqwestClient::new());
    Ok(Some(Arc::new(OpenAiEmbedder::new(settings, http, Arc::clone(clock)))))
}
