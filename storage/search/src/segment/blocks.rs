//! An Arrow file that is read one record batch at a time, by range.
//!
//! Arrow keeps the places of its batches in a footer at the end, which a reader would
//! have to fetch first; here they are kept apart, each with a checksum, because Arrow's
//! reader panics on some damaged bytes. It must not know what the rows mean.

use std::fmt;

use arrow_array::RecordBatch;
use arrow_buffer::Buffer;
use arrow_ipc::reader::FileDecoder;
use arrow_ipc::writer::{FileWriter, IpcWriteOptions};
use arrow_ipc::{Block as IpcBlock, MetadataVersion};
use arrow_schema::{ArrowError, SchemaRef};
use bytes::Bytes;

use super::SegmentError;

/// Arrow allows 8 or more; blocks are small, so padding to 64 would be a good part of them.
const ALIGNMENT_BYTES: usize = 8;
/// The marker of a message and its length, before its metadata.
pub(super) const PREFIX_BYTES: usize = 8;

/// One record batch within a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Block {
    /// Its first byte.
    pub offset: u64,
    /// Its bytes.
    pub len: u32,
    /// Its rows.
    pub rows: u32,
    /// The CRC-32 of its bytes.
    pub crc: u32,
}

/// Writes a file batch by batch; what is written can be taken away meanwhile, so that
/// memory is bounded by a batch.
pub struct BlockWriter {
    part: &'static str,
    writer: FileWriter<Vec<u8>>,
    taken: u64,
    blocks: Vec<Block>,
}

impl fmt::Debug for BlockWriter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BlockWriter")
            .field("part", &self.part)
            .field("blocks", &self.blocks.len())
            .finish_non_exhaustive()
    }
}

impl BlockWriter {
    /// Starts a file; `part` names it in errors.
    pub fn new(part: &'static str, schema: &SchemaRef) -> Result<Self, SegmentError> {
        let options = IpcWriteOptions::try_new(ALIGNMENT_BYTES, false, MetadataVersion::V5)
            .map_err(arrow(part))?;
        let writer =
            FileWriter::try_new_with_options(Vec::new(), schema, options).map_err(arrow(part))?;
        Ok(Self {
            part,
            writer,
            taken: 0,
            blocks: Vec::new(),
        })
    }

    /// Writes one batch, which becomes one block.
    pub fn push(&mut self, batch: &RecordBatch) -> Result<(), SegmentError> {
        let start = self.writer.get_ref().len();
        self.writer.write(batch).map_err(arrow(self.part))?;
        let bytes = self.writer.get_ref().get(start..).unwrap_or_default();
        let too_large = |_| SegmentError::TooLarge { part: self.part };
        self.blocks.push(Block {
            offset: self.taken + start as u64,
            len: u32::try_from(bytes.len()).map_err(too_large)?,
            rows: u32::try_from(batch.num_rows()).map_err(too_large)?,
            crc: checksum(bytes),
        });
        Ok(())
    }

    /// What has been written and not been taken yet.
    pub fn take(&mut self) -> Bytes {
        let bytes = std::mem::take(self.writer.get_mut());
        self.taken += bytes.len() as u64;
        bytes.into()
    }

    /// Ends the file: what has not been taken yet, and where its blocks lie.
    pub fn finish(mut self) -> Result<(Bytes, Vec<Block>), SegmentError> {
        self.writer.finish().map_err(arrow(self.part))?;
        let bytes = self.take();
        Ok((bytes, self.blocks))
    }
}

/// The batch in the bytes of a block.
pub fn read_block(
    part: &'static str,
    schema: &SchemaRef,
    block: Block,
    bytes: &Bytes,
) -> Result<RecordBatch, SegmentError> {
    check(part, u64::from(block.len), block.crc, bytes)?;
    let metadata = bytes
        .get(4..PREFIX_BYTES)
        .and_then(|length| <[u8; 4]>::try_from(length).ok())
        .map(|length| u32::from_le_bytes(length) as usize + PREFIX_BYTES)
        .filter(|metadata| *metadata <= bytes.len())
        .ok_or(SegmentError::Missing { part })?;
    let too_large = |_| SegmentError::TooLarge { part };
    let place = IpcBlock::new(
        0,
        i32::try_from(metadata).map_err(too_large)?,
        i64::try_from(bytes.len() - metadata).map_err(too_large)?,
    );
    FileDecoder::new(SchemaRef::clone(schema), MetadataVersion::V5)
        .read_record_batch(&place, &Buffer::from(bytes.clone()))
        .map_err(arrow(part))?
        .ok_or(SegmentError::Missing { part })
}

/// The checksum that parts of a segment are kept with: CRC-32.
pub fn checksum(bytes: &[u8]) -> u32 {
    crc32fast::hash(bytes)
}

/// Whether bytes are those that were written.
pub(crate) fn check(
    part: &'static str,
    len: u64,
    crc: u32,
    bytes: &[u8],
) -> Result<(), SegmentError> {
    if bytes.len() as u64 != len {
        return Err(SegmentError::Length {
            part,
            expected: len,
            found: bytes.len() as u64,
        });
    }
    let found = checksum(bytes);
    if found != crc {
        return Err(SegmentError::Checksum {
            part,
            expected: crc,
            found,
        });
    }
    Ok(())
}

pub(super) fn arrow(part: &'static str) -> impl Fn(ArrowError) -> SegmentError {
    move |source| SegmentError::Arrow { part, source }
}
