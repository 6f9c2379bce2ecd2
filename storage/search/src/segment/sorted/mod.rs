//! The sorted index of a segment: for each field that holds numbers or instants, its rows
//! in the order of their values, so that a range of values is a range of bytes.
//!
//! It is separate from the posting lists because these know equality alone. The root has
//! where the blocks of each series begin and with which value, so that how many rows a
//! range has is about known before anything is fetched. It must not fetch, nor know
//! filters beyond the values they order.

mod builder;
mod entries;
mod key;
mod ranges;

use std::ops::Range;

use bytes::Bytes;

use super::blocks::check;
use super::error::SegmentError;
use crate::filter::Field;
use crate::postings::DocSet;

pub(crate) use builder::Builder;
pub use key::{Keys, Kind};
pub(crate) use ranges::Ranges;

pub(super) const PART: &str = "a block of the sorted index";

/// What the values belong to.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Name {
    /// A field that filters name.
    Field(Field),
    /// An instant that the user named.
    Timestamp(String),
}

impl Name {
    /// Whether it is one of a record's own fields, of which there are few.
    fn is_own(&self) -> bool {
        !matches!(self, Self::Field(Field::Metadata(_)) | Self::Timestamp(_))
    }
}

/// Which names a sorted index has.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Covered {
    /// None: it was never built, so it tells nothing.
    #[default]
    Nothing,
    /// A record's own fields and the most frequent of the others.
    Frequent,
    /// All of them, so that a name it does not have has no values.
    All,
}

/// The sorted index, as the root has it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sorted {
    /// Which names it has.
    pub covered: Covered,
    /// The series, in the order of their names.
    pub series: Vec<Series>,
}

/// The values of one kind of a name, ascending.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Series {
    /// What the values belong to.
    pub name: Name,
    /// How keys stand for values.
    pub kind: Kind,
    /// The last key.
    pub last: u64,
    /// Its blocks, which lie behind each other.
    pub blocks: Vec<SortedBlock>,
}

/// A part of a series.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SortedBlock {
    /// Its first key.
    pub first: u64,
    /// Its first byte in the file of posting lists.
    pub offset: u64,
    /// Its bytes.
    pub len: u32,
    /// Its entries.
    pub entries: u32,
    /// The CRC-32 of its bytes.
    pub crc: u32,
}

impl Sorted {
    /// The places of a name's series; `None` if the index does not tell what values it has.
    pub(crate) fn of(&self, name: &Name) -> Option<Vec<usize>> {
        let start = self.series.partition_point(|series| series.name < *name);
        let rest = self.series.get(start..).unwrap_or_default();
        let count = rest.partition_point(|series| series.name == *name);
        let is_known = match self.covered {
            Covered::Nothing => false,
            Covered::Frequent => count > 0 || name.is_own(),
            Covered::All => true,
        };
        is_known.then(|| (start..start + count).collect())
    }

    /// The bytes of all blocks, which follow each other.
    pub(super) fn ends(&self) -> impl Iterator<Item = u64> {
        let blocks = self.series.iter().flat_map(|series| &series.blocks);
        blocks.map(|block| block.offset + u64::from(block.len))
    }

    /// The index after its blocks have been put behind so many bytes.
    pub(super) fn behind(mut self, before: u64) -> Self {
        let blocks = self.series.iter_mut().flat_map(|series| &mut series.blocks);
        for block in blocks {
            block.offset += before;
        }
        self
    }
}

impl Series {
    /// How many rows it has.
    pub(crate) fn entries(&self) -> u64 {
        self.blocks
            .iter()
            .map(|block| u64::from(block.entries))
            .sum()
    }

    /// The blocks that can have these keys.
    pub(crate) fn blocks_of(&self, keys: &Keys) -> Range<usize> {
        let (first, last) = (*keys.start(), *keys.end());
        if keys.is_empty() || first > self.last {
            return 0..0;
        }
        // Rows of one value may begin in the block before the one that starts with it.
        let after = self.blocks.partition_point(|block| block.first < first);
        let end = self.blocks.partition_point(|block| block.first <= last);
        after.saturating_sub(1).min(end)..end
    }

    /// The bytes of neighbouring blocks in the file of posting lists; `None` if there are no
    /// blocks.
    pub(crate) fn range(&self, blocks: &Range<usize>) -> Option<Range<u64>> {
        let blocks = self.blocks.get(blocks.clone())?;
        let (first, last) = (blocks.first()?, blocks.last()?);
        Some(first.offset..last.offset + u64::from(last.len))
    }

    /// About how many rows have these keys: whole blocks, and of those at the ends the
    /// share of their span.
    pub(crate) fn estimate(&self, keys: &Keys) -> f64 {
        let blocks = self.blocks_of(keys);
        let mut rows = 0.0;
        for number in blocks {
            let Some(block) = self.blocks.get(number) else {
                continue;
            };
            let next = self.blocks.get(number + 1);
            let (start, end) = (block.first, next.map_or(self.last, |next| next.first));
            let (from, to) = (start.max(*keys.start()), end.min(*keys.end()));
            if from > to {
                continue;
            }
            let span = |from: u64, to: u64| to.saturating_sub(from) as f64 + 1.0;
            rows += f64::from(block.entries) * (span(from, to) / span(start, end));
        }
        rows
    }

    /// The rows that have these keys, in the bytes of neighbouring blocks.
    pub(crate) fn rows(
        &self,
        blocks: Range<usize>,
        keys: &Keys,
        bytes: &Bytes,
    ) -> Result<DocSet, SegmentError> {
        let mut rows = DocSet::new();
        let mut rest = bytes.as_ref();
        for block in self.blocks.get(blocks).unwrap_or_default() {
            let len = block.len as usize;
            let (own, others) = rest
                .split_at_checked(len)
                .ok_or_else(|| SegmentError::Length {
                    part: PART,
                    expected: u64::from(block.len),
                    found: rest.len() as u64,
                })?;
            check(PART, u64::from(block.len), block.crc, own)?;
            entries::decode(own, block.first, block.entries, |key, row| {
                if keys.contains(&key) {
                    rows.insert(row);
                }
            })
            .ok_or(SegmentError::Missing { part: PART })?;
            rest = others;
        }
        Ok(rows)
    }
}

#[cfg(test)]
mod tests;
