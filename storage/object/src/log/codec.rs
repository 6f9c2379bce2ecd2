//! Entries as bytes: one Arrow IPC file with one record batch, whose schema
//! metadata says which rows belong to which entry. Any Arrow reader opens it;
//! `docs/formats.md` has it byte by byte. It must not decide what is carried.

#[cfg(test)]
mod tests;

use std::io::Cursor;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::UInt64Type;
use arrow_array::{
    Array, ArrayRef, LargeBinaryArray, RecordBatch, RecordBatchOptions, StringArray, UInt64Array,
    new_null_array,
};
use arrow_ipc::MetadataVersion;
use arrow_ipc::reader::FileReader;
use arrow_ipc::writer::{FileWriter, IpcWriteOptions};
use arrow_schema::{ArrowError, DataType, Field, FieldRef, Schema, SchemaRef};
use arrow_select::concat::concat_batches;
use bytes::Bytes;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::entry::{Checkpoint, Commit, Entry, Header};
use super::seal;
use crate::error::Corrupt;
use crate::key::{Key, Seq};
use crate::port::{CommitId, Timestamp, WriterId};

/// The version of the format, in the schema metadata.
pub const FORMAT: &str = "log/1";
const FORMAT_KEY: &str = "ostraca.format";
const ENTRIES_KEY: &str = "ostraca.entries";
const SEQ: &str = "seq";
const ATTACHMENT_NAME: &str = "attachment_name";
const ATTACHMENT: &str = "attachment";
/// Arrow allows 8 or more; rows are few, so padding to 64 would be most of the file.
const ALIGNMENT_BYTES: usize = 8;

/// Small objects by name.
pub type Attachments = Vec<(String, Bytes)>;

#[derive(Serialize, Deserialize)]
struct EntryMeta {
    seq: Seq,
    rows: usize,
    time_ms: Timestamp,
    writer: WriterId,
    #[serde(default, skip_serializing_if = "is_zero")]
    lost: u32,
    commits: Vec<CommitMeta>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    checkpoint: Option<Checkpoint>,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde passes a reference"
)]
fn is_zero(count: &u32) -> bool {
    *count == 0
}

#[derive(Serialize, Deserialize)]
struct CommitMeta {
    id: CommitId,
    rows: usize,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    note: Option<Value>,
}

/// The object of the last of `entries`, which repeats the ones before it.
///
/// # Errors
///
/// A column has one type in one entry and another in another.
pub fn encode(key: &Key, schema: &SchemaRef, entries: &[Arc<Entry>]) -> Result<Bytes, Corrupt> {
    let batches = numbered(key, entries)?;
    let ours = schema.fields().iter().map(Arc::clone);
    let batch = unite(
        key,
        [seq_field()].into_iter().chain(ours).collect(),
        &batches,
    )?;
    to_file(key, &batch, entries)
}

/// The head: a copy of a checkpoint's entry, followed by a row for each attachment.
///
/// # Errors
///
/// As for [`encode`].
pub fn encode_head(
    key: &Key,
    checkpoint: &Arc<Entry>,
    attachments: &[(String, Bytes)],
) -> Result<Bytes, Corrupt> {
    let entries = [Arc::clone(checkpoint)];
    let mut batches = numbered(key, &entries)?;
    if !attachments.is_empty() {
        batches.push(attached(key, checkpoint.seq, attachments)?);
    }
    let batch = unite(key, vec![seq_field()], &batches)?;
    to_file(key, &batch, &entries)
}

/// The entries in a log object, ascending; the last is the object's own.
///
/// # Errors
///
/// The bytes are not an entry of a known version.
pub fn decode(key: &Key, bytes: Bytes) -> Result<Vec<Arc<Entry>>, Corrupt> {
    let (entries, batch, used) = from_file(key, bytes)?;
    if used != batch.num_rows() {
        return Err(Corrupt::new(key, "it has rows that belong to no entry"));
    }
    let own = entries.last().map(|entry| entry.seq);
    match key {
        Key::Log(_, seq) if own != Some(*seq) => Err(Corrupt::new(
            key,
            "its last entry has another number than its name",
        )),
        _ => Ok(entries),
    }
}

