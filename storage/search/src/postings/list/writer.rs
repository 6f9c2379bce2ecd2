//! Writes one posting list, posting by posting, in blocks.
//!
//! What it holds meanwhile is the encoded list and one block. It must not know which
//! term the list is of or where it will lie.

use super::{BLOCK, Form, Posting};
use crate::bits;
use crate::postings::{PostingsError, impact, varint};

/// A list that is being written.
#[derive(Debug)]
pub(in crate::postings) struct ListWriter {
    form: Form,
    count: u32,
    /// First document of the block before.
    first: u32,
    block: Vec<Posting>,
    headers: Vec<u8>,
    data: Vec<u8>,
    numbers: Vec<u32>,
}

impl ListWriter {
    pub(in crate::postings) fn new(form: Form) -> Self {
        Self {
            form,
            count: 0,
            first: 0,
            block: Vec::with_capacity(BLOCK),
            headers: Vec::new(),
            data: Vec::new(),
            numbers: Vec::with_capacity(BLOCK),
        }
    }

    /// Starts another list, keeping what is allocated.
    pub(in crate::postings) fn restart(&mut self, form: Form) {
        self.form = form;
        self.count = 0;
        self.first = 0;
        self.block.clear();
        self.headers.clear();
        self.data.clear();
    }

    /// How many postings the list has.
    pub(in crate::postings) fn count(&self) -> u32 {
        self.count
    }

    /// Appends a posting, whose document is higher than any before.
    pub(in crate::postings) fn push(&mut self, posting: Posting) -> Result<(), PostingsError> {
        self.count = self.count.checked_add(1).ok_or(PostingsError::TooLarge {
            part: "a posting list",
        })?;
        if self.block.len() == BLOCK {
            self.flush();
        }
        self.block.push(posting);
        Ok(())
    }

    /// Appends the list, as an entry has it, to `out`.
    ///
    /// Numbers are varints where nothing else is said. A list of one posting is 1, the
    /// row and, with frequencies, the frequency and the length. Any other is its count,
    /// its bytes, a header for each block, and then the blocks' packed numbers. A header
    /// is the block's first row less that of the block before, a byte for the bits of
    /// each gap and, with frequencies, a byte for those of each frequency, a byte for
    /// those of each length, the least length and, if the block is full, its impacts.
    /// Packed are the gaps less 1, the frequencies less 1, and the lengths less the
    /// least, each to a whole byte.
    pub(in crate::postings) fn finish(&mut self, out: &mut Vec<u8>) {
        varint::push(out, u64::from(self.count));
        if let (1, [posting]) = (self.count, self.block.as_slice()) {
            varint::push(out, u64::from(posting.doc));
            if self.form == Form::Scored {
                varint::push(out, u64::from(posting.tf.max(1)));
                varint::push(out, u64::from(posting.length));
            }
            return;
        }
        self.flush();
        varint::push(out, (self.headers.len() + self.data.len()) as u64);
        out.extend_from_slice(&self.headers);
        out.extend_from_slice(&self.data);
    }

    fn flush(&mut self) {
        let Some(first) = self.block.first().map(|posting| posting.doc) else {
            return;
        };
        varint::push(&mut self.headers, u64::from(first - self.first));
        self.first = first;
        self.numbers.clear();
        self.numbers.extend(
            self.block
                .iter()
                .zip(self.block.iter().skip(1))
                .map(|(a, b)| b.doc - a.doc - 1),
        );
        self.pack();
        if self.form == Form::Scored {
            self.flush_scores();
        }
        self.block.clear();
    }

    fn flush_scores(&mut self) {
        self.numbers.clear();
        self.numbers
            .extend(self.block.iter().map(|posting| posting.tf.max(1) - 1));
        self.pack();
        let least = self.block.iter().map(|posting| posting.length).min();
        let least = least.unwrap_or_default();
        self.numbers.clear();
        self.numbers
            .extend(self.block.iter().map(|posting| posting.length - least));
        self.pack();
        varint::push(&mut self.headers, u64::from(least));
        if self.block.len() == BLOCK {
            let impacts = impact::of(self.block.iter().copied());
            impact::push(&mut self.headers, &impacts);
        }
    }

    fn pack(&mut self) {
        let width = bits::width_of(&self.numbers);
        self.headers.push(width);
        bits::pack(&self.numbers, width, &mut self.data);
    }
}
