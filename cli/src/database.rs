//! From flags and environment to an open database: the store, the ports of a native
//! process and the embedder. It is the only place of this edge where parts are put
//! together.

use std::sync::Arc;

use object_store::ObjectStore;
use ostraca_memory::embed::{Embedder, EmbedderSettings, OpenAiEmbedder, ReqwestClient};
use ostraca_memory::{Clock, Database, Ids, Ports, Settings};
use ostraca_object::local;
use ostraca_object::port::native::{OsIds, SystemClock};
use ostraca_object::s3::{self, Transport};

use crate::args::{Endpoint, StoreArgs};
use crate::background::Tasks;
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
/// Commands that neither write nor recall need no embedding endpoint and pass `None`.
/// A folder is created; a bucket is not asked anything yet.
pub(crate) fn open(store: &StoreArgs, embed: Option<Endpoint<'_>>) -> Result<Opened, CliError> {
    let location = location(store)?;
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    let ids: Arc<dyn Ids> = Arc::new(OsIds);
    let objects = objects(&location, &clock, &ids)?;
    let embedder = embed
        .map(|endpoint| embedder(endpoint, &clock))
        .transpose()?;
    let ports = Ports {
        store: Arc::clone(&objects),
        clock,
        ids,
        embedder: embedder.clone(),
        background: Some(Arc::new(Tasks)),
    };
    let mut settings = Settings {
        horizon: store.horizon,
        ..Settings::default()
    };
    if let Some(endpoint) = embed {
        // The flag says how long a request waits, so the domain must not stop before.
        settings.limits.embedding_wait = endpoint.timeout;
    }
    Ok(Opened {
        database: Database::new(ports, settings),
        location,
        objects,
        embedder,
    })
}

/// Where the store lies; a folder as an absolute path, so that what is shown of it means
/// the same everywhere.
fn location(store: &StoreArgs) -> Result<StoreLocation, CliError> {
    let platform = Platform::current();
    let location = match &store.store {
        Some(given) => {
            let home = environment::home(platform, &environment::process);
            StoreLocation::parse(given, platform, home.as_deref())?
        }
        None => environment::default_folder(platform, &environment::process)
            .map(StoreLocation::Folder)
            .ok_or(CliError::NoDataFolder)?,
    };
    Ok(match location {
        StoreLocation::Folder(path) => StoreLocation::Folder(std::path::absolute(path)?),
        bucket @ StoreLocation::S3 { .. } => bucket,
    })
}

/// The objects at a location.
fn objects(
    location: &StoreLocation,
    clock: &Arc<dyn Clock>,
    ids: &Arc<dyn Ids>,
) -> Result<Arc<dyn ObjectStore>, CliError> {
    match location {
        StoreLocation::Folder(path) => Ok(local::open(path)?),
        StoreLocation::S3 { .. } => {
            let read = environment::s3(&environment::process, &location.to_string())?;
            let settings = s3::S3Settings {
                bucket: read.bucket,
                prefix: read.prefix,
                endpoint: read.endpoint,
                region: read.region,
                access_key_id: Some(read.access_key_id),
                secret_access_key: Some(read.secret_access_key),
                session_token: read.session_token,
                transport: if read.allow_http {
                    Transport::PlainAllowed
                } else {
                    Transport::Tls
                },
                ..s3::S3Settings::default()
            };
            Ok(s3::open(&settings, Arc::clone(clock), Arc::clone(ids))?)
        }
    }
}

fn embedder(endpoint: Endpoint<'_>, clock: &Arc<dyn Clock>) -> Result<Arc<dyn Embedder>, CliError> {
    let mut settings = EmbedderSettings::new(endpoint.url.as_str(), endpoint.model);
    settings.dimensions = endpoint.dimensions;
    settings.timeout = endpoint.timeout;
    settings.api_key = environment::embed_api_key(&environment::process)?;
    let http = Arc::new(ReqwestClient::new());
    Ok(Arc::new(OpenAiEmbedder::new(
        settings,
        http,
        Arc::clone(clock),
    )))
}