/// The checkpoint in a head, and its attachments.
///
/// # Errors
///
/// The bytes are not a head of a known version.
pub fn decode_head(key: &Key, bytes: Bytes) -> Result<(Arc<Entry>, Attachments), Corrupt> {
    let (mut entries, batch, used) = from_file(key, bytes)?;
    let checkpoint = match (entries.pop(), entries.is_empty()) {
        (Some(entry), true) if entry.header.checkpoint.is_some() => entry,
        _ => return Err(Corrupt::new(key, "it does not hold one checkpoint")),
    };
    let rest = batch.slice(used, batch.num_rows() - used);
    if rest.num_rows() == 0 {
        return Ok((checkpoint, Vec::new()));
    }
    let names = rest
        .column_by_name(ATTACHMENT_NAME)
        .and_then(|column| column.as_string_opt::<i32>());
    let contents = rest
        .column_by_name(ATTACHMENT)
        .and_then(|column| column.as_binary_opt::<i64>());
    let (Some(names), Some(contents)) = (names, contents) else {
        return Err(Corrupt::new(key, "its attachments have no name or content"));
    };
    let attachments = names
        .iter()
        .zip(contents.iter())
        .filter_map(|(name, content)| Some((name?.to_owned(), Bytes::copy_from_slice(content?))))
        .collect();
    // The attachment columns are the head's own, not the domain's.
    let rows = without_columns(key, &checkpoint.rows, &[ATTACHMENT_NAME, ATTACHMENT])?;
    let checkpoint = Entry {
        seq: checkpoint.seq,
        header: checkpoint.header.clone(),
        rows,
    };
    Ok((Arc::new(checkpoint), attachments))
}

/// The rows of several commits as one batch, without `seq`.
///
/// # Errors
///
/// As for [`encode`].
pub(super) fn unite_rows(
    key: &Key,
    schema: &SchemaRef,
    batches: &[RecordBatch],
) -> Result<RecordBatch, Corrupt> {
    unite(
        key,
        schema.fields().iter().map(Arc::clone).collect(),
        batches,
    )
}

/// An Arrow file for a marker: no row, or one with a number.
///
/// # Errors
///
/// Arrow refuses, which it has no reason to.
pub fn marker_file(key: &Key, number: Option<u64>) -> Result<Bytes, Corrupt> {
    let schema = Arc::new(Schema::new(vec![seq_field()]));
    let column: ArrayRef = Arc::new(UInt64Array::from_iter_values(number));
    let batch = RecordBatch::try_new(schema, vec![column]).map_err(bad(key))?;
    to_file(key, &batch, &[])
}

fn bad(key: &Key) -> impl Fn(ArrowError) -> Corrupt {
    let key = key.to_string();
    move |error| Corrupt::caused(&key, "Arrow cannot make sense of it", error)
}

/// Each entry's rows with its number as the first column.
fn numbered(key: &Key, entries: &[Arc<Entry>]) -> Result<Vec<RecordBatch>, Corrupt> {
    entries
        .iter()
        .map(|entry| {
            let rows = &entry.rows;
            let seq: ArrayRef = Arc::new(UInt64Array::from_value(entry.seq.0, rows.num_rows()));
            let mut fields: Vec<FieldRef> = vec![seq_field()];
            fields.extend(rows.schema().fields().iter().map(Arc::clone));
            let mut columns = vec![seq];
            columns.extend(rows.columns().iter().map(Arc::clone));
            RecordBatch::try_new(Arc::new(Schema::new(fields)), columns).map_err(bad(key))
        })
        .collect()
}

fn seq_field() -> FieldRef {
    Arc::new(Field::new(SEQ, DataType::UInt64, false))
}

fn attached(key: &Key, seq: Seq, attachments: &[(String, Bytes)]) -> Result<RecordBatch, Corrupt> {
    let schema = Schema::new(vec![
        Field::new(SEQ, DataType::UInt64, false),
        Field::new(ATTACHMENT_NAME, DataType::Utf8, true),
        Field::new(ATTACHMENT, DataType::LargeBinary, true),
    ]);
    let names = StringArray::from_iter_values(attachments.iter().map(|(name, _)| name));
    let contents =
        LargeBinaryArray::from_iter_values(attachments.iter().map(|(_, content)| content));
    let columns: Vec<ArrayRef> = vec![
        Arc::new(UInt64Array::from_value(seq.0, attachments.len())),
        Arc::new(names),
        Arc::new(contents),
    ];
    RecordBatch::try_new(Arc::new(schema), columns).map_err(bad(key))
}

