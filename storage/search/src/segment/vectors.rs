//! The vector index of a segment as its root has it: inverted lists of coded residuals,
//! where they lie, and their checksums. It must not fetch or scan.

use std::ops::Range;

use crate::ivf::{Bits, Centroids, EntryLayout};

/// The vectors of a segment.
#[derive(Debug, Clone, PartialEq)]
pub struct Vectors {
    /// The embedding profile that all of them belong to.
    pub profile: String,
    /// The shape of an entry.
    pub layout: EntryLayout,
    /// The centroids, list by list.
    pub centroids: Centroids,
    /// Where the first entry lies in the file of codes.
    pub at: u64,
    /// The entries before each list and, last, all of them.
    starts: Vec<u64>,
    /// The CRC-32 of each list's entries.
    crcs: Vec<u32>,
}

impl Vectors {
    /// An index whose lists have so many entries and these checksums.
    pub fn new(
        profile: String,
        centroids: Centroids,
        bits: Bits,
        at: u64,
        lists: impl IntoIterator<Item = (u32, u32)>,
    ) -> Self {
        let (mut starts, mut crcs) = (vec![0], Vec::new());
        let mut end = 0;
        for (entries, crc) in lists {
            end += u64::from(entries);
            starts.push(end);
            crcs.push(crc);
        }
        Self {
            profile,
            layout: EntryLayout {
                dimension: centroids.dimension(),
                bits,
            },
            centroids,
            at,
            starts,
            crcs,
        }
    }

    /// Entries and checksum of each list.
    pub fn lists(&self) -> impl Iterator<Item = (u32, u32)> {
        let entries = self.starts.windows(2).map(|pair| match pair {
            [start, end] => u32::try_from(end - start).unwrap_or(u32::MAX),
            _ => 0,
        });
        entries.zip(self.crcs.iter().copied())
    }

    /// Bytes of each list's entries.
    pub fn sizes(&self) -> Vec<u64> {
        let width = self.layout.width() as u64;
        self.lists()
            .map(|(entries, _)| u64::from(entries) * width)
            .collect()
    }

    /// The bytes of some neighbouring lists in the file of codes.
    pub fn range(&self, lists: Range<usize>) -> Option<Range<u64>> {
        let width = self.layout.width() as u64;
        let start = self.starts.get(lists.start)?;
        let end = self.starts.get(lists.end)?;
        Some(self.at + start * width..self.at + end * width)
    }

    /// The checksum of a list's entries.
    pub fn crc(&self, list: usize) -> Option<u32> {
        self.crcs.get(list).copied()
    }
}
