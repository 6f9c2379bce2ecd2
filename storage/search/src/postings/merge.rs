//! Merges runs and the postings of segments into the postings of one segment.
//!
//! It asks for the bytes of its sources and gives buckets as they are complete, and does
//! neither input nor output. In memory are a bucket of each source and the list that is
//! being written. Rows may be given any new numbers: lists are sorted anew, and no text
//! is analysed again.

use std::fmt;

use bytes::Bytes;

use super::blob::{BlobWriter, Layout};
use super::bucket::{Bucket, Entries, FRAME, frame};
use super::builder::Built;
use super::directory::Directory;
use super::hash::TermHash;
use super::list::Posting;
use super::{PostingsError, Settings};

/// Bytes of finished buckets that are handed over at once.
const HAND_OVER: usize = 256 * 1024;

/// Where postings come from.
pub struct Source {
    renumber: Option<Renumber>,
}

/// A row's new number; `None` for a row that is left out.
type Renumber = Box<dyn Fn(u32) -> Option<u32> + Send>;

impl Source {
    /// A blob or run whose rows keep their numbers.
    pub fn numbered() -> Self {
        Self { renumber: None }
    }

    /// A blob or run whose rows get new numbers, or are left out. No two rows of the
    /// sources may get the same.
    pub fn renumbered(number: impl Fn(u32) -> Option<u32> + Send + 'static) -> Self {
        Self {
            renumber: Some(Box::new(number)),
        }
    }
}

impl fmt::Debug for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Source")
            .field("is_renumbered", &self.renumber.is_some())
            .finish()
    }
}

/// What a merge needs or gives next.
#[derive(Debug)]
pub enum Progress {
    /// [`Merge::feed`] this source with its next bytes, or [`Merge::end`] it.
    Need(usize),
    /// The next bytes of the blob.
    Write(Vec<u8>),
    /// The last bytes of the blob, and its directory.
    Done(Built),
}

/// A merge that is going on.
#[derive(Debug)]
pub struct Merge {
    inputs: Vec<Input>,
    writer: Option<BlobWriter>,
    ready: Vec<u8>,
}

impl Merge {
    /// Merges these sources.
    pub fn new(settings: Settings, sources: impl IntoIterator<Item = Source>) -> Self {
        Self {
            inputs: sources.into_iter().map(Input::new).collect(),
            writer: Some(BlobWriter::new(Layout::Segment, settings.bucket_bytes)),
            ready: Vec::new(),
        }
    }

    /// Gives a source its next bytes, cut anywhere.
    pub fn feed(&mut self, source: usize, bytes: &[u8]) {
        if let Some(input) = self.inputs.get_mut(source) {
            input.pending.extend_from_slice(bytes);
        }
    }

    /// Says that a source has no more bytes.
    pub fn end(&mut self, source: usize) {
        if let Some(input) = self.inputs.get_mut(source) {
            input.has_ended = true;
        }
    }

    /// Goes on until something is needed or ready. After [`Progress::Done`] there is
    /// nothing more to write.
    pub fn step(&mut self) -> Result<Progress, PostingsError> {
        loop {
            let mut heads: [Option<(usize, Head)>; 2] = [None, None];
            for (index, input) in self.inputs.iter_mut().enumerate() {
                let head = match input.head()? {
                    State::Needs => return Ok(Progress::Need(index)),
                    State::Ended => continue,
                    State::Ready(head) => head,
                };
                let [least, next] = &mut heads;
                if least.is_none_or(|(_, least)| head < least) {
                    *next = least.replace((index, head));
                } else if next.is_none_or(|(_, next)| head < next) {
                    *next = Some((index, head));
                }
            }
            let Some(writer) = &mut self.writer else {
                return Ok(Progress::Done(Built::default()));
            };
            let [Some((index, (term, _))), next] = heads else {
                let blob = std::mem::take(&mut self.ready);
                return self.finish(blob);
            };
            if let Some(input) = self.inputs.get_mut(index) {
                let end = next.map(|(_, head)| head);
                for posting in input.take_up_to(end) {
                    writer.push(term, *posting)?;
                }
            }
            if writer.has_ready() {
                self.ready.append(&mut writer.take());
                if self.ready.len() >= HAND_OVER {
                    return Ok(Progress::Write(std::mem::take(&mut self.ready)));
                }
            }
        }
    }

