//! An Arrow file of one binary column whose values lie behind each other, so that a byte
//! of them is found by adding an offset and any run of them is one range.
//!
//! It is for parts with a format of their own (codes, posting lists), which a search reads
//! in ranges that no record batch would suit. It must not know what the values hold.

use std::sync::Arc;

use arrow_array::{ArrayRef, FixedSizeBinaryArray, LargeBinaryArray, RecordBatch};
use arrow_buffer::{Buffer, OffsetBuffer};
use arrow_schema::{Field, Schema, SchemaRef};
use bytes::Bytes;

use super::blocks::{BlockWriter, PREFIX_BYTES, arrow};
use super::error::SegmentError;

/// A file, and where the first value lies in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Flat {
    pub(super) file: Bytes,
    pub(super) at: u64,
}

/// A file of values of one width.
pub(super) fn fixed(
    part: &'static str,
    name: &str,
    values: Vec<u8>,
    width: usize,
) -> Result<Flat, SegmentError> {
    let width = i32::try_from(width).map_err(|_| SegmentError::TooLarge { part })?;
    let array = FixedSizeBinaryArray::try_new(width, Buffer::from_vec(values), None)
        .map_err(arrow(part))?;
    // Its only buffer is that of the values.
    write(part, name, Arc::new(array), 0)
}

/// A file of values that end where `ends` says.
pub(super) fn variable(
    part: &'static str,
    name: &str,
    values: Vec<u8>,
    ends: impl Iterator<Item = u64>,
) -> Result<Flat, SegmentError> {
    let mut start = 0;
    let lengths = ends.map(|end| {
        let length = end.saturating_sub(start);
        start = end;
        usize::try_from(length).unwrap_or(usize::MAX)
    });
    let offsets = OffsetBuffer::<i64>::from_lengths(lengths);
    let before = (offsets.len() * size_of::<i64>()) as u64;
    let array =
        LargeBinaryArray::try_new(offsets, Buffer::from_vec(values), None).map_err(arrow(part))?;
    write(part, name, Arc::new(array), before)
}

/// Writes a file of one batch; the values follow `before` bytes of other buffers.
fn write(
    part: &'static str,
    name: &str,
    array: ArrayRef,
    before: u64,
) -> Result<Flat, SegmentError> {
    let field = Field::new(name, array.data_type().clone(), false);
    let schema: SchemaRef = Arc::new(Schema::new(vec![field]));
    let batch =
        RecordBatch::try_new(SchemaRef::clone(&schema), vec![array]).map_err(arrow(part))?;
    let mut writer = BlockWriter::new(part, &schema)?;
    writer.push(&batch)?;
    let (file, blocks) = writer.finish()?;
    let missing = || SegmentError::Missing { part };
    let message = blocks
        .first()
        .map(|block| block.offset)
        .ok_or_else(missing)?;
    let start = usize::try_from(message).map_err(|_| SegmentError::TooLarge { part })?;
    let metadata = file
        .get(start + 4..start + PREFIX_BYTES)
        .and_then(|length| <[u8; 4]>::try_from(length).ok())
        .map(u32::from_le_bytes)
        .ok_or_else(missing)?;
    let at = message + PREFIX_BYTES as u64 + u64::from(metadata) + before;
    Ok(Flat { file, at })
}
