//! Building a segment's objects from its rows. It does no I/O and draws no name.

use bytes::Bytes;
use ostraca_object::error::Corrupt;
use ostraca_object::key::{SegmentId, Seq};
use ostraca_search::Record;
use ostraca_search::segment::{
    BlockWriter, Replaced, Root, SegmentError, Statistics, checksum, index,
};

use super::merge::Merged;
use crate::catalogue::SegmentInfo;
use crate::error::{Error, Result};
use crate::row::{self, Row};

/// Rows in a block: few enough that one hit costs little, so many that Arrow's own
/// bookkeeping is small beside them.
const BLOCK_ROWS: usize = 16;
/// Bytes of content after which a block ends, however few its rows.
const BLOCK_BYTES: usize = 128 << 10;

/// A segment's objects.
#[derive(Debug)]
pub(super) struct Built {
    pub(super) info: SegmentInfo,
    pub(super) root: Bytes,
    pub(super) rows: Bytes,
    /// Nothing if it is not searched in place, or has no vectors.
    pub(super) codes: Option<Bytes>,
    /// Nothing if it is not searched in place.
    pub(super) postings: Option<Bytes>,
    /// The live rows in their order.
    pub(super) live: Vec<Row>,
}

/// What a segment is built for.
#[derive(Debug)]
pub(super) enum Purpose {
    /// To be read whole.
    Reading,
    /// To be searched in place: the embedding profile whose vectors are indexed, and the
    /// rows of older segments that its own replace.
    Searching(Option<String>, Replaced),
}

/// Builds a segment that stands for the entries from `first` to `last`.
pub(super) fn build(
    id: SegmentId,
    merged: Merged,
    first: Seq,
    last: Seq,
    purpose: Purpose,
) -> Result<Built> {
    let Merged { live, past } = merged;
    let (index, live, replaced) = match purpose {
        Purpose::Reading => (None, live, Replaced::default()),
        Purpose::Searching(profile, replaced) => {
            let records: Vec<&Record> = live.iter().map(|row| &*row.change.record).collect();
            let arranged = index::arrange(&records, profile.as_deref());
            let ids = past.iter().map(|row| row.change.record.id.as_str());
            let index = index::build(&records, &arranged, ids).map_err(unwritten)?;
            let order = arranged.order.iter();
            let ordered = order.filter_map(|place| live.get(*place).cloned());
            (Some(index), ordered.collect(), replaced)
        }
    };
    let mut writer = BlockWriter::new("a block of rows", &row::schema()).map_err(unwritten)?;
    // A block is of live rows or of past ones, so that a search for the present reads no others.
    for block in blocks(&live).chain(blocks(&past)) {
        writer.push(&row::encode(block)?).map_err(unwritten)?;
    }
    let (rows, blocks) = writer.finish().map_err(unwritten)?;
    let mut statistics = Statistics {
        rows: (live.len() + past.len()) as u64,
        live: live.len() as u64,
        first: first.0,
        last: last.0,
        ..Statistics::default()
    };
    let (mut codes, mut postings) = (None, None);
    let mut root = Root::new(statistics.clone(), row::schema(), blocks);
    if let Some(index) = index {
        statistics.length = index.totals.length;
        statistics.embedded = index.embedded;
        statistics.pending = index.pending;
        statistics.inactive = index.inactive;
        root.statistics = statistics;
        root.postings = index.lists;
        root.vectors = index.vectors;
        root.runs = index.runs;
        root.expiring = index.expiring;
        root.replaced = replaced;
        codes = index.codes;
        postings = Some(index.postings);
    }
    let bytes = root.encode().map_err(unwritten)?;
    let length = |part: &Option<Bytes>| part.as_ref().map_or(0, |part| part.len() as u64);
    let info = SegmentInfo {
        id,
        rows: root.statistics.rows,
        live: root.statistics.live,
        first,
        last,
        root_bytes: bytes.len() as u64,
        root_crc: checksum(&bytes),
        row_bytes: rows.len() as u64,
        code_bytes: length(&codes),
        posting_bytes: length(&postings),
    };
    Ok(Built {
        info,
        root: bytes,
        rows,
        codes,
        postings,
        live,
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
