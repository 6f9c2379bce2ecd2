//! What the tests of this crate share: a clock on the runtime's virtual time,
//! ids from a counter, and a small domain.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::UInt64Type;
use arrow_array::{RecordBatch, StringArray, UInt64Array};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use object_store::ObjectStore;
use object_store::memory::InMemory;

use crate::error::Corrupt;
use crate::io::Io;
use crate::key::{CollectionId, CollectionKey};
use crate::log::commit::Decision;
use crate::log::entry::Entry;
use crate::log::fold::Fold;
use crate::log::{Log, LogSettings};
use crate::port::{CommitId, WriterId};
use crate::store::Store;

pub(crate) use crate::port::simulated::{CountingIds, VirtualClock};

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
