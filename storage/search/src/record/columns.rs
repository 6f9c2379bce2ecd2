//! Records to Arrow columns: the row format that log entries and segments
//! share, readable by any Arrow reader.
//!
//! Writing is separate from reading because a writer always writes the newest
//! columns while a reader accepts every set ever written. A caller may put
//! columns of its own before or after these.

use std::borrow::Borrow;
use std::sync::Arc;

use arrow_array::builder::{
    FixedSizeBinaryBuilder, Float32Builder, Float64Builder, ListBuilder, StringBuilder,
    StructBuilder, TimestampMillisecondBuilder, UInt32Builder, UInt64Builder,
};
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{DataType, Field, FieldRef, Fields, Schema, SchemaRef, TimeUnit};

use super::decode::RecordError;
use super::{Chunk, Embedding, Record, metadata_to_json};

/// Length of a content hash in bytes.
pub(super) const HASH_BYTES: i32 = 16;
/// Bytes or elements that one variable-length column of a batch may hold: Arrow's
/// offsets are 32 bits signed.
const MAX_COLUMN_SIZE: usize = i32::MAX as usize;

/// The columns of [`columns`], in order.
pub fn schema() -> SchemaRef {
    Arc::new(Schema::new(fields()))
}

/// Records as one batch of exactly the columns of [`schema`].
pub fn encode<R: Borrow<Record>>(records: &[R]) -> Result<RecordBatch, RecordError> {
    let arrays = columns(records)?
        .into_iter()
        .map(|(_, array)| array)
        .collect();
    RecordBatch::try_new(schema(), arrays).map_err(RecordError::Arrow)
}

/// Records as columns, for a batch that has columns of its own besides.
pub fn columns<R: Borrow<Record>>(records: &[R]) -> Result<Vec<(FieldRef, ArrayRef)>, RecordError> {
    let rows = || records.iter().map(Borrow::borrow);
    let arrays: Vec<ArrayRef> = vec![
        texts(rows().map(|r| Some(r.id.as_str())))?,
        texts(rows().map(|r| Some(r.realm.as_str())))?,
        texts(rows().map(|r| Some(r.scope.as_str())))?,
        texts(rows().map(|r| r.key.as_deref()))?,
        texts(rows().map(|r| r.kind.as_deref()))?,
        texts(rows().map(|r| r.title.as_deref()))?,
        texts(rows().map(|r| Some(r.content.as_str())))?,
        texts(rows().map(|r| r.value.as_ref().map(ToString::to_string)))?,
        texts(rows().map(|r| Some(metadata_to_json(&r.metadata).to_string())))?,
        texts(rows().map(|r| r.source.as_deref()))?,
        texts(rows().map(|r| r.sensitivity.as_deref()))?,
        texts(rows().map(|r| r.author.as_deref()))?,
        floats(rows().map(|r| r.confidence)),
        texts(rows().map(|r| Some(r.status.as_str())))?,
        counts(rows().map(|r| Some(r.version))),
        counts(rows().map(|r| r.base_version)),
        instants(rows().map(|r| Some(r.created))),
        instants(rows().map(|r| Some(r.updated))),
        instants(rows().map(|r| r.expires)),
        texts(rows().map(|r| Some(serde_json::json!(r.timestamps).to_string())))?,
        hashes(rows().map(|r| r.content_hash))?,
        texts(rows().map(|r| profile(&r.embedding)))?,
        chunks(rows().map(|r| &r.embedding))?,
    ];
    Ok(fields().iter().cloned().zip(arrays).collect())
}

fn fields() -> Fields {
    let text = |name: &str, nullable| Field::new(name, DataType::Utf8, nullable);
    let count = |name: &str, nullable| Field::new(name, DataType::UInt64, nullable);
    let instant = |name: &str, nullable| {
        Field::new(
            name,
            DataType::Timestamp(TimeUnit::Millisecond, Some("UTC".into())),
            nullable,
        )
    };
    Fields::from(vec![
        text("id", false),
        text("realm", false),
        text("scope", false),
        text("key", true),
        text("kind", true),
        text("title", true),
        text("content", false),
        text("value", true),
        text("metadata", false),
        text("source", true),
        text("sensitivity", true),
        text("author", true),
        Field::new("confidence", DataType::Float64, true),
        text("status", false),
        count("version", false),
        count("base_version", true),
        instant("created", false),
        instant("updated", false),
        instant("expires", true),
        text("timestamps", false),
        Field::new("content_hash", DataType::FixedSizeBinary(HASH_BYTES), true),
        text("embedding_profile", true),
        Field::new("chunks", DataType::List(chunk_field()), true),
    ])
}