    fn finish(&mut self, mut blob: Vec<u8>) -> Result<Progress, PostingsError> {
        let Some(writer) = self.writer.take() else {
            return Ok(Progress::Done(Built::default()));
        };
        let (mut rest, directory): (Vec<u8>, Directory) = writer.finish()?;
        blob.append(&mut rest);
        Ok(Progress::Done(Built { blob, directory }))
    }
}

/// Merges sources that are all in memory.
pub fn merge(
    settings: Settings,
    sources: impl IntoIterator<Item = (Source, Bytes)>,
) -> Result<Built, PostingsError> {
    let (sources, mut rests): (Vec<Source>, Vec<Bytes>) = sources.into_iter().unzip();
    let mut merge = Merge::new(settings, sources);
    let mut blob = Vec::new();
    loop {
        match merge.step()? {
            Progress::Need(source) => match rests.get_mut(source) {
                Some(rest) if !rest.is_empty() => {
                    merge.feed(source, &rest.split_to(HAND_OVER.min(rest.len())));
                }
                _ => merge.end(source),
            },
            Progress::Write(mut part) => blob.append(&mut part),
            Progress::Done(mut rest) => {
                blob.append(&mut rest.blob);
                rest.blob = blob;
                return Ok(rest);
            }
        }
    }
}

/// A term and a row.
type Head = (TermHash, u32);

enum State {
    Needs,
    Ended,
    Ready(Head),
}

/// A source as it is read.
#[derive(Debug)]
struct Input {
    source: Source,
    /// Bytes that are not a whole bucket yet.
    pending: Vec<u8>,
    /// How many of them have been read.
    read: usize,
    has_ended: bool,
    entries: Option<Entries>,
    term: TermHash,
    postings: Vec<Posting>,
    at: usize,
}

impl Input {
    fn new(source: Source) -> Self {
        Self {
            source,
            pending: Vec::new(),
            read: 0,
            has_ended: false,
            entries: None,
            term: TermHash::from_u64(0),
            postings: Vec::new(),
            at: 0,
        }
    }

    /// The next posting's term and row.
    fn head(&mut self) -> Result<State, PostingsError> {
        loop {
            if let Some(posting) = self.postings.get(self.at) {
                return Ok(State::Ready((self.term, posting.doc)));
            }
            if let Some(entries) = &mut self.entries {
                match entries.next_hash()? {
                    Some(term) => {
                        let list = entries.list()?;
                        self.term = term;
                        self.at = 0;
                        self.postings = list.postings()?;
                        self.renumber();
                    }
                    None => self.entries = None,
                }
            } else if let Some(bucket) = self.next_bucket()? {
                self.entries = Some(bucket.entries()?);
            } else if !self.has_ended {
                return Ok(State::Needs);
            } else if self.read < self.pending.len() {
                return Err(PostingsError::Truncated {
                    part: "a source of a merge",
                });
            } else {
                return Ok(State::Ended);
            }
        }
    }

    fn renumber(&mut self) {
        let Some(number) = &self.source.renumber else {
            return;
        };
        self.postings.retain_mut(|posting| {
            let doc = number(posting.doc);
            posting.doc = doc.unwrap_or_default();
            doc.is_some()
        });
        self.postings.sort_unstable_by_key(|posting| posting.doc);
    }

    fn next_bucket(&mut self) -> Result<Option<Bucket>, PostingsError> {
        let pending = self.pending.get(self.read..).unwrap_or_default();
        let whole = frame(pending)
            .map(|(len, _)| len.saturating_add(FRAME))
            .and_then(|len| pending.get(..len));
        if let Some(bytes) = whole {
            self.read += bytes.len();
            return Bucket::open(&Bytes::copy_from_slice(bytes)).map(Some);
        }
        self.pending.drain(..self.read);
        self.read = 0;
        Ok(None)
    }

    /// The postings of the present list that come before a head.
    fn take_up_to(&mut self, end: Option<Head>) -> &[Posting] {
        let rest = self.postings.get(self.at..).unwrap_or_default();
        let count = match end {
            Some((term, doc)) if term == self.term => {
                rest.iter().take_while(|posting| posting.doc <= doc).count()
            }
            _ => rest.len(),
        };
        self.at += count;
        rest.get(..count).unwrap_or_default()
    }
}
