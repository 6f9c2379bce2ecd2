//! What remember and recall ask of storage: steps, requests and bytes, cold and warm,
//! over logs of several shapes. Counts depend on no clock and no machine, so they are
//! measured in memory; the resident size of the process is that of this machine.

#![allow(
    unreachable_pub,
    clippy::indexing_slicing,
    clippy::large_futures,
    reason = "a benchmark that fails may panic; its modules share helpers"
)]

use std::error::Error;
use std::io::Write as _;
use std::sync::Arc;

use object_store::memory::InMemory;
use ostraca_memory::{
    Caller, Database, NewMemory, Ports, RecallRequest, Receipt, RememberRequest, Session, Settings,
};
use ostraca_object::port::native::{OsIds, SystemClock};
use serde_json::{Map, Value as Json, json};

type Outcome<T> = Result<T, Box<dyn Error>>;

/// A shape of log: entries, and records in each.
const SHAPES: [(&str, usize, usize); 4] = [
    ("200 entries of 1", 200, 1),
    ("1,000 entries of 1", 1_000, 1),
    ("10 entries of 500", 10, 500),
    ("80 entries of 500", 80, 500),
];

#[tokio::main(flavor = "current_thread")]
async fn main() -> Outcome<()> {
    let mut report = Map::new();
    for (name, entries, records) in SHAPES {
        report.insert(name.to_owned(), shape(entries, records).await?);
    }
    writeln!(std::io::stdout(), "{:#}", Json::Object(report))?;
    Ok(())
}

async fn shape(entries: usize, records: usize) -> Outcome<Json> {
    let store = Arc::new(InMemory::new());
    let writer = open(&store)?;
    let mut first = None;
    let mut number = 0..;
    for _ in 0..entries {
        let items = number.by_ref().take(records).map(memory).collect();
        let receipt = writer
            .remember(RememberRequest {
                items,
                idempotency_key: None,
            })
            .await?
            .receipt;
        first.get_or_insert(receipt);
    }
    let warm_write = remember(&writer, memory(usize::MAX)).await?;
    let before = resident_kib();
    let reader = open(&store)?;
    let cold = recall(&reader).await?;
    let loaded = resident_kib().saturating_sub(before);
    let warm = recall(&reader).await?;
    remember(&writer, memory(usize::MAX - 1)).await?;
    let behind = recall(&reader).await?;
    let stranger = open(&store)?;
    let cold_write = remember(&stranger, memory(usize::MAX - 2)).await?;
    Ok(json!({
        "records": entries * records,
        "first write to a new store": first.as_ref().map(shown),
        "remember, warm": shown(&warm_write),
        "remember, cold": shown(&cold_write),
        "recall, cold": shown(&cold),
        "recall, warm": shown(&warm),
        "recall, one entry behind": shown(&behind),
        "resident growth of a cold reader, KiB": loaded,
    }))
}

/// A memory of some forty words, no two alike.
fn memory(n: usize) -> NewMemory {
    let words = [
        "deploy", "region", "invoice", "tea", "garden", "kernel", "bridge", "paper", "signal",
        "harbour",
    ];
    let text: Vec<String> = (0..40)
        .filter_map(|at| {
            words
                .get((n / (at + 1)) % words.len())
                .map(|word| format!("{word}{}", n % (at + 7)))
        })
        .collect();
    NewMemory {
        content: format!("memory {n}: {}", text.join(" ")),
        ..NewMemory::default()
    }
}

fn open(store: &Arc<InMemory>) -> Outcome<Session> {
    let store: Arc<dyn object_store::ObjectStore> = Arc::<InMemory>::clone(store);
    let ports = Ports {
        store,
        clock: Arc::new(SystemClock),
        ids: Arc::new(OsIds),
        embedder: None,
        background: None,
    };
    Ok(Database::new(ports, Settings::default()).session(Caller::unrestricted("default".parse()?)))
}

async fn remember(session: &Session, item: NewMemory) -> Outcome<Receipt> {
    Ok(session
        .remember(RememberRequest {
            items: vec![item],
            idempotency_key: None,
        })
        .await?
        .receipt)
}

async fn recall(session: &Session) -> Outcome<Receipt> {
    let request = RecallRequest {
        query: Some("invoice about the harbour garden".to_owned()),
        ..RecallRequest::default()
    };
    Ok(session.recall(request).await?.receipt)
}

fn shown(receipt: &Receipt) -> Json {
    json!({
        "steps": receipt.steps, "get": receipt.gets, "list": receipt.lists, "put": receipt.puts,
        "bytes read": receipt.bytes_read, "bytes written": receipt.bytes_written,
    })
}

/// The resident size of this process; 0 where the kernel does not tell.
#[expect(
    clippy::disallowed_methods,
    reason = "a benchmark reads what the kernel says of it"
)]
fn resident_kib() -> u64 {
    let status = std::fs::read("/proc/self/status").unwrap_or_default();
    let status = String::from_utf8_lossy(&status);
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|line| line.split_whitespace().next()?.parse().ok())
        .unwrap_or(0)
}
