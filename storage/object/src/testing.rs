//! What the tests of this crate share: a clock on the runtime's virtual time,
//! ids from a counter, and a small domain.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use arrow_array::cast::AsArray;
use arrow_array::types::UInt64Type;
use arrow_array::{RecordBatch, StringArray, UInt64Array};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use async_trait::async_trait;
use object_store::ObjectStore;
use object_store::memory::InMemory;

use crate::error::Corrupt;
use crate::io::Io;
use crate::key::{CollectionId, CollectionKey};
use crate::log::commit::Decision;
use crate::log::entry::Entry;
use crate::log::fold::Fold;
use crate::log::{Log, LogSettings};
use crate::port::{Clock, CommitId, Ids, Timestamp, WriterId};
use crate::store::Store;

#[derive(Debug)]
pub(crate) struct VirtualClock {
    start: tokio::time::Instant,
    from: Timestamp,
}

impl VirtualClock {
    pub(crate) fn new() -> Arc<Self> {
        Self::from(Timestamp(1_700_000_000_000))
    }

    pub(crate) fn from(from: Timestamp) -> Arc<Self> {
        Arc::new(Self {
            start: tokio::time::Instant::now(),
            from,
        })
    }
}

#[async_trait]
impl Clock for VirtualClock {
    fn now(&self) -> Timestamp {
        let elapsed = tokio::time::Instant::now() - self.start;
        self.from
            .plus_millis(u64::try_from(elapsed.as_millis()).unwrap())
    }

    #[expect(clippy::disallowed_methods, reason = "this is the clock of the tests")]
    async fn sleep(&self, duration: Duration) {
        tokio::time::sleep(duration).await;
    }
}

#[derive(Debug, Default)]
pub(crate) struct CountingIds(AtomicU64);

impl Ids for CountingIds {
    fn random(&self) -> u128 {
        let count = u128::from(self.0.fetch_add(1, Ordering::Relaxed)) + 1;
        // Spread over all bits, so that a remainder looks random.
        count.wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835)
    }
}

/// Named numbers; an entry sets some of them.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Numbers(pub(crate) BTreeMap<String, u64>);

pub(crate) fn number_schema() -> SchemaRef {
    Arc::new(Schema::new(vec![
        Field::new("name", DataType::Utf8, false),
        Field::new("value", DataType::UInt64, false),
    ]))
}

pub(crate) fn numbers<'a>(pairs: impl IntoIterator<Item = (&'a str, u64)>) -> RecordBatch {
    let (names, values): (Vec<&str>, Vec<u64>) = pairs.into_iter().unzip();
    RecordBatch::try_new(
        number_schema(),
        vec![
            Arc::new(StringArray::from(names)),
            Arc::new(UInt64Array::from(values)),
        ],
    )
    .unwrap()
}

pub(crate) fn pairs(rows: &RecordBatch) -> Vec<(String, u64)> {
    let names = rows.column_by_name("name").unwrap().as_string::<i32>();
    let values = rows
        .column_by_name("value")
        .unwrap()
        .as_primitive::<UInt64Type>();
    names
        .iter()
        .zip(values.values())
        .map(|(name, value)| (name.unwrap().to_owned(), *value))
        .collect()
}

impl Fold for Numbers {
    type Draft = BTreeMap<String, u64>;

    fn schema() -> SchemaRef {
        number_schema()
    }

    fn apply(&mut self, entry: &Entry) -> Result<(), Corrupt> {
        if entry.header.checkpoint.is_some() {
            self.0.clear();
        }
        if entry.rows.column_by_name("name").is_none() {
            return Err(Corrupt::new(entry.seq, "no names"));
        }
        self.0.extend(pairs(&entry.rows));
        Ok(())
    }
}

pub(crate) fn collection() -> CollectionKey {
    CollectionKey::new("acme".parse().unwrap(), CollectionId::memory())
}

pub(crate) fn memory() -> Arc<dyn ObjectStore> {
    Arc::new(InMemory::new())
}

pub(crate) fn store(objects: &Arc<dyn ObjectStore>) -> Arc<Store> {
    store_at(objects, VirtualClock::new())
}

pub(crate) fn store_at(objects: &Arc<dyn ObjectStore>, clock: Arc<VirtualClock>) -> Arc<Store> {
    Arc::new(Store::new(
        Arc::clone(objects),
        clock,
        Arc::new(CountingIds::default()),
    ))
}

pub(crate) fn log(writer: u128) -> Log<Numbers> {
    log_with(writer, LogSettings::default())
}

pub(crate) fn log_with(writer: u128, settings: LogSettings) -> Log<Numbers> {
    Log::new(collection(), WriterId(writer), settings)
}

/// Sets a name to a value, whatever it was.
pub(crate) fn set(
    name: &str,
    value: u64,
) -> impl FnMut(
    &Numbers,
    &mut BTreeMap<String, u64>,
    crate::log::commit::At,
) -> Result<Decision<()>, Never>
+ Send
+ 'static {
    let name = name.to_owned();
    move |_, draft, _| {
        draft.insert(name.clone(), value);
        Ok(Decision::Commit {
            rows: numbers([(name.as_str(), value)]),
            note: None,
            value: (),
        })
    }
}

/// Adds one to a name and gives the new value.
pub(crate) fn increment(
    name: &str,
) -> impl FnMut(
    &Numbers,
    &mut BTreeMap<String, u64>,
    crate::log::commit::At,
) -> Result<Decision<u64>, Never>
+ Send
+ 'static {
    let name = name.to_owned();
    move |fold, draft, at| {
        if let Some(replay) = at.replay {
            let value = replay.note.and_then(|note| note.as_u64()).unwrap_or(0);
            return Ok(Decision::Unchanged(value));
        }
        let before = draft.get(&name).or_else(|| fold.0.get(&name));
        let value = before.copied().unwrap_or(0) + 1;
        draft.insert(name.clone(), value);
        Ok(Decision::Commit {
            rows: numbers([(name.as_str(), value)]),
            note: Some(value.into()),
            value,
        })
    }
}

#[derive(Debug, thiserror::Error)]
#[error("never")]
pub(crate) struct Never;

pub(crate) async fn put(log: &Log<Numbers>, io: &Io, id: u128, name: &str, value: u64) {
    log.commit(io, CommitId(id), set(name, value))
        .await
        .unwrap();
}
