//! Arrow columns to records, whatever release wrote them.
//!
//! A column that a release did not have yet reads as its absent value, and a
//! column that only a later one knows is passed over. What cannot be understood
//! is an error that names row and column, never a record that looks whole.

use std::collections::BTreeMap;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Float32Type, Float64Type, TimestampMillisecondType, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef, RecordBatch, StringArray, StructArray};
use arrow_schema::ArrowError;

use super::columns::HASH_BYTES;
use super::{
    Chunk, Embedding, MEMORY_REALM, Metadata, Record, ScopeError, ScopePath, Status,
    metadata_from_json,
};

/// Why records could not be written or read.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// Arrow refused the columns.
    #[error("records do not form an Arrow batch")]
    Arrow(#[source] ArrowError),
    /// More than one batch can hold.
    #[error("the records exceed 2 GiB in one column: write them in several batches")]
    TooLarge,
    /// A column has another type than this release reads.
    #[error("column `{column}` has type {found}")]
    ColumnType {
        /// Name of the column.
        column: &'static str,
        /// The type that was found.
        found: String,
    },
    /// A value that must be there is not.
    #[error("row {row}: column `{column}` has no value")]
    Missing {
        /// Row within the batch, from 0.
        row: usize,
        /// Name of the column.
        column: &'static str,
    },
    /// A column of JSON text holds something else.
    #[error("row {row}: column `{column}` is not the JSON expected")]
    Json {
        /// Row within the batch, from 0.
        row: usize,
        /// Name of the column.
        column: &'static str,
        /// What the parser said.
        #[source]
        source: serde_json::Error,
    },
    /// A scope path that this release refuses.
    #[error("row {row}: column `scope`")]
    Scope {
        /// Row within the batch, from 0.
        row: usize,
        /// What is wrong with it.
        #[source]
        source: ScopeError,
    },
    /// A status of a later release.
    #[error("row {row}: status `{status}` is unknown: read it with a newer release")]
    Status {
        /// Row within the batch, from 0.
        row: usize,
        /// The status found.
        status: String,
    },
}

/// Reads the records of a batch, in row order.
///
/// `id` and `content` must be there; every other column may be missing.
pub fn decode(batch: &RecordBatch) -> Result<Vec<Record>, RecordError> {
    let columns = Columns::of(batch)?;
    (0..batch.num_rows())
        .map(|row| columns.record(row))
        .collect()
}

struct Columns<'a> {
    id: Option<&'a StringArray>,
    realm: Option<&'a StringArray>,
    scope: Option<&'a StringArray>,
    key: Option<&'a StringArray>,
    kind: Option<&'a StringArray>,
    title: Option<&'a StringArray>,
    content: Option<&'a StringArray>,
    value: Option<&'a StringArray>,
    metadata: Option<&'a StringArray>,
    source: Option<&'a StringArray>,
    sensitivity: Option<&'a StringArray>,
    author: Option<&'a StringArray>,
    confidence: Option<&'a arrow_array::Float64Array>,
    status: Option<&'a StringArray>,
    version: Option<&'a arrow_array::UInt64Array>,
    base_version: Option<&'a arrow_array::UInt64Array>,
    created: Option<&'a arrow_array::TimestampMillisecondArray>,
    updated: Option<&'a arrow_array::TimestampMillisecondArray>,
    expires: Option<&'a arrow_array::TimestampMillisecondArray>,
    timestamps: Option<&'a StringArray>,
    content_hash: Option<&'a arrow_array::FixedSizeBinaryArray>,
    profile: Option<&'a StringArray>,
    chunks: Option<&'a arrow_array::ListArray>,
}

impl<'a> Columns<'a> {
    fn of(batch: &'a RecordBatch) -> Result<Self, RecordError> {
        let text = |name| column(batch, name, AsArray::as_string_opt::<i32>);
        let count = |name| column(batch, name, AsArray::as_primitive_opt::<UInt64Type>);
        let instant = |name| {
            column(
                batch,
                name,
                AsArray::as_primitive_opt::<TimestampMillisecondType>,
            )
        };
        Ok(Self {
            id: text("id")?,
            realm: text("realm")?,
            scope: text("scope")?,
            key: text("key")?,
            kind: text("kind")?,
            title: text("title")?,
            content: text("content")?,
            value: text("value")?,
            metadata: text("metadata")?,
            source: text("source")?,
            sensitivity: text("sensitivity")?,
            author: text("author")?,
            confidence: column(
                batch,
                "confidence",
                AsArray::as_primitive_opt::<Float64Type>,
            )?,
            status: text("status")?,
            version: count("version")?,
            base_version: count("base_version")?,
            created: instant("created")?,
            updated: instant("updated")?,
            expires: instant("expires")?,
            timestamps: text("timestamps")?,
            content_hash: column(batch, "content_hash", |array| {
                let hashes = array.as_fixed_size_binary_opt()?;
                (hashes.value_length() == HASH_BYTES).then_some(hashes)
            })?,
            profile: text("embedding_profile")?,
            chunks: column(batch, "chunks", AsArray::as_list_opt::<i32>)?,
        })
    }

