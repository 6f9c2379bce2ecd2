//! Builds the postings of a segment from its rows, within a bound of memory.
//!
//! Postings are gathered as they come and sorted when there is no room for more; the
//! sorted run is handed to the caller, who keeps it where there is room and has the runs
//! merged in the end ([`super::Merge`]). It must not decide where runs lie.

use super::blob::{BlobWriter, Layout};
use super::directory::Directory;
use super::hash::TermHash;
use super::list::Posting;
use super::{PostingsError, Settings};
use crate::text::DocumentTerms;

/// The postings of a segment, built at once.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Built {
    /// The blob of all lists.
    pub blob: Vec<u8>,
    /// Where they lie in it.
    pub directory: Directory,
}

/// One posting with its term, in the order of the blob; 20 bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Gathered {
    high: u32,
    low: u32,
    posting: Posting,
}

/// A segment's postings that are being gathered.
#[derive(Debug)]
pub struct Builder {
    settings: Settings,
    gathered: Vec<Gathered>,
}

impl Builder {
    /// Gathers within `settings.memory_bytes`.
    pub fn new(settings: Settings) -> Self {
        Self {
            settings,
            gathered: Vec::new(),
        }
    }

    /// Adds a row: the terms of its texts, and its names and fields' values
    /// ([`super::keys::of_record`]).
    pub fn add(
        &mut self,
        doc: u32,
        terms: &DocumentTerms,
        keys: impl IntoIterator<Item = TermHash>,
    ) {
        for (term, count) in &terms.counts {
            let posting = Posting {
                doc,
                tf: (*count).max(1),
                length: terms.length,
            };
            self.gather(TermHash::text(term), posting);
        }
        for key in keys {
            self.gather(
                key,
                Posting {
                    doc,
                    tf: 0,
                    length: 0,
                },
            );
        }
    }

    /// Whether to [`Self::drain`] before the next row.
    pub fn is_full(&self) -> bool {
        self.gathered.len() >= self.room()
    }

    /// What has been gathered since the last time, as a sorted run.
    pub fn drain(&mut self) -> Result<Vec<u8>, PostingsError> {
        let (run, _) = self.write(Layout::Run)?;
        self.gathered.clear();
        Ok(run)
    }

    /// The blob and its directory, if nothing has been drained.
    pub fn finish(mut self) -> Result<Built, PostingsError> {
        let (blob, directory) = self.write(Layout::Segment)?;
        Ok(Built { blob, directory })
    }

    fn write(&mut self, layout: Layout) -> Result<(Vec<u8>, Directory), PostingsError> {
        self.gathered.sort_unstable();
        let mut writer = BlobWriter::new(layout, self.settings.bucket_bytes);
        for Gathered { high, low, posting } in &self.gathered {
            let hash = (u64::from(*high) << 32) | u64::from(*low);
            writer.push(TermHash::from_u64(hash), *posting)?;
        }
        writer.finish()
    }

    fn gather(&mut self, term: TermHash, posting: Posting) {
        if self.gathered.len() == self.gathered.capacity() {
            // Doubling must not overshoot the bound.
            let more = self.gathered.len().max(1024);
            let left = self.room().saturating_sub(self.gathered.len());
            self.gathered.reserve_exact(more.min(left).max(1024));
        }
        let hash = term.to_u64();
        self.gathered.push(Gathered {
            high: u32::try_from(hash >> 32).unwrap_or_default(),
            low: u32::try_from(hash & u64::from(u32::MAX)).unwrap_or_default(),
            posting,
        });
    }

    fn room(&self) -> usize {
        self.settings.memory_bytes / size_of::<Gathered>()
    }
}
