//! What a query is asked of: the segments, and the tail that overrides them.
//!
//! It is plain borrowed state with the statistics that follow from it, so that a query
//! gives the same answer wherever the line between segments and tail runs. It must not
//! fetch or rank.

use crate::bm25::Totals;
use crate::postings::{DocSet, List, TermHash};
use crate::segment::{Replaced, ReplacedIn, Root};
use crate::tail::{Posting, Tail};

/// What a query is asked of.
#[derive(Debug, Clone)]
pub struct Snapshot<'a> {
    /// What is newer than the segments.
    pub tail: &'a Tail,
    /// The segments, oldest first.
    pub segments: Vec<SegmentRef<'a>>,
    /// Rows of segments that the tail replaces.
    pub replaced: &'a Replaced,
}

/// A segment and its root.
#[derive(Debug, Clone, Copy)]
pub struct SegmentRef<'a> {
    /// Its name.
    pub id: u128,
    /// Its root.
    pub root: &'a Root,
}

impl<'a> Snapshot<'a> {
    /// A collection without segments.
    pub fn of_tail(tail: &'a Tail, nothing: &'a Replaced) -> Self {
        Self {
            tail,
            segments: Vec::new(),
            replaced: nothing,
        }
    }

    /// What newer segments and the tail say of a segment's rows.
    fn replaced_in(&self, segment: u128) -> impl Iterator<Item = &'a ReplacedIn> {
        let newer = self.segments.iter().map(|other| &other.root.replaced);
        newer
            .chain([self.replaced])
            .filter_map(move |replaced| replaced.within(segment))
    }

    /// The rows of a segment that were replaced since it was written.
    pub(crate) fn dead(&self, segment: u128) -> DocSet {
        let mut dead = DocSet::new();
        for within in self.replaced_in(segment) {
            dead |= &within.rows;
        }
        dead
    }

    /// The statistics of the whole collection.
    pub(crate) fn totals(&self) -> Totals {
        let mut totals = self.tail.totals();
        for segment in &self.segments {
            let own = segment.root.statistics.totals();
            totals.records += own.records;
            totals.length += own.length;
            for within in self.replaced_in(segment.id) {
                let lost = within.totals();
                totals.records = totals.records.saturating_sub(lost.records);
                totals.length = totals.length.saturating_sub(lost.length);
            }
        }
        totals
    }

    /// How many records of the whole collection have a term, given its list in each
    /// segment that has one.
    pub(crate) fn document_frequency<'l>(
        &self,
        term: &str,
        lists: impl IntoIterator<Item = &'l List>,
    ) -> u64 {
        let hash = TermHash::text(term);
        let listed: u64 = lists
            .into_iter()
            .map(|list| u64::from(list.document_frequency()))
            .sum();
        let lost: u64 = self
            .segments
            .iter()
            .flat_map(|segment| self.replaced_in(segment.id))
            .filter_map(|within| within.terms.get(&hash))
            .map(|count| u64::from(*count))
            .sum();
        let tail = self
            .tail
            .posting(term)
            .map_or(0, Posting::document_frequency);
        tail + listed.saturating_sub(lost)
    }
}
