//! Which rows the changes above a new checkpoint replace. They were written before its
//! segment was there and name rows of segments that may be gone, so the checkpoint that
//! repeats them has to say it anew. It must not change what they say otherwise.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use ostraca_search::Record;
use ostraca_search::segment::Replacement;

use crate::catalogue::SegmentInfo;
use crate::row::Row;

/// Where memories lie in the segments of a new checkpoint.
#[derive(Debug)]
pub(super) struct Readdress {
    kept: BTreeSet<u128>,
    segment: u128,
    rows: BTreeMap<String, (u32, Arc<Record>)>,
}

impl Readdress {
    /// Segments that stay.
    pub(super) fn to(kept: &[SegmentInfo]) -> Self {
        Self {
            kept: kept.iter().map(SegmentInfo::number).collect(),
            segment: 0,
            rows: BTreeMap::new(),
        }
    }

    /// The new segment and its live rows in their order.
    pub(super) fn add(&mut self, segment: u128, live: Vec<Row>) {
        self.segment = segment;
        self.rows = (0_u32..)
            .zip(live)
            .map(|(number, row)| {
                let record = row.change.record;
                (record.id.clone(), (number, record))
            })
            .collect();
    }

    /// The changes, each with what it replaces in the segments there will be.
    pub(super) fn apply(&self, changes: impl Iterator<Item = Row>) -> Vec<Row> {
        let mut seen = BTreeSet::new();
        changes
            .map(|mut row| {
                let id = &row.change.record.id;
                let is_first = seen.insert(id.clone());
                let new = self.rows.get(id).filter(|_| is_first);
                let replaces = match new {
                    Some((number, record)) => {
                        Some(Replacement::of(self.segment, *number, record).into())
                    }
                    None => row
                        .change
                        .replaces
                        .take()
                        .filter(|replaces| self.kept.contains(&replaces.segment)),
                };
                row.change.replaces = replaces;
                row
            })
            .collect()
    }
}
