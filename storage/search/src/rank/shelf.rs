//! What has been fetched, and what is missed while ranking.
//!
//! Whoever ranks takes parts of segments from here, checked, and goes on without those
//! that are missing; they are what the query needs next.

use std::collections::BTreeSet;
use std::ops::Range;

use bytes::Bytes;

use crate::postings::{Bucket, DocSet, List, TermHash};
use crate::record::{self, Record};
use crate::segment::{Keys, Root, SegmentError, Series, Vectors, check_part, read_block};
use crate::snapshot::SegmentRef;
use crate::step::{Part, Ranges, Read, SearchError};

/// What has been fetched, and what is missing.
#[derive(Debug)]
pub(super) struct Shelf<'a> {
    fetched: &'a Ranges,
    missing: Vec<Read>,
}

/// A posting list, as far as is known.
#[derive(Debug)]
pub(super) enum Found {
    /// It is here.
    List(List),
    /// No row has the term.
    Nothing,
    /// It has to be fetched.
    Missing,
}

impl<'a> Shelf<'a> {
    pub(super) fn new(fetched: &'a Ranges) -> Self {
        Self {
            fetched,
            missing: Vec::new(),
        }
    }

    pub(super) fn is_missing_any(&self) -> bool {
        !self.missing.is_empty()
    }

    pub(super) fn into_missing(self) -> Vec<Read> {
        self.missing
    }

    fn get(&mut self, segment: u128, part: Part, range: Range<u64>) -> Option<Bytes> {
        let read = Read {
            segment,
            part,
            range,
        };
        let found = self.fetched.get(&read).cloned();
        if found.is_none() && !self.missing.contains(&read) {
            self.missing.push(read);
        }
        found
    }

    /// The list of a term in a segment.
    pub(super) fn list(
        &mut self,
        segment: SegmentRef<'_>,
        term: TermHash,
    ) -> Result<Found, SearchError> {
        let Some(range) = segment.root.postings.locate(term) else {
            return Ok(Found::Nothing);
        };
        let Some(bytes) = self.get(segment.id, Part::Postings, range) else {
            return Ok(Found::Missing);
        };
        let list = Bucket::open(&bytes)
            .and_then(|bucket| bucket.find(term))
            .map_err(|error| unreadable(segment, SegmentError::Postings(error)))?;
        Ok(list.map_or(Found::Nothing, Found::List))
    }

    /// The rows of a segment that have these keys in a series of its sorted index; nothing
    /// if they have to be fetched.
    pub(super) fn sorted(
        &mut self,
        segment: SegmentRef<'_>,
        series: &Series,
        keys: &Keys,
    ) -> Result<Option<DocSet>, SearchError> {
        let blocks = series.blocks_of(keys);
        let Some(range) = series.range(&blocks) else {
            return Ok(Some(DocSet::new()));
        };
        let Some(bytes) = self.get(segment.id, Part::Postings, range) else {
            return Ok(None);
        };
        series
            .rows(blocks, keys, &bytes)
            .map(Some)
            .map_err(|error| unreadable(segment, error))
    }

    /// The entries of neighbouring lists of vectors, list by list.
    pub(super) fn entries(
        &mut self,
        segment: SegmentRef<'_>,
        vectors: &Vectors,
        lists: Range<usize>,
    ) -> Result<Option<Vec<(usize, Bytes)>>, SearchError> {
        let missing = || {
            let part = "a list of vectors";
            unreadable(segment, SegmentError::Missing { part })
        };
        let run = vectors.range(lists.clone()).ok_or_else(missing)?;
        let Some(bytes) = self.get(segment.id, Part::Codes, run.clone()) else {
            return Ok(None);
        };
        lists
            .map(|list| {
                let range = vectors.range(list..list + 1).ok_or_else(missing)?;
                let place = |at: u64| usize::try_from(at - run.start).unwrap_or(usize::MAX);
                let (start, end) = (place(range.start), place(range.end));
                if end > bytes.len() {
                    return Err(missing());
                }
                let entries = bytes.slice(start..end);
                let crc = vectors.crc(list).ok_or_else(missing)?;
                check_part("a list of vectors", range.end - range.start, crc, &entries)
                    .map_err(|error| unreadable(segment, error))?;
                Ok((list, entries))
            })
            .collect::<Result<_, _>>()
            .map(Some)
    }

    /// The records of rows of a segment, block by block; those whose block is missing are
    /// left out.
    pub(super) fn records(
        &mut self,
        segment: SegmentRef<'_>,
        rows: &BTreeSet<u32>,
    ) -> Result<Vec<(u32, Record)>, SearchError> {
        let root: &Root = segment.root;
        let mut records = Vec::new();
        let mut rows = rows.iter().copied().peekable();
        while let Some(row) = rows.next() {
            let missing = || {
                let part = "a row";
                unreadable(segment, SegmentError::Missing { part })
            };
            let (number, within) = root.block_of(row).ok_or_else(missing)?;
            let block = *root.blocks.get(number).ok_or_else(missing)?;
            let first = row - within;
            let mut wanted = vec![row];
            while let Some(next) = rows.next_if(|next| next - first < block.rows) {
                wanted.push(next);
            }
            let range = block.offset..block.offset + u64::from(block.len);
            let Some(bytes) = self.get(segment.id, Part::Rows, range) else {
                continue;
            };
            let batch = read_block("a block of rows", &root.schema, block, &bytes)
                .map_err(|error| unreadable(segment, error))?;
            for row in wanted {
                let one = batch.slice((row - first) as usize, 1);
                let decoded = record::decode(&one)
                    .map_err(|error| unreadable(segment, SegmentError::Records(error)))?;
                records.extend(decoded.into_iter().map(|record| (row, record)));
            }
        }
        Ok(records)
    }
}

pub(super) fn unreadable(segment: SegmentRef<'_>, source: SegmentError) -> SearchError {
    SearchError::Segment {
        segment: segment.id,
        source,
    }
}
