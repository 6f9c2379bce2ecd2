//! A change with its place in the total order: what the log says by position, a segment
//! has to say in columns. Replaying rows in the order of their places gives the state,
//! wherever they were read from.

use std::sync::Arc;

use arrow_array::cast::AsArray as _;
use arrow_array::types::{TimestampMillisecondType, UInt32Type, UInt64Type};
use arrow_array::{ArrayRef, RecordBatch, TimestampMillisecondArray, UInt32Array, UInt64Array};
use arrow_schema::{DataType, Field, Schema, SchemaRef, TimeUnit};
use ostraca_object::error::Corrupt;
use ostraca_object::port::Timestamp;

use crate::change::{self, Change, Event};
use crate::cursor::Place;

/// A change in its place.
#[derive(Debug, Clone)]
pub(crate) struct Row {
    /// Where in the log it was made.
    pub(crate) place: Place,
    /// When its entry was written.
    pub(crate) time: Timestamp,
    /// Where the memory's first version was made.
    pub(crate) first: Place,
    /// The change.
    pub(crate) change: Change,
}

impl Row {
    /// Whether it is about a memory, and not about the collection.
    pub(crate) fn is_of_memory(&self) -> bool {
        !matches!(self.change.event, Event::Setting | Event::Catalogue)
    }
}

const SEQ: &str = "seq";
const ROW: &str = "row";
const TIME: &str = "time";
const FIRST_SEQ: &str = "first_seq";
const FIRST_ROW: &str = "first_row";

/// The columns of a segment's rows.
pub(crate) fn schema() -> SchemaRef {
    let count = |name| Arc::new(Field::new(name, DataType::UInt64, false));
    let small = |name| Arc::new(Field::new(name, DataType::UInt32, false));
    let time = DataType::Timestamp(TimeUnit::Millisecond, Some("UTC".into()));
    let mut fields = vec![
        count(SEQ),
        small(ROW),
        Arc::new(Field::new(TIME, time, false)),
        count(FIRST_SEQ),
        small(FIRST_ROW),
    ];
    fields.extend(change::schema().fields().iter().cloned());
    Arc::new(Schema::new(fields))
}

/// Rows as a batch of [`schema`].
///
/// # Errors
/// [`Corrupt`] if a record cannot be put into columns.
pub(crate) fn encode(rows: &[Row]) -> Result<RecordBatch, Corrupt> {
    let changes: Vec<Change> = rows.iter().map(|row| row.change.clone()).collect();
    let changes = change::encode(&changes)?;
    let count = |of: fn(&Row) -> u64| -> ArrayRef {
        Arc::new(UInt64Array::from_iter_values(rows.iter().map(of)))
    };
    let small = |of: fn(&Row) -> u32| -> ArrayRef {
        Arc::new(UInt32Array::from_iter_values(rows.iter().map(of)))
    };
    let times = TimestampMillisecondArray::from_iter_values(rows.iter().map(|row| row.time.0));
    let mut columns = vec![
        count(|row| row.place.seq),
        small(|row| row.place.row),
        Arc::new(times.with_timezone("UTC")),
        count(|row| row.first.seq),
        small(|row| row.first.row),
    ];
    columns.extend(changes.columns().iter().map(Arc::clone));
    RecordBatch::try_new(schema(), columns)
        .map_err(|error| Corrupt::caused("a new segment", "the columns do not fit together", error))
}

/// Rows of a batch that this or an earlier version wrote.
///
/// # Errors
/// [`Corrupt`] naming `key` if a column is missing or holds what no version wrote.
pub(crate) fn decode(key: &str, batch: &RecordBatch) -> Result<Vec<Row>, Corrupt> {
    let missing = |name: &str| Corrupt::new(key, format!("column {name} is missing"));
    let count = |name: &str| {
        batch
            .column_by_name(name)
            .and_then(|column| column.as_primitive_opt::<UInt64Type>())
            .ok_or_else(|| missing(name))
    };
    let small = |name: &str| {
        batch
            .column_by_name(name)
            .and_then(|column| column.as_primitive_opt::<UInt32Type>())
            .ok_or_else(|| missing(name))
    };
    let (seqs, rows) = (count(SEQ)?, small(ROW)?);
    let (first_seqs, first_rows) = (count(FIRST_SEQ)?, small(FIRST_ROW)?);
    let times = batch
        .column_by_name(TIME)
        .and_then(|column| column.as_primitive_opt::<TimestampMillisecondType>())
        .ok_or_else(|| missing(TIME))?;
    let changes = change::decode(key, batch)?;
    let places = seqs.values().iter().zip(rows.values());
    let firsts = first_seqs.values().iter().zip(first_rows.values());
    Ok(places
        .zip(firsts)
        .zip(times.values())
        .zip(changes)
        .map(
            |((((seq, row), (first_seq, first_row)), time), change)| Row {
                place: Place {
                    seq: *seq,
                    row: *row,
                },
                time: Timestamp(*time),
                first: Place {
                    seq: *first_seq,
                    row: *first_row,
                },
                change,
            },
        )
        .collect())
}

#[cfg(test)]
pub(crate) mod tests {
    use ostraca_search::{Record, ScopePath};

    use super::*;

    /// A version of a memory made by the entry of that number.
    pub(crate) fn row(seq: u64, id: &str) -> Row {
        let record = Record::new(id, ScopePath::root(), format!("{id} at {seq}"), 0);
        let place = Place { seq, row: 0 };
        Row {
            place,
            time: Timestamp(i64::try_from(seq).unwrap()),
            first: place,
            change: Change {
                event: Event::Updated,
                reason: Some("because".to_owned()),
                record: record.into(),
                replaces: None,
            },
        }
    }

    /// The purge of a memory by the entry of that number.
    pub(crate) fn purge(seq: u64, id: &str) -> Row {
        let mut row = row(seq, id);
        row.change.event = Event::Purged;
        row
    }

    #[test]
    fn rows_come_back_as_they_were() {
        let rows = vec![row(7, "a"), purge(9, "b")];
        let read = decode("a segment", &encode(&rows).unwrap()).unwrap();
        assert_eq!(format!("{read:?}"), format!("{rows:?}"));
    }
}