    fn record(&self, row: usize) -> Result<Record, RecordError> {
        let required =
            |array, column| text_at(array, row).ok_or(RecordError::Missing { row, column });
        let created = self
            .created
            .and_then(|array| valid(array, row, array.values()))
            .unwrap_or(0);
        Ok(Record {
            id: required(self.id, "id")?,
            realm: text_at(self.realm, row).unwrap_or_else(|| MEMORY_REALM.to_owned()),
            scope: ScopePath::parse(&text_at(self.scope, row).unwrap_or_default())
                .map_err(|source| RecordError::Scope { row, source })?,
            key: text_at(self.key, row),
            kind: text_at(self.kind, row),
            title: text_at(self.title, row),
            content: required(self.content, "content")?,
            value: json_at(self.value, row, "value")?,
            metadata: self.metadata(row)?,
            source: text_at(self.source, row),
            sensitivity: text_at(self.sensitivity, row),
            author: text_at(self.author, row),
            confidence: self
                .confidence
                .and_then(|array| valid(array, row, array.values())),
            status: self.status(row)?,
            version: self
                .version
                .and_then(|array| valid(array, row, array.values()))
                .unwrap_or(1),
            base_version: self
                .base_version
                .and_then(|array| valid(array, row, array.values())),
            created,
            updated: self
                .updated
                .and_then(|array| valid(array, row, array.values()))
                .unwrap_or(created),
            expires: self
                .expires
                .and_then(|array| valid(array, row, array.values())),
            timestamps: json_at::<BTreeMap<String, i64>>(self.timestamps, row, "timestamps")?
                .unwrap_or_default(),
            content_hash: self
                .content_hash
                .filter(|array| array.is_valid(row))
                .and_then(|array| array.value(row).try_into().ok()),
            embedding: self.embedding(row)?,
        })
    }

    fn metadata(&self, row: usize) -> Result<Metadata, RecordError> {
        let object: Option<serde_json::Map<String, serde_json::Value>> =
            json_at(self.metadata, row, "metadata")?;
        Ok(object
            .map(|object| metadata_from_json(&object))
            .unwrap_or_default())
    }

    fn status(&self, row: usize) -> Result<Status, RecordError> {
        match text_at(self.status, row) {
            None => Ok(Status::Active),
            Some(status) => Status::from_name(&status).ok_or(RecordError::Status { row, status }),
        }
    }

    fn embedding(&self, row: usize) -> Result<Embedding, RecordError> {
        let Some(profile) = text_at(self.profile, row) else {
            return Ok(Embedding::None);
        };
        let Some(chunks) = self.chunks.filter(|array| array.is_valid(row)) else {
            return Ok(Embedding::Pending { profile });
        };
        let chunks = chunks_of(&chunks.value(row))?;
        Ok(Embedding::Ready { profile, chunks })
    }
}

fn column<'a, T>(
    batch: &'a RecordBatch,
    name: &'static str,
    cast: impl Fn(&'a dyn Array) -> Option<&'a T>,
) -> Result<Option<&'a T>, RecordError> {
    let Some(array) = batch.column_by_name(name) else {
        return Ok(None);
    };
    match cast(array.as_ref()) {
        Some(typed) => Ok(Some(typed)),
        None => Err(wrong_type(name, array.as_ref())),
    }
}

fn wrong_type(column: &'static str, array: &dyn Array) -> RecordError {
    RecordError::ColumnType {
        column,
        found: array.data_type().to_string(),
    }
}

fn text_at(array: Option<&StringArray>, row: usize) -> Option<String> {
    array
        .filter(|array| array.is_valid(row))
        .map(|array| array.value(row).to_owned())
}

fn valid<T: Copy>(array: &dyn Array, row: usize, values: &[T]) -> Option<T> {
    if array.is_valid(row) {
        values.get(row).copied()
    } else {
        None
    }
}

fn json_at<T: serde::de::DeserializeOwned>(
    array: Option<&StringArray>,
    row: usize,
    column: &'static str,
) -> Result<Option<T>, RecordError> {
    text_at(array, row)
        .map(|text| serde_json::from_str(&text))
        .transpose()
        .map_err(|source| RecordError::Json {
            row,
            column,
            source,
        })
}

fn chunks_of(items: &ArrayRef) -> Result<Vec<Chunk>, RecordError> {
    let items: &StructArray = items
        .as_struct_opt()
        .ok_or_else(|| wrong_type("chunks", items.as_ref()))?;
    let bound = |name: &'static str| {
        items
            .column_by_name(name)
            .and_then(|array| array.as_primitive_opt::<UInt32Type>())
            .ok_or_else(|| wrong_type("chunks", items))
    };
    let (starts, ends) = (bound("start")?, bound("end")?);
    let vectors = items
        .column_by_name("vector")
        .and_then(|array| array.as_list_opt::<i32>())
        .ok_or_else(|| wrong_type("chunks", items))?;
    starts
        .values()
        .iter()
        .zip(ends.values())
        .enumerate()
        .map(|(index, (start, end))| {
            let vector = vectors.value(index);
            let vector = vector
                .as_primitive_opt::<Float32Type>()
                .ok_or_else(|| wrong_type("chunks", items))?;
            Ok(Chunk {
                start: *start,
                end: *end,
                vector: vector.values().to_vec(),
            })
        })
        .collect()
}
