//! Writes a blob: postings that come by term and then by row become lists, entries and
//! buckets.
//!
//! It is one writer for the blobs of segments and for the runs of a build, which differ
//! in where a list may be cut. It must not sort.

use super::bucket::FRAME;
use super::directory::Directory;
use super::hash::TermHash;
use super::list::{Form, ListWriter, Posting};
use super::{PostingsError, varint};

/// Postings in a piece of a list in a run, so that whoever merges runs holds no more of
/// each.
const PIECE: u32 = 4096;

/// Where lists may be cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Layout {
    /// Nowhere: each term has one entry.
    Segment,
    /// Into pieces that follow each other.
    Run,
}

/// A blob that is being written.
#[derive(Debug)]
pub(super) struct BlobWriter {
    layout: Layout,
    bucket_bytes: usize,
    frequent: u32,
    term: Option<TermHash>,
    /// Held back, as the next may be of the same row.
    posting: Option<Posting>,
    list: ListWriter,
    entry: Vec<u8>,
    /// The entries of the bucket that is being filled, the first and last hash, and how
    /// many.
    body: Vec<u8>,
    first: Option<TermHash>,
    last: u64,
    entries: u64,
    ready: Vec<u8>,
    directory: Directory,
}

impl BlobWriter {
    pub(super) fn new(layout: Layout, bucket_bytes: usize) -> Self {
        let frequent = u32::try_from(bucket_bytes / 4).unwrap_or(u32::MAX).max(2);
        Self {
            layout,
            bucket_bytes,
            frequent,
            term: None,
            posting: None,
            list: ListWriter::new(Form::Plain),
            entry: Vec::new(),
            body: Vec::new(),
            first: None,
            last: 0,
            entries: 0,
            ready: Vec::new(),
            directory: Directory::new(frequent),
        }
    }

    /// Adds a posting. A second one of the same term and row adds its occurrences.
    pub(super) fn push(&mut self, term: TermHash, posting: Posting) -> Result<(), PostingsError> {
        if self.term != Some(term) {
            self.end_list()?;
            if self.term.is_some_and(|before| before > term) {
                return Err(out_of_order());
            }
            self.term = Some(term);
            self.list.restart(Form::of(term));
        }
        match &mut self.posting {
            Some(held) if held.doc == posting.doc => {
                held.tf = held.tf.saturating_add(posting.tf);
                return Ok(());
            }
            Some(held) if held.doc > posting.doc => return Err(out_of_order()),
            held => {
                if let Some(held) = held.replace(posting) {
                    self.list.push(held)?;
                }
            }
        }
        if self.layout == Layout::Run && self.list.count() == PIECE {
            self.end_entry(term)?;
            self.list.restart(Form::of(term));
        }
        Ok(())
    }

    /// The buckets that are complete and have not been taken yet.
    pub(super) fn take(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.ready)
    }

    pub(super) fn has_ready(&self) -> bool {
        !self.ready.is_empty()
    }

    /// Ends the blob: the buckets that have not been taken yet, and the directory.
    pub(super) fn finish(mut self) -> Result<(Vec<u8>, Directory), PostingsError> {
        self.end_list()?;
        self.end_bucket(None)?;
        Ok((self.ready, self.directory))
    }

    fn end_list(&mut self) -> Result<(), PostingsError> {
        if let Some(held) = self.posting.take() {
            self.list.push(held)?;
        }
        match self.term {
            Some(term) if self.list.count() > 0 => self.end_entry(term),
            _ => Ok(()),
        }
    }

    fn end_entry(&mut self, term: TermHash) -> Result<(), PostingsError> {
        self.entry.clear();
        let count = self.list.count();
        self.list.finish(&mut self.entry);
        let is_large = self.entry.len() >= self.bucket_bytes || count >= self.frequent;
        if self.layout == Layout::Segment && is_large {
            self.end_bucket(None)?;
            self.add_entry(term);
            return self.end_bucket(Some(count));
        }
        self.add_entry(term);
        if self.body.len() >= self.bucket_bytes {
            self.end_bucket(None)?;
        }
        Ok(())
    }

    fn add_entry(&mut self, term: TermHash) {
        let hash = term.to_u64();
        self.first.get_or_insert(term);
        varint::push(&mut self.body, hash - self.last);
        self.last = hash;
        self.entries += 1;
        self.body.extend_from_slice(&self.entry);
    }

    fn end_bucket(&mut self, frequency: Option<u32>) -> Result<(), PostingsError> {
        let Some(first) = self.first.take() else {
            return Ok(());
        };
        let mut count = Vec::new();
        varint::push(&mut count, self.entries);
        let len =
            u32::try_from(count.len() + self.body.len()).map_err(|_| PostingsError::TooLarge {
                part: "a posting list",
            })?;
        let mut hasher = crc32fast::Hasher::new();
        hasher.update(&count);
        hasher.update(&self.body);
        self.ready.extend_from_slice(&len.to_le_bytes());
        self.ready
            .extend_from_slice(&hasher.finalize().to_le_bytes());
        self.ready.extend_from_slice(&count);
        self.ready.extend_from_slice(&self.body);
        self.body.clear();
        self.last = 0;
        self.entries = 0;
        if self.layout == Layout::Segment {
            self.directory
                .push(first, u64::from(len) + FRAME as u64, frequency);
        }
        Ok(())
    }
}

fn out_of_order() -> PostingsError {
    PostingsError::Malformed {
        part: "the order of what is merged",
    }
}
