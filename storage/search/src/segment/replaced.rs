//! Rows of segments that later changes replaced, and what the collection's statistics
//! lose by that.
//!
//! Segments never change, so whoever replaces a row of one says so beside its own: a
//! change of the log says which row it replaces, a newer segment sums up what its changes
//! do to older ones. It must not know why a row was replaced.

use std::collections::BTreeMap;

use crate::bm25::Totals;
use crate::postings::{DocSet, TermHash};
use crate::record::{Embedding, Record};
use crate::text::DocumentTerms;

use super::error::SegmentError;

const PART: &str = "what a change replaces";
const SEGMENT_BYTES: usize = 16;
const HASH_BYTES: usize = 8;

/// One row of a segment that a change replaces.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Replacement {
    /// The segment.
    pub segment: u128,
    /// The row, by number.
    pub row: u32,
    /// Length of the replaced texts in words.
    pub length: u32,
    /// What the replaced row had for vectors.
    pub vectors: VectorState,
    /// The terms of the replaced texts, ascending.
    pub terms: Vec<TermHash>,
}

/// What a record has for vectors.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum VectorState {
    /// None are due.
    #[default]
    None,
    /// They are due.
    Pending,
    /// They are there.
    Ready,
}

impl VectorState {
    /// The state of a record.
    pub fn of(record: &Record) -> Self {
        match &record.embedding {
            Embedding::None => Self::None,
            Embedding::Pending { .. } => Self::Pending,
            Embedding::Ready { .. } => Self::Ready,
        }
    }
}

impl Replacement {
    /// What replacing this record, which is that row, means.
    pub fn of(segment: u128, row: u32, record: &Record) -> Self {
        let terms = DocumentTerms::of(record.texts());
        let mut hashes: Vec<TermHash> = terms
            .counts
            .keys()
            .map(|term| TermHash::text(term))
            .collect();
        hashes.sort_unstable();
        hashes.dedup();
        Self {
            segment,
            row,
            length: terms.length,
            vectors: VectorState::of(record),
            terms: hashes,
        }
    }

    /// The bytes: segment (16, big-endian), row u32, length u32, vectors u8, and 8 for each
    /// term; all but the segment little-endian.
    pub fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(SEGMENT_BYTES + 9 + self.terms.len() * HASH_BYTES);
        bytes.extend(self.segment.to_be_bytes());
        bytes.extend(self.row.to_le_bytes());
        bytes.extend(self.length.to_le_bytes());
        bytes.push(match self.vectors {
            VectorState::None => 0,
            VectorState::Pending => 1,
            VectorState::Ready => 2,
        });
        for term in &self.terms {
            bytes.extend(term.to_le_bytes());
        }
        bytes
    }

    /// Reads what [`Replacement::encode`] wrote.
    pub fn decode(bytes: &[u8]) -> Result<Self, SegmentError> {
        let short = || SegmentError::Missing { part: PART };
        let (segment, rest) = bytes
            .split_first_chunk::<SEGMENT_BYTES>()
            .ok_or_else(short)?;
        let (row, rest) = rest.split_first_chunk().ok_or_else(short)?;
        let (length, rest) = rest.split_first_chunk().ok_or_else(short)?;
        let (vectors, rest) = rest.split_first().ok_or_else(short)?;
        let (terms, rest) = rest.as_chunks::<HASH_BYTES>();
        let vectors = match (vectors, rest.is_empty()) {
            (0, true) => VectorState::None,
            (1, true) => VectorState::Pending,
            (2, true) => VectorState::Ready,
            _ => return Err(short()),
        };
        Ok(Self {
            segment: u128::from_be_bytes(*segment),
            row: u32::from_le_bytes(*row),
            length: u32::from_le_bytes(*length),
            vectors,
            terms: terms
                .iter()
                .map(|term| TermHash::from_le_bytes(*term))
                .collect(),
        })
    }
}

/// What is replaced in one segment.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ReplacedIn {
    /// The rows.
    pub rows: DocSet,
    /// How many of these have a term.
    pub terms: BTreeMap<TermHash, u32>,
    /// Sum of their lengths in words.
    pub length: u64,
    /// How many of them have vectors.
    pub embedded: u64,
    /// How many of them are due for vectors.
    pub pending: u64,
}

/// What is replaced, by segment.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Replaced {
    segments: BTreeMap<u128, ReplacedIn>,
}

impl Replaced {
    /// Adds a row, once however often it is added.
    pub fn add(&mut self, replacement: &Replacement) {
        let within = self.segments.entry(replacement.segment).or_default();
        if !within.rows.insert(replacement.row) {
            return;
        }
        for term in &replacement.terms {
            *within.terms.entry(*term).or_default() += 1;
        }
        within.length += u64::from(replacement.length);
        match replacement.vectors {
            VectorState::None => {}
            VectorState::Pending => within.pending += 1,
            VectorState::Ready => within.embedded += 1,
        }
    }

    /// Adds what is replaced in one segment, whose rows are not in here yet.
    pub fn add_all(&mut self, segment: u128, other: &ReplacedIn) {
        let within = self.segments.entry(segment).or_default();
        within.rows |= &other.rows;
        for (term, count) in &other.terms {
            *within.terms.entry(*term).or_default() += count;
        }
        within.length += other.length;
        within.embedded += other.embedded;
        within.pending += other.pending;
    }

    /// What is replaced in a segment.
    pub fn within(&self, segment: u128) -> Option<&ReplacedIn> {
        self.segments.get(&segment)
    }

    /// What is replaced, segment by segment.
    pub fn segments(&self) -> impl Iterator<Item = (u128, &ReplacedIn)> {
        self.segments
            .iter()
            .map(|(segment, within)| (*segment, within))
    }

    /// Drops what is said of segments that are gone.
    pub fn retain(&mut self, keep: impl Fn(u128) -> bool) {
        self.segments.retain(|segment, _| keep(*segment));
    }

    /// Whether a row is replaced.
    pub fn contains(&self, segment: u128, row: u32) -> bool {
        self.within(segment)
            .is_some_and(|within| within.rows.contains(row))
    }
}

impl ReplacedIn {
    /// What the statistics lose.
    pub fn totals(&self) -> Totals {
        Totals {
            records: self.rows.len(),
            length: self.length,
        }
    }
}
