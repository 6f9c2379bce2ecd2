//! One row of the log: what happened, and the record as it is afterwards. The
//! record's columns are those of `search::record`; this file adds the two that say
//! what the row does, so that log entries stay plain tables for any Arrow reader.

use std::sync::Arc;

use arrow_array::cast::AsArray as _;
use arrow_array::{Array as _, ArrayRef, BinaryArray, RecordBatch, StringArray};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use ostraca_object::error::Corrupt;
use ostraca_object::port::Timestamp;
use ostraca_search::ScopePath;
use ostraca_search::record::{self, Record};
use ostraca_search::segment::Replacement;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What a row does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Event {
    /// A memory came to be.
    Created,
    /// A memory got a new version.
    Updated,
    /// A memory was forgotten; its versions stay and it can be restored.
    Forgotten,
    /// A forgotten or changed memory got back an earlier version.
    Restored,
    /// A memory was erased with all its versions.
    Purged,
    /// A setting of the collection: `key` names it, `value` is it, no value removes it.
    Setting,
    /// The catalogue of a checkpoint: `value` is it. Never in a feed.
    Catalogue,
}

impl Event {
    const ALL: [Self; 7] = [
        Self::Created,
        Self::Updated,
        Self::Forgotten,
        Self::Restored,
        Self::Purged,
        Self::Setting,
        Self::Catalogue,
    ];

    /// The name in the log and on the wire.
    pub fn name(self) -> &'static str {
        match self {
            Self::Created => "created",
            Self::Updated => "updated",
            Self::Forgotten => "forgotten",
            Self::Restored => "restored",
            Self::Purged => "purged",
            Self::Setting => "setting",
            Self::Catalogue => "catalogue",
        }
    }

    fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|event| event.name() == name)
    }
}

/// One row of the log.
#[derive(Debug, Clone)]
pub(crate) struct Change {
    /// What the row does.
    pub(crate) event: Event,
    /// Why, in the words of whoever asked for it.
    pub(crate) reason: Option<String>,
    /// The record afterwards; for [`Event::Purged`] no more than its name.
    pub(crate) record: Arc<Record>,
    /// The row of a segment that it replaces, where the collection is searched by them.
    pub(crate) replaces: Option<Arc<Replacement>>,
}

const EVENT: &str = "event";
const REASON: &str = "reason";
const REPLACES: &str = "replaces";

/// The columns of a log row, without the log's own.
pub(crate) fn schema() -> SchemaRef {
    let mut fields = vec![
        Arc::new(Field::new(EVENT, DataType::Utf8, false)),
        Arc::new(Field::new(REASON, DataType::Utf8, true)),
        Arc::new(Field::new(REPLACES, DataType::Binary, true)),
    ];
    fields.extend(record::schema().fields().iter().cloned());
    Arc::new(Schema::new(fields))
}

/// Rows as a batch of [`schema`].
///
/// # Errors
/// [`Corrupt`] if a record cannot be put into columns.
pub(crate) fn encode(changes: &[Change]) -> Result<RecordBatch, Corrupt> {
    let records: Vec<&Record> = changes
        .iter()
        .map(|change| change.record.as_ref())
        .collect();
    let events: ArrayRef = Arc::new(StringArray::from_iter_values(
        changes.iter().map(|change| change.event.name()),
    ));
    let reasons: ArrayRef = Arc::new(
        changes
            .iter()
            .map(|change| change.reason.as_deref())
            .collect::<StringArray>(),
    );
    let rows = record::encode(&records).map_err(|error| {
        Corrupt::caused(
            "a new log entry",
            "a record does not fit its columns",
            error,
        )
    })?;
    let replaces: ArrayRef = Arc::new(
        changes
            .iter()
            .map(|change| change.replaces.as_ref().map(|replaces| replaces.encode()))
            .collect::<BinaryArray>(),
    );
    let mut columns = vec![events, reasons, replaces];
    columns.extend(rows.columns().iter().map(Arc::clone));
    RecordBatch::try_new(schema(), columns).map_err(|error| {
        Corrupt::caused("a new log entry", "the columns do not fit together", error)
    })
}

/// Rows of a batch that this or an earlier version wrote.
///
/// # Errors
/// [`Corrupt`] naming `key` if a column is missing or holds what no version wrote.
pub(crate) fn decode(key: &str, batch: &RecordBatch) -> Result<Vec<Change>, Corrupt> {
    if batch.num_rows() == 0 {
        return Ok(Vec::new());
    }
    let text = |name: &str| {
        batch
            .column_by_name(name)
            .and_then(|column| column.as_any().downcast_ref::<StringArray>())
            .ok_or_else(|| Corrupt::new(key, format!("column {name} is missing or no text")))
    };
    let (events, reasons) = (text(EVENT)?, text(REASON)?);
    // A column of a later version than the first.
    let replaced = batch
        .column_by_name(REPLACES)
        .and_then(|column| column.as_binary_opt::<i32>());
    let records = record::decode(batch)
        .map_err(|error| Corrupt::caused(key, "a record cannot be read", error))?;
    records
        .into_iter()
        .enumerate()
        .map(|(row, record)| {
            let event = events
                .is_valid(row)
                .then(|| events.value(row))
                .and_then(Event::parse);
            let event = event.ok_or_else(|| {
                Corrupt::new(
                    key,
                    format!("row {row} has an event that this version does not know"),
                )
            })?;
            let reason = reasons.is_valid(row).then(|| reasons.value(row).to_owned());
            let replaces = replaced
                .filter(|column| column.is_valid(row))
                .map(|column| Replacement::decode(column.value(row)))
                .transpose()
                .map_err(|error| {
                    Corrupt::caused(key, "what a row replaces cannot be read", error)
                })?;
            Ok(Change {
                event,
                reason,
                record: Arc::new(record),
                replaces: replaces.map(Arc::new),
            })
        })
        .collect()
}

/// The record of a setting.
pub(crate) fn setting(name: &str, value: Option<Value>, now: Timestamp) -> Record {
    let id = format!("setting:{name}");
    let mut record = Record::new(id, ScopePath::root(), String::new(), now.0);
    record.key = Some(name.to_owned());
    record.value = value;
    record
}
