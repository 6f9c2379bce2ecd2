//! A posting list: the rows that have a term, ascending, and how they have it.
//!
//! The list lies in memory as it lies in its bucket, with its block headers parsed;
//! blocks are decoded when they are asked for. Lengths lie beside the frequencies, so
//! that a score needs nothing but the list. It must not know statistics or weights.

mod block;
mod writer;

use std::ops::Range;

use bytes::Bytes;
use roaring::RoaringBitmap;

pub(super) use block::Block;
pub(super) use writer::ListWriter;

use super::PostingsError;
use super::hash::TermHash;
use super::impact::{self, Impact};
use super::varint::Reader;
use crate::bits;

/// A set of rows, by number.
pub type DocSet = RoaringBitmap;

/// Postings in a block; only the last of a list has fewer.
pub(super) const BLOCK: usize = 128;

const PART: &str = "a posting list";

/// One row that has a term.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Posting {
    /// The row, by number.
    pub doc: u32,
    /// Occurrences of the term; 0 for a name or a field's value.
    pub tf: u32,
    /// Length of the row's texts in words; 0 for a name or a field's value.
    pub length: u32,
}

/// What a list says of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// That it has the term.
    Plain,
    /// How often, and how long it is.
    Scored,
}

impl Form {
    /// The form of a term's list.
    pub(super) fn of(term: TermHash) -> Self {
        if term.is_scored() {
            Self::Scored
        } else {
            Self::Plain
        }
    }
}

/// The posting list of one term.
#[derive(Debug, Clone)]
pub struct List {
    form: Form,
    count: u32,
    bytes: Bytes,
    headers: Vec<Header>,
    impacts: Vec<Impact>,
}

/// What is known of a block before it is decoded.
#[derive(Debug, Clone)]
struct Header {
    first: u32,
    /// Its packed numbers within the bytes of the list.
    data: usize,
    gaps: u8,
    tfs: u8,
    lengths: u8,
    least_tf: u32,
    least_length: u32,
    impacts: Range<usize>,
}

impl List {
    /// Parses a list as an entry has it and returns how many bytes that is.
    pub(super) fn parse(
        form: Form,
        bytes: &Bytes,
        at: usize,
    ) -> Result<(Self, usize), PostingsError> {
        let mut reader = Reader::from(PART, bytes, at);
        let count = reader.u32()?;
        if count == 1 {
            let list = Self::single(form, &mut reader)?;
            return Ok((list, reader.position()));
        }
        let len = reader.usize()?;
        let start = reader.position();
        reader.take(len)?;
        let list = Self::of(form, count, &bytes.slice(start..start + len))?;
        Ok((list, start + len))
    }

    /// Passes over a list and returns where it ends.
    pub(super) fn skip(form: Form, bytes: &[u8], at: usize) -> Result<usize, PostingsError> {
        let mut reader = Reader::from(PART, bytes, at);
        if reader.u32()? == 1 {
            reader.u32()?;
            if form == Form::Scored {
                reader.u32()?;
                reader.u32()?;
            }
        } else {
            let len = reader.usize()?;
            reader.take(len)?;
        }
        Ok(reader.position())
    }

    fn single(form: Form, reader: &mut Reader<'_>) -> Result<Self, PostingsError> {
        let first = reader.u32()?;
        let (least_tf, least_length) = match form {
            Form::Plain => (0, 0),
            Form::Scored => (reader.u32()?, reader.u32()?),
        };
        let header = Header {
            first,
            data: 0,
            gaps: 0,
            tfs: 0,
            lengths: 0,
            least_tf,
            least_length,
            impacts: 0..1,
        };
        Ok(Self {
            form,
            count: 1,
            bytes: Bytes::new(),
            headers: vec![header],
            impacts: vec![Impact {
                tf: least_tf,
                length: least_length,
            }],
        })
    }

