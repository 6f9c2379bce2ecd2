//! One decoded block of a list, and the decoding.
//!
//! It is a buffer that a reader uses again and again. What it decodes is checked, so
//! that rows ascend whatever the bytes.

use super::{BLOCK, Form, List, PART, Posting};
use crate::bits;
use crate::postings::PostingsError;

/// The numbers of up to [`BLOCK`] postings.
#[derive(Debug, Clone)]
pub(in crate::postings) struct Block {
    len: usize,
    docs: [u32; BLOCK],
    tfs: [u32; BLOCK],
    lengths: [u32; BLOCK],
}

impl Default for Block {
    fn default() -> Self {
        Self {
            len: 0,
            docs: [0; BLOCK],
            tfs: [0; BLOCK],
            lengths: [0; BLOCK],
        }
    }
}

impl Block {
    pub(in crate::postings) fn docs(&self) -> &[u32] {
        self.docs.get(..self.len).unwrap_or_default()
    }

    pub(in crate::postings) fn get(&self, at: usize) -> Option<Posting> {
        if at >= self.len {
            return None;
        }
        Some(Posting {
            doc: *self.docs.get(at)?,
            tf: *self.tfs.get(at)?,
            length: *self.lengths.get(at)?,
        })
    }

    /// The postings from a place on.
    pub(in crate::postings) fn from(&self, at: usize) -> impl Iterator<Item = Posting> + '_ {
        let part = |numbers: &'_ [u32; BLOCK]| -> std::ops::Range<usize> {
            at.min(self.len)..self.len.min(numbers.len())
        };
        let docs = self.docs.get(part(&self.docs)).unwrap_or_default();
        let tfs = self.tfs.get(part(&self.tfs)).unwrap_or_default();
        let lengths = self.lengths.get(part(&self.lengths)).unwrap_or_default();
        docs.iter()
            .zip(tfs)
            .zip(lengths)
            .map(|((doc, tf), length)| Posting {
                doc: *doc,
                tf: *tf,
                length: *length,
            })
    }

    pub(in crate::postings) fn postings(&self) -> impl Iterator<Item = Posting> + '_ {
        self.from(0)
    }
}

impl List {
    /// Decodes a block into `into`; past the last, nothing.
    pub(in crate::postings) fn decode(
        &self,
        index: usize,
        into: &mut Block,
    ) -> Result<(), PostingsError> {
        into.len = 0;
        let malformed = PostingsError::Malformed { part: PART };
        let Some(header) = self.headers.get(index) else {
            return Ok(());
        };
        let len = self.len_of(index);
        let mut at = header.data;
        let mut packed = |count: usize, width: u8| {
            let from = at;
            at += bits::packed_len(count, width);
            self.bytes
                .get(from..at)
                .ok_or(PostingsError::Truncated { part: PART })
        };
        let (Some(docs), Some(tfs), Some(lengths)) = (
            into.docs.get_mut(..len),
            into.tfs.get_mut(..len),
            into.lengths.get_mut(..len),
        ) else {
            return Err(malformed);
        };
        let Some((first, gaps)) = docs.split_first_mut() else {
            return Err(malformed);
        };
        bits::unpack(packed(gaps.len(), header.gaps)?, header.gaps, gaps);
        *first = header.first;
        let mut before = u64::from(header.first);
        for gap in gaps {
            before += u64::from(*gap) + 1;
            // Past the end it wraps, and the last number says so below.
            *gap = u32::try_from(before & u64::from(u32::MAX)).unwrap_or_default();
        }
        let end = self
            .headers
            .get(index + 1)
            .map_or(1 << 32, |next| u64::from(next.first));
        if before >= end {
            return Err(malformed);
        }
        if self.form == Form::Scored {
            bits::unpack(packed(len, header.tfs)?, header.tfs, tfs);
            bits::unpack(packed(len, header.lengths)?, header.lengths, lengths);
            for tf in tfs {
                *tf = tf.saturating_add(header.least_tf);
            }
            for length in lengths {
                *length = length.saturating_add(header.least_length);
            }
        }
        into.len = len;
        Ok(())
    }
}
