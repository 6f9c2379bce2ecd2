//! What the next entry repeats, kept up as objects are read and written. How much that
//! is, is `carry`'s matter; this holds the entries, and no more of them than may be
//! repeated.

#[cfg(test)]
mod tests;

use std::sync::Arc;

use super::carry;
use super::entry::Entry;
use crate::key::Seq;

/// The entries of the large block under way that may be repeated.
#[derive(Clone, Debug, Default)]
pub(super) struct Carried {
    /// The objects that ended a run, oldest first.
    ended: Vec<Object>,
    /// The run under way: what its last object holds.
    open: Vec<Arc<Entry>>,
}

/// The entries of an object, of which the last is its own.
#[derive(Clone, Debug)]
pub(super) struct Object {
    pub(super) entries: Vec<Arc<Entry>>,
    pub(super) bytes: u64,
}

impl Carried {
    /// The newest entry is in this object.
    pub(super) fn took(&mut self, object: &Object) {
        self.open.clear();
        let Some(last) = object.entries.last() else {
            return;
        };
        let is_checkpoint = last.header.checkpoint.is_some();
        if is_checkpoint || carry::ends_large_block(last.seq) {
            self.ended.clear();
        } else if carry::ends_run(last.seq, object.bytes, is_checkpoint) {
            self.ended.push(object.clone());
            let repeated = carry::repeated(self.ended.iter().rev().map(|ended| ended.bytes));
            self.ended
                .drain(..self.ended.len().saturating_sub(repeated));
        } else {
            self.open.clone_from(&object.entries);
        }
    }

    /// What the entry with this number repeats: consecutive entries up to the one before.
    pub(super) fn for_entry(&self, seq: Seq) -> Vec<Arc<Entry>> {
        let mut first = seq;
        let mut runs: Vec<&[Arc<Entry>]> = Vec::new();
        let ended: &[Object] = if carry::ends_large_block(seq) {
            &self.ended
        } else {
            &[]
        };
        let newest_first = ended.iter().rev().map(|ended| ended.entries.as_slice());
        let open = (!self.open.is_empty()).then_some(self.open.as_slice());
        for run in open.into_iter().chain(newest_first) {
            match (run.first(), run.last()) {
                (Some(start), Some(last)) if last.seq.next() == first => {
                    first = start.seq;
                    runs.push(run);
                }
                _ => break,
            }
        }
        runs.into_iter().rev().flatten().map(Arc::clone).collect()
    }
}