/// One batch with every column that any of them has. Columns that a writer did
/// not know are null in its rows; columns that we do not know are kept, so that
/// an old process carries what a new one wrote.
fn unite(
    key: &Key,
    mut fields: Vec<FieldRef>,
    batches: &[RecordBatch],
) -> Result<RecordBatch, Corrupt> {
    let theirs: Vec<SchemaRef> = batches.iter().map(RecordBatch::schema).collect();
    for field in theirs.iter().flat_map(|schema| schema.fields().iter()) {
        match fields.iter_mut().find(|known| known.name() == field.name()) {
            None => fields.push(Arc::clone(field)),
            Some(known) if known.data_type() == field.data_type() => {
                if field.is_nullable() && !known.is_nullable() {
                    *known = Arc::new(known.as_ref().clone().with_nullable(true));
                }
            }
            Some(known) => {
                return Err(Corrupt::new(
                    key,
                    format!(
                        "column {} is {} in one entry and {} in another",
                        field.name(),
                        known.data_type(),
                        field.data_type()
                    ),
                ));
            }
        }
    }
    for field in &mut fields {
        let everywhere = theirs
            .iter()
            .zip(batches)
            .all(|(schema, batch)| batch.num_rows() == 0 || schema.index_of(field.name()).is_ok());
        if !everywhere && !field.is_nullable() {
            *field = Arc::new(field.as_ref().clone().with_nullable(true));
        }
    }
    let schema = Arc::new(Schema::new(fields));
    let padded = batches
        .iter()
        .map(|batch| {
            let columns = schema
                .fields()
                .iter()
                .map(|field| {
                    batch.column_by_name(field.name()).map_or_else(
                        || new_null_array(field.data_type(), batch.num_rows()),
                        Arc::clone,
                    )
                })
                .collect();
            RecordBatch::try_new(Arc::clone(&schema), columns).map_err(bad(key))
        })
        .collect::<Result<Vec<_>, _>>()?;
    concat_batches(&schema, &padded).map_err(bad(key))
}

fn to_file(key: &Key, batch: &RecordBatch, entries: &[Arc<Entry>]) -> Result<Bytes, Corrupt> {
    let metas: Vec<EntryMeta> = entries.iter().map(|entry| EntryMeta::of(entry)).collect();
    let metas = serde_json::to_string(&metas)
        .map_err(|error| Corrupt::caused(key, "its header is not JSON", error))?;
    let schema = batch.schema().as_ref().clone().with_metadata(
        [
            (FORMAT_KEY.to_owned(), FORMAT.to_owned()),
            (ENTRIES_KEY.to_owned(), metas),
        ]
        .into(),
    );
    let batch = batch
        .clone()
        .with_schema(Arc::new(schema))
        .map_err(bad(key))?;
    let options =
        IpcWriteOptions::try_new(ALIGNMENT_BYTES, false, MetadataVersion::V5).map_err(bad(key))?;
    let mut writer = FileWriter::try_new_with_options(Vec::new(), batch.schema_ref(), options)
        .map_err(bad(key))?;
    writer.write(&batch).map_err(bad(key))?;
    let file = writer.into_inner().map_err(bad(key))?;
    seal::seal(&file).map_err(|error| Corrupt::caused(key, "it cannot be sealed", error))
}

