//! Retrieval quality through the whole product: data sets are imported or remembered
//! into a local folder, and asked by recall as any client asks. It lies outside the
//! tests because the data sets are not in the repository.
//!
//! `OSTRACA_LOCOMO` names locomo10.json, `OSTRACA_SCIFACT` a folder in BEIR layout with
//! MiniLM vectors; what is unset is skipped and said so. Prints one JSON object, and
//! fails if a floor is missed.

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
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use ostraca_memory::{Caller, Database, Ports, Session, Settings};
use ostraca_object::port::native::{OsIds, SystemClock};
use serde_json::{Map, Value as Json, json};

type Outcome<T> = Result<T, Box<dyn Error>>;

/// Floors: plain BM25 at turn level on LoCoMo, and on SciFact plain BM25 and reciprocal
/// rank fusion of BM25 and MiniLM, as other implementations of the same reach.
const FLOORS: [(&str, &str, f64); 4] = [
    ("locomo", "any@10", 0.70),
    ("locomo", "mrr", 0.48),
    ("scifact", "keyword_ndcg@10", 0.67),
    ("scifact", "hybrid_ndcg@10", 0.714),
];

#[tokio::main(flavor = "current_thread")]
async fn main() -> Outcome<ExitCode> {
    let mut report = Map::new();
    if let Some(file) = input("OSTRACA_LOCOMO", &mut report) {
        report.insert("locomo".to_owned(), locomo::measure(&file).await?);
    }
    if let Some(folder) = input("OSTRACA_SCIFACT", &mut report) {
        report.insert("scifact".to_owned(), scifact::measure(&folder).await?);
    }
    let mut missed = Vec::new();
    for (set, name, floor) in FLOORS {
        let value = report
            .get(set)
            .and_then(|measured| measured.get(name))
            .and_then(Json::as_f64);
        if value.is_some_and(|value| value < floor) {
            missed.push(json!(format!(
                "{set} {name} is {value:?}, its floor is {floor}"
            )));
        }
    }
    let failed = !missed.is_empty();
    report.insert("missed".to_owned(), Json::Array(missed));
    writeln!(std::io::stdout(), "{:#}", Json::Object(report))?;
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
fn input(variable: &str, report: &mut Map<String, Json>) -> Option<PathBuf> {
    let found = std::env::var_os(variable).map(PathBuf::from);
    if found.is_none() {
        report.insert(variable.to_owned(), json!("not set, so skipped"));
    }
    found
}

/// The default tenant's memories in a folder, as a new process opens them.
fn open(folder: &Path) -> Outcome<Session> {
    let ports = Ports {
        store: ostraca_object::local::open(folder)?,
        clock: Arc::new(SystemClock),
        ids: Arc::new(OsIds),
        embedder: None,
        background: None,
    };
    let db = Database::new(ports, Settings::default());
    Ok(db.session(Caller::unrestricted("default".parse()?)))
}
