//! One process that commits, as often as it can, until its time is over.

use std::sync::Arc;

use ostraca_object::io::Io;
use ostraca_object::key::{CollectionId, CollectionKey, InvalidName};
use ostraca_object::log::{Freshness, Log, LogSettings};
use ostraca_object::port::native::{OsIds, SystemClock};
use ostraca_object::port::{Clock, CommitId, Ids, Timestamp, WriterId};
use ostraca_object::probe;
use ostraca_object::s3::{self, S3Error, S3Settings, Transport};
use ostraca_object::store::Store;
use serde_json::{Value, json};

use crate::tally::{Tally, add_one};

type Failure = Box<dyn std::error::Error>;

/// How far the log has come.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Total {
    pub(crate) total: u64,
    pub(crate) entries: u64,
}

pub(crate) fn now() -> Timestamp {
    SystemClock.now()
}

fn store(endpoint: &str) -> Result<Arc<Store>, S3Error> {
    let settings = S3Settings {
        bucket: "contend".to_owned(),
        endpoint: Some(endpoint.to_owned()),
        region: "us-east-1".to_owned(),
        access_key_id: Some("test".to_owned()),
        secret_access_key: Some("test".to_owned()),
        transport: Transport::PlainAllowed,
        ..S3Settings::default()
    };
    let objects = s3::open(&settings, Arc::new(SystemClock), Arc::new(OsIds))?;
    Ok(Arc::new(Store::new(
        objects,
        Arc::new(SystemClock),
        Arc::new(OsIds),
    )))
}

fn log() -> Result<Log<Tally>, InvalidName> {
    let collection = CollectionKey::new("bench".parse()?, CollectionId::memory());
    Ok(Log::new(
        collection,
        WriterId(OsIds.random()),
        LogSettings::default(),
    ))
}

/// Reads the log from the start.
pub(crate) async fn total(endpoint: &str) -> Result<Total, Failure> {
    let store = store(endpoint)?;
    probe::prove_create_only(&Io::new(&store)).await?;
    let log = log()?;
    log.refresh(&Io::new(&store), Freshness::Strong).await?;
    Ok(log.read(|tally, seq| Total {
        total: tally.total,
        entries: seq.0,
    }))
}

/// Commits from a moment on for so many seconds.
pub(crate) async fn run(endpoint: &str, from: i64, seconds: u64) -> Result<Value, Failure> {
    let store = store(endpoint)?;
    let log = log()?;
    // Connections are open and the log is read before the race begins.
    log.refresh(&Io::new(&store), Freshness::Strong).await?;
    let from = Timestamp(from);
    let wait = from.millis_since(now());
    SystemClock
        .sleep(std::time::Duration::from_millis(wait))
        .await;
    let end = from.plus_millis(seconds * 1_000);
    let mut took = Vec::new();
    let mut failed = 0_u64;
    loop {
        let began = now();
        if began >= end {
            break;
        }
        let id = CommitId(OsIds.random());
        match log.commit(&Io::new(&store), id, add_one).await {
            Ok(_) => took.push(now().millis_since(began)),
            Err(_) => failed += 1,
        }
    }
    Ok(json!({ "took_ms": took, "failed": failed }))
}