/// The entries of a file, all of its rows, and how many belong to the entries.
fn from_file(key: &Key, bytes: Bytes) -> Result<(Vec<Arc<Entry>>, RecordBatch, usize), Corrupt> {
    seal::check(&bytes).map_err(|error| Corrupt::caused(key, "it is damaged", error))?;
    let reader = FileReader::try_new(Cursor::new(bytes), None).map_err(bad(key))?;
    let schema = reader.schema();
    match schema.metadata().get(FORMAT_KEY).map(String::as_str) {
        Some(FORMAT) => {}
        Some(other) => {
            return Err(Corrupt::new(
                key,
                format!("its format is {other:?}, this version reads {FORMAT:?}: upgrade"),
            ));
        }
        None => return Err(Corrupt::new(key, "it says no format")),
    }
    let metas = schema
        .metadata()
        .get(ENTRIES_KEY)
        .ok_or_else(|| Corrupt::new(key, "it says no entries"))?;
    let metas: Vec<EntryMeta> = serde_json::from_str(metas)
        .map_err(|error| Corrupt::caused(key, "its list of entries is malformed", error))?;
    let batches = reader.collect::<Result<Vec<_>, _>>().map_err(bad(key))?;
    let plain = Arc::new(Schema::new(schema.fields().clone()));
    let batches = batches
        .into_iter()
        .map(|batch| RecordBatch::try_new(Arc::clone(&plain), batch.columns().to_vec()))
        .collect::<Result<Vec<_>, _>>()
        .map_err(bad(key))?;
    let batch = concat_batches(&plain, &batches).map_err(bad(key))?;
    let numbers = batch
        .column_by_name(SEQ)
        .and_then(|column| column.as_primitive_opt::<UInt64Type>())
        .ok_or_else(|| Corrupt::new(key, "it has no column seq of unsigned 64-bit integers"))?
        .clone();
    let rows = without_columns(key, &batch, &[SEQ])?;
    let mut used = 0_usize;
    let mut entries: Vec<Arc<Entry>> = Vec::with_capacity(metas.len());
    for meta in metas {
        let end = used
            .checked_add(meta.rows)
            .filter(|end| *end <= batch.num_rows())
            .ok_or_else(|| Corrupt::new(key, "its entries claim more rows than it has"))?;
        let own = numbers.slice(used, meta.rows);
        if own.null_count() > 0 || own.values().iter().any(|seq| *seq != meta.seq.0) {
            return Err(Corrupt::new(
                key,
                "its rows are numbered unlike its entries",
            ));
        }
        if entries
            .last()
            .is_some_and(|before| before.seq.next() != meta.seq)
        {
            return Err(Corrupt::new(key, "its entries are not consecutive"));
        }
        entries.push(Arc::new(meta.into_entry(key, rows.slice(used, own.len()))?));
        used = end;
    }
    Ok((entries, batch, used))
}

fn without_columns(key: &Key, batch: &RecordBatch, drop: &[&str]) -> Result<RecordBatch, Corrupt> {
    let schema = batch.schema();
    let kept = schema
        .fields()
        .iter()
        .zip(batch.columns())
        .filter(|(field, _)| !drop.contains(&field.name().as_str()));
    let (fields, columns): (Vec<FieldRef>, Vec<ArrayRef>) = kept
        .map(|(field, column)| (Arc::clone(field), Arc::clone(column)))
        .unzip();
    let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
    RecordBatch::try_new_with_options(Arc::new(Schema::new(fields)), columns, &options)
        .map_err(bad(key))
}

impl EntryMeta {
    fn of(entry: &Entry) -> Self {
        Self {
            seq: entry.seq,
            rows: entry.rows.num_rows(),
            time_ms: entry.header.time,
            writer: entry.header.writer,
            lost: entry.header.lost,
            commits: entry
                .header
                .commits
                .iter()
                .map(|commit| CommitMeta {
                    id: commit.id,
                    rows: commit.rows.len(),
                    note: commit.note.clone(),
                })
                .collect(),
            checkpoint: entry.header.checkpoint.clone(),
        }
    }

    fn into_entry(self, key: &Key, rows: RecordBatch) -> Result<Entry, Corrupt> {
        let mut at = 0_usize;
        let mut commits = Vec::with_capacity(self.commits.len());
        for commit in self.commits {
            let end = at.saturating_add(commit.rows);
            commits.push(Commit {
                id: commit.id,
                rows: at..end,
                note: commit.note,
            });
            at = end;
        }
        if at != self.rows {
            return Err(Corrupt::new(key, "its commits do not add up to its rows"));
        }
        Ok(Entry {
            seq: self.seq,
            header: Header {
                time: self.time_ms,
                writer: self.writer,
                lost: self.lost,
                commits,
                checkpoint: self.checkpoint,
            },
            rows,
        })
    }
}