fn chunk_field() -> FieldRef {
    Arc::new(Field::new("item", DataType::Struct(chunk_fields()), false))
}

fn vector_field() -> FieldRef {
    Arc::new(Field::new("item", DataType::Float32, false))
}

fn chunk_fields() -> Fields {
    Fields::from(vec![
        Field::new("start", DataType::UInt32, false),
        Field::new("end", DataType::UInt32, false),
        Field::new("vector", DataType::List(vector_field()), false),
    ])
}

fn texts(values: impl Iterator<Item = Option<impl AsRef<str>>>) -> Result<ArrayRef, RecordError> {
    let mut builder = StringBuilder::new();
    let mut bytes = Room::default();
    for value in values {
        bytes.take(value.as_ref().map_or(0, |value| value.as_ref().len()))?;
        builder.append_option(value);
    }
    Ok(Arc::new(builder.finish()))
}

/// What is left of a column of variable length. Asked first, because Arrow's builders
/// panic when an offset overflows.
#[derive(Default)]
struct Room {
    taken: usize,
}

impl Room {
    fn take(&mut self, size: usize) -> Result<(), RecordError> {
        self.taken = self.taken.saturating_add(size);
        if self.taken > MAX_COLUMN_SIZE {
            return Err(RecordError::TooLarge);
        }
        Ok(())
    }
}

fn floats(values: impl Iterator<Item = Option<f64>>) -> ArrayRef {
    let mut builder = Float64Builder::new();
    builder.extend(values);
    Arc::new(builder.finish())
}

fn counts(values: impl Iterator<Item = Option<u64>>) -> ArrayRef {
    let mut builder = UInt64Builder::new();
    builder.extend(values);
    Arc::new(builder.finish())
}

fn instants(values: impl Iterator<Item = Option<i64>>) -> ArrayRef {
    let mut builder = TimestampMillisecondBuilder::new();
    builder.extend(values);
    Arc::new(builder.finish().with_timezone("UTC"))
}

fn hashes(values: impl Iterator<Item = Option<[u8; 16]>>) -> Result<ArrayRef, RecordError> {
    let mut builder = FixedSizeBinaryBuilder::new(HASH_BYTES);
    for value in values {
        match value {
            Some(hash) => builder.append_value(hash).map_err(RecordError::Arrow)?,
            None => builder.append_null(),
        }
    }
    Ok(Arc::new(builder.finish()))
}

fn profile(embedding: &Embedding) -> Option<&str> {
    match embedding {
        Embedding::None => None,
        Embedding::Pending { profile } | Embedding::Ready { profile, .. } => Some(profile),
    }
}

/// Chunks as `List<Struct<start, end, vector>>`; null while there are none.
fn chunks<'a>(embeddings: impl Iterator<Item = &'a Embedding>) -> Result<ArrayRef, RecordError> {
    let items = StructBuilder::new(
        chunk_fields(),
        vec![
            Box::new(UInt32Builder::new()),
            Box::new(UInt32Builder::new()),
            Box::new(ListBuilder::new(Float32Builder::new()).with_field(vector_field())),
        ],
    );
    let mut builder = ListBuilder::new(items).with_field(chunk_field());
    let mut components = Room::default();
    for embedding in embeddings {
        let ready = match embedding {
            Embedding::Ready { chunks, .. } => {
                for chunk in chunks {
                    components.take(chunk.vector.len().max(1))?;
                    append_chunk(builder.values(), chunk);
                }
                true
            }
            Embedding::None | Embedding::Pending { .. } => false,
        };
        builder.append(ready);
    }
    Ok(Arc::new(builder.finish()))
}

fn append_chunk(builder: &mut StructBuilder, chunk: &Chunk) {
    if let Some(start) = builder.field_builder::<UInt32Builder>(0) {
        start.append_value(chunk.start);
    }
    if let Some(end) = builder.field_builder::<UInt32Builder>(1) {
        end.append_value(chunk.end);
    }
    if let Some(vector) = builder.field_builder::<ListBuilder<Float32Builder>>(2) {
        vector.values().append_slice(&chunk.vector);
        vector.append(true);
    }
    builder.append(true);
}
