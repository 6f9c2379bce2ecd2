//! Retrieval quality through the whole product: data sets are imported or remembered
//! into a local folder, and asked by recall as any client asks. It lies outside the
//! tests because the data sets are not in the repository.
//!
//! `OSTRACA_LOCOMO` names locomo10.json, `OSTRACA_SCIFACT` a folder in BEIR layout with
//! MiniLM vectors; `OSTRACA_EMBED_URL` and `OSTRACA_EMBED_MODEL` the endpoint that embeds
//! LoCoMo (`tests/servers/start minilm` is one). What is unset is skipped and said so.
//! Each set is asked twice: of the log, and of the segment that it is then folded into.
//! Prints one JSON object, and fails if a floor is missed.

#![allow(
    unreachable_pub,
    clippy::indexing_slicing,
    clippy::large_futures,
    clippy::doc_markdown,
    reason = "a benchmark that fails may panic; its modules share helpers"
)]

mod locomo;
mod measures;
mod npy;
mod scifact;

use std::error::Error;
use std::io::Write as _;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use ostraca_memory::embed::{Embedder, EmbedderSettings, OpenAiEmbedder, ReqwestClient};
use ostraca_memory::{
    Caller, Clock, CollectionId, CollectionKey, Database, Effort, Mode, Ports, Session, Settings,
};
use ostraca_object::port::native::{OsIds, SystemClock};
use serde_json::{Map, Value as Json, json};

/// How long a question waits for its vector.
const EMBED_TIMEOUT: Duration = Duration::from_mins(1);

type Outcome<T> = Result<T, Box<dyn Error>>;

/// The modes by their names in the report; keyword needs no embedder.
const MODES: [(&str, Mode); 3] = [
    ("keyword", Mode::Keyword),
    ("semantic", Mode::Semantic),
    ("hybrid", Mode::Hybrid),
];

/// Floors: plain BM25 at turn level on LoCoMo and on SciFact, as other implementations
/// reach it; and what hybrid has to reach. Each holds before and after folding.
const FLOORS: [(&str, f64); 8] = [
    ("/locomo/log/all/keyword/any@10", 0.70),
    ("/locomo/log/all/keyword/mrr", 0.48),
    ("/locomo/folded/all/keyword/any@10", 0.70),
    ("/locomo/folded/all/keyword/mrr", 0.48),
    ("/scifact/log/keyword/ndcg@10", 0.67),
    ("/scifact/log/hybrid/ndcg@10", 0.72),
    ("/scifact/folded/keyword/ndcg@10", 0.67),
    ("/scifact/folded/hybrid/ndcg@10", 0.72),
];

#[tokio::main(flavor = "current_thread")]
async fn main() -> Outcome<ExitCode> {
    let mut report = Map::new();
    let url = input("OSTRACA_EMBED_URL", &mut report);
    let model = input("OSTRACA_EMBED_MODEL", &mut report);
    let embedder = url.zip(model).map(|(url, model)| EmbedderSettings {
        timeout: EMBED_TIMEOUT,
        ..EmbedderSettings::new(url, model)
    });
    if let Some(file) = input("OSTRACA_LOCOMO", &mut report) {
        let measured = locomo::measure(file.as_ref(), embedder.as_ref()).await?;
        report.insert("locomo".to_owned(), measured);
    }
    if let Some(folder) = input("OSTRACA_SCIFACT", &mut report) {
        let measured = scifact::measure(folder.as_ref()).await?;
        report.insert("scifact".to_owned(), measured);
    }
    let mut report = Json::Object(report);
    let mut missed = Vec::new();
    for (name, floor) in FLOORS {
        let value = report.pointer(name).and_then(Json::as_f64);
        if let Some(value) = value.filter(|value| *value < floor) {
            missed.push(format!("{name} is {value}, its floor is {floor}"));
        }
    }
    let failed = !missed.is_empty();
    report["missed"] = json!(missed);
    writeln!(std::io::stdout(), "{report:#}")?;
    Ok(if failed {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    })
}

#[expect(
    clippy::disallowed_methods,
    reason = "a benchmark's inputs are named by variables"
)]
fn input(variable: &str, report: &mut Map<String, Json>) -> Option<String> {
    let found = std::env::var(variable).ok();
    if found.is_none() {
        report.insert(variable.to_owned(), json!("not set, so skipped"));
    }
    found
}

/// The default tenant's memories in a folder, as a new process opens them.
fn open(folder: &Path, embedder: Option<&EmbedderSettings>) -> Outcome<Session> {
    let db = database(folder, embedder)?;
    Ok(db.session(Caller::unrestricted("default".parse()?)))
}

/// Folds them into a segment that is searched in place.
async fn fold(folder: &Path) -> Outcome<()> {
    let collection = CollectionKey::new("default".parse()?, CollectionId::memory());
    let db = database(folder, None)?;
    db.compact(&collection, Effort::Major).await?;
    Ok(())
}

fn database(folder: &Path, embedder: Option<&EmbedderSettings>) -> Outcome<Arc<Database>> {
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    let embedder = embedder.map(|settings| -> Arc<dyn Embedder> {
        let client = Arc::new(ReqwestClient::new());
        Arc::new(OpenAiEmbedder::new(
            settings.clone(),
            client,
            Arc::clone(&clock),
        ))
    });
    let ports = Ports {
        store: ostraca_object::local::open(folder)?,
        clock,
        ids: Arc::new(OsIds),
        embedder,
        background: None,
    };
    let mut settings = Settings {
        whole_bytes: 0,
        ..Settings::default()
    };
    settings.limits.embedding_wait = EMBED_TIMEOUT;
    Ok(Database::new(ports, settings))
}