    fn of(form: Form, count: u32, bytes: &Bytes) -> Result<Self, PostingsError> {
        let blocks = (count as usize).div_ceil(BLOCK);
        // A header takes at least two bytes, so that damaged counts allocate nothing.
        if blocks == 0 || blocks * 2 > bytes.len() {
            return Err(PostingsError::Malformed { part: PART });
        }
        let mut reader = Reader::new(PART, bytes);
        let mut headers = Vec::with_capacity(blocks);
        let mut impacts = Vec::new();
        let mut first = 0_u32;
        let mut data = 0_usize;
        for index in 0..blocks {
            let len = (count as usize - index * BLOCK).min(BLOCK);
            let delta = reader.u32()?;
            if index > 0 && delta == 0 {
                return Err(reader.malformed());
            }
            first = first.checked_add(delta).ok_or_else(|| reader.malformed())?;
            let gaps = width(&mut reader)?;
            let (tfs, lengths, least_tf, least_length) = match form {
                Form::Plain => (0, 0, 0, 0),
                Form::Scored => (width(&mut reader)?, width(&mut reader)?, 1, reader.u32()?),
            };
            let known = impacts.len();
            if form == Form::Scored && len == BLOCK {
                impact::read(&mut reader, least_length, &mut impacts)?;
            }
            headers.push(Header {
                first,
                data,
                gaps,
                tfs,
                lengths,
                least_tf,
                least_length,
                impacts: known..impacts.len(),
            });
            let packed = bits::packed_len(len - 1, gaps)
                + bits::packed_len(len, tfs)
                + bits::packed_len(len, lengths);
            data = data.saturating_add(packed);
        }
        let start = reader.position();
        if bytes.len() - start != data {
            return Err(reader.malformed());
        }
        let mut list = Self {
            form,
            count,
            bytes: bytes.slice(start..),
            headers,
            impacts,
        };
        list.bound_the_last()?;
        Ok(list)
    }

    /// A last block of fewer postings stores no impacts: they are taken from it.
    fn bound_the_last(&mut self) -> Result<(), PostingsError> {
        let last = self.headers.len().saturating_sub(1);
        if self.form == Form::Plain || self.len_of(last) == BLOCK {
            return Ok(());
        }
        let mut block = Block::default();
        self.decode(last, &mut block)?;
        let known = self.impacts.len();
        self.impacts.extend(impact::of(block.postings()));
        if let Some(header) = self.headers.last_mut() {
            header.impacts = known..self.impacts.len();
        }
        Ok(())
    }

    /// How many rows have the term, those that have died since the list was written
    /// included.
    pub fn document_frequency(&self) -> u32 {
        self.count
    }

    /// The rows.
    pub fn docs(&self) -> Result<DocSet, PostingsError> {
        let mut docs = DocSet::new();
        let mut block = Block::default();
        for index in 0..self.blocks() {
            self.decode(index, &mut block)?;
            docs.append(block.docs().iter().copied())
                .map_err(|_| PostingsError::Malformed { part: PART })?;
        }
        Ok(docs)
    }

    /// The postings, ascending by row.
    pub fn postings(&self) -> Result<Vec<Posting>, PostingsError> {
        let mut postings = Vec::with_capacity(self.count as usize);
        let mut block = Block::default();
        for index in 0..self.blocks() {
            self.decode(index, &mut block)?;
            postings.extend(block.postings());
        }
        Ok(postings)
    }

    /// How a row has the term.
    pub fn find(&self, doc: u32) -> Result<Option<Posting>, PostingsError> {
        super::seek::Seeker::new(self).find(doc)
    }

    /// Whether a row has the term.
    pub fn contains(&self, doc: u32) -> Result<bool, PostingsError> {
        Ok(self.find(doc)?.is_some())
    }

    pub(super) fn blocks(&self) -> usize {
        self.headers.len()
    }

    /// The first row of a block; `None` past the last.
    pub(super) fn first_of(&self, block: usize) -> Option<u32> {
        self.headers.get(block).map(|header| header.first)
    }

    /// The block in which a row would lie, from a block on.
    pub(super) fn block_of(&self, doc: u32, from: usize) -> usize {
        let rest = self.headers.get(from + 1..).unwrap_or_default();
        // The next block or the one after it, nearly always.
        let near = rest.iter().take(4).take_while(|header| header.first <= doc);
        match near.count() {
            4 => from + rest.partition_point(|header| header.first <= doc),
            few => from + few,
        }
    }

    pub(super) fn impacts_of(&self, block: usize) -> &[Impact] {
        self.headers
            .get(block)
            .and_then(|header| self.impacts.get(header.impacts.clone()))
            .unwrap_or_default()
    }

    fn len_of(&self, block: usize) -> usize {
        (self.count as usize)
            .saturating_sub(block.saturating_mul(BLOCK))
            .min(BLOCK)
    }
}

fn width(reader: &mut Reader<'_>) -> Result<u8, PostingsError> {
    let width = reader.u8()?;
    if width > 32 {
        return Err(reader.malformed());
    }
    Ok(width)
}
