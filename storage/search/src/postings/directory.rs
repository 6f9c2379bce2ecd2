//! The directory: which bytes of the blob to fetch for a term.
//!
//! It lies in the root of the segment, so it has one entry for a bucket and not for a
//! term; a frequent term has a bucket of its own and its frequency here, so that its
//! selectivity is known before anything is fetched.

use std::ops::Range;

use super::PostingsError;
use super::hash::TermHash;
use super::varint::{self, Reader};

const VERSION: u8 = 1;
const PART: &str = "the directory";

/// Where the lists of a segment lie.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Directory {
    /// The lists in shared buckets have fewer rows than this.
    frequent: u32,
    /// First hashes of the buckets, ascending.
    firsts: Vec<u64>,
    /// Where the buckets end in the blob.
    ends: Vec<u64>,
    /// How many rows have a bucket's only term; 0 for a bucket of many terms.
    frequencies: Vec<u32>,
}

/// What the directory knows of the number of rows that have a term, dead ones included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Frequency {
    /// No row has it.
    None,
    /// Fewer rows than this have it, perhaps none.
    Below(u32),
    /// So many rows have it.
    Exactly(u32),
}

impl Directory {
    pub(super) fn new(frequent: u32) -> Self {
        Self {
            frequent,
            ..Self::default()
        }
    }

    /// Adds the next bucket.
    pub(super) fn push(&mut self, first: TermHash, len: u64, frequency: Option<u32>) {
        self.firsts.push(first.to_u64());
        self.ends.push(self.blob_len() + len);
        self.frequencies.push(frequency.unwrap_or_default());
    }

    /// The bytes of the blob in which a term's list lies, if it has one; `None` where the
    /// directory knows that it has none.
    pub fn locate(&self, term: TermHash) -> Option<Range<u64>> {
        self.range(self.bucket(term)?)
    }

    /// The bucket in which a term's list lies, if it has one.
    pub fn bucket(&self, term: TermHash) -> Option<usize> {
        let term = term.to_u64();
        let after = self.firsts.partition_point(|first| *first <= term);
        let bucket = after.checked_sub(1)?;
        let is_own = self.frequencies.get(bucket).is_some_and(|count| *count > 0);
        if is_own && self.firsts.get(bucket) != Some(&term) {
            return None;
        }
        Some(bucket)
    }

    /// The bytes of a bucket in the blob.
    pub fn range(&self, bucket: usize) -> Option<Range<u64>> {
        let end = *self.ends.get(bucket)?;
        let start = match bucket.checked_sub(1) {
            Some(before) => *self.ends.get(before)?,
            None => 0,
        };
        Some(start..end)
    }

    /// How many rows have a term.
    pub fn frequency(&self, term: TermHash) -> Frequency {
        let Some(bucket) = self.bucket(term) else {
            return Frequency::None;
        };
        match self.frequencies.get(bucket).copied() {
            None | Some(0) => Frequency::Below(self.frequent),
            Some(count) => Frequency::Exactly(count),
        }
    }

    /// The number of buckets.
    pub fn buckets(&self) -> usize {
        self.firsts.len()
    }

    /// The bytes of the blob.
    pub fn blob_len(&self) -> u64 {
        self.ends.last().copied().unwrap_or_default()
    }

    /// The directory as bytes.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = vec![VERSION];
        varint::push(&mut out, u64::from(self.frequent));
        varint::push(&mut out, self.firsts.len() as u64);
        let (mut hash, mut start) = (0, 0);
        let buckets = self.firsts.iter().zip(&self.ends).zip(&self.frequencies);
        for ((first, end), frequency) in buckets {
            varint::push(&mut out, first - hash);
            varint::push(&mut out, end - start);
            varint::push(&mut out, u64::from(*frequency));
            (hash, start) = (*first, *end);
        }
        out
    }

    /// The directory in bytes.
    pub fn decode(bytes: &[u8]) -> Result<Self, PostingsError> {
        let mut reader = Reader::new(PART, bytes);
        let found = reader.u8()?;
        if found != VERSION {
            return Err(PostingsError::Version { found });
        }
        let mut directory = Self::new(reader.u32()?);
        let count = reader.usize()?;
        let mut hash = 0_u64;
        for index in 0..count {
            let delta = reader.u64()?;
            let len = reader.u64()?;
            let frequency = reader.u32()?;
            let is_ascending = index == 0 || delta > 0;
            let end = directory.blob_len().checked_add(len);
            let (Some(first), Some(_), true) = (hash.checked_add(delta), end, is_ascending) else {
                return Err(reader.malformed());
            };
            hash = first;
            directory.push(TermHash::from_u64(first), len, Some(frequency));
        }
        if !reader.is_at_end() {
            return Err(reader.malformed());
        }
        Ok(directory)
    }
}
