//! A record on its way through the ranking, wherever it lies, and the records that are at
//! hand.
//!
//! Lanes and fusion deal in these, so that they need not know segments from tail. It must
//! not decide what is fetched.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::record::Record;
use crate::tail::Tail;

/// A record, by place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Doc {
    /// In the tail, by number.
    Tail(u32),
    /// In a segment, by its place in the snapshot and its row.
    Row(usize, u32),
}

/// A record and a score.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Scored {
    pub(super) doc: Doc,
    pub(super) score: f64,
}

/// The records that are at hand: the tail's, and those of rows that were fetched.
#[derive(Debug)]
pub(super) struct Records<'a> {
    tail: &'a Tail,
    rows: BTreeMap<(usize, u32), Arc<Record>>,
}

impl<'a> Records<'a> {
    pub(super) fn new(tail: &'a Tail) -> Self {
        Self {
            tail,
            rows: BTreeMap::new(),
        }
    }

    pub(super) fn put(&mut self, segment: usize, row: u32, record: Record) {
        self.rows.insert((segment, row), Arc::new(record));
    }

    pub(super) fn get(&self, doc: Doc) -> Option<&Arc<Record>> {
        match doc {
            Doc::Tail(number) => self.tail.doc(number).map(|doc| &doc.record),
            Doc::Row(segment, row) => self.rows.get(&(segment, row)),
        }
    }
}
