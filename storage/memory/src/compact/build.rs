//! Building a segment's objects from its rows. It does no I/O and draws no name.

use bytes::Bytes;
use ostraca_object::error::Corrupt;
use ostraca_object::key::{SegmentId, Seq};
use ostraca_search::segment::{BlockWriter, Root, SegmentError, Statistics, checksum};

use super::merge::Merged;
use crate::catalogue::SegmentInfo;
use crate::error::{Error, ErrorKind, Result};
use crate::row::{self, Row};

/// Rows in a block: few enough that one hit costs little, so many that Arrow's own
/// bookkeeping is small beside them.
const BLOCK_ROWS: usize = 32;
/// Bytes of content after which a block ends, however few its rows.
const BLOCK_BYTES: usize = 128 << 10;

/// A segment's objects.
#[derive(Debug)]
pub(super) struct Built {
    pub(super) info: SegmentInfo,
    pub(super) root: Bytes,
    pub(super) rows: Bytes,
}

/// A name for a new segment, of 128 random bits.
pub(super) fn name(random: u128) -> Result<SegmentId> {
    format!("{random:032x}").parse().map_err(|error| {
        Error::new(ErrorKind::Internal, "a segment's name is not valid").with_source(error)
    })
}

/// Builds a segment that stands for the entries from `first` to `last`.
pub(super) fn build(id: SegmentId, merged: &Merged, first: Seq, last: Seq) -> Result<Built> {
    let statistics = Statistics {
        rows: merged.len() as u64,
        live: merged.live.len() as u64,
        first: first.0,
        last: last.0,
        ..Statistics::default()
    };
    let mut writer = BlockWriter::new("a block of rows", &row::schema()).map_err(unwritten)?;
    // A block is of live rows or of past ones, so that a search for the present reads no others.
    for block in blocks(&merged.live).chain(blocks(&merged.past)) {
        writer.push(&row::encode(block)?).map_err(unwritten)?;
    }
    let (rows, blocks) = writer.finish().map_err(unwritten)?;
    let root = Root::new(statistics, row::schema(), blocks);
    let bytes = root.encode().map_err(unwritten)?;
    let info = SegmentInfo {
        id,
        rows: root.statistics.rows,
        live: root.statistics.live,
        first,
        last,
        root_bytes: bytes.len() as u64,
        root_crc: checksum(&bytes),
        row_bytes: rows.len() as u64,
    };
    Ok(Built {
        info,
        root: bytes,
        rows,
    })
}

/// Cuts rows into blocks.
fn blocks(rows: &[Row]) -> impl Iterator<Item = &[Row]> {
    let mut rest = rows;
    std::iter::from_fn(move || {
        let mut bytes = 0;
        let end = rest
            .iter()
            .take(BLOCK_ROWS)
            .take_while(|row| {
                let fits = bytes < BLOCK_BYTES;
                bytes += row.change.record.content.len();
                fits
            })
            .count();
        let (block, after) = rest.split_at_checked(end)?;
        rest = after;
        (!block.is_empty()).then_some(block)
    })
}

fn unwritten(error: SegmentError) -> Error {
    Error::from(Corrupt::caused(
        "a new segment",
        "it cannot be written",
        error,
    ))
}
