//! The tail: an index in memory over the records that no segment holds yet.
//!
//! It is kept up to date one record at a time, and after any sequence of changes
//! it scores exactly as if it had been built from what is left. It must not decide
//! what is visible: a query does.

mod postings;

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::bm25::Totals;
use crate::record::{Embedding, Record};
use crate::text::DocumentTerms;
use crate::vector;
pub(crate) use postings::Posting;
use postings::Postings;

/// Dead records that are tolerated before the first compaction.
const MIN_DEAD: usize = 256;

/// An index over live records.
#[derive(Debug, Clone, Default)]
pub struct Tail {
    /// By number; `None` where a record has gone.
    docs: Vec<Option<Doc>>,
    numbers: BTreeMap<String, u32>,
    postings: Postings,
    totals: Totals,
    /// How many records have vectors of each profile and dimension.
    dimensions: BTreeMap<String, BTreeMap<usize, usize>>,
}

/// A record and what is derived from it.
#[derive(Debug, Clone)]
pub(crate) struct Doc {
    pub(crate) record: Arc<Record>,
    /// Length in words.
    pub(crate) length: u32,
    /// The inverse norm of each chunk's vector; empty if the vectors are none
    /// or not to be compared.
    pub(crate) inverse_norms: Vec<f64>,
}

impl Tail {
    /// An empty index.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a record, or replaces the one with its id and returns that.
    ///
    /// Vectors that are not finite, or not all of one length, are kept and never
    /// compared; writers refuse them with [`crate::vector::check`].
    pub fn upsert(&mut self, record: Arc<Record>) -> Option<Arc<Record>> {
        if let Some(number) = self.numbers.get(&record.id).copied()
            && let Some(doc) = self.doc(number)
            && doc.record.texts().eq(record.texts())
        {
            return self.replace_in_place(number, record);
        }
        let replaced = self.remove(&record.id);
        let terms = DocumentTerms::of(record.texts());
        let number = u32::try_from(self.docs.len()).unwrap_or(u32::MAX);
        self.totals.records += 1;
        self.totals.length += u64::from(terms.length);
        self.count_vectors(&record, Change::Add);
        self.numbers.insert(record.id.clone(), number);
        self.docs.push(Some(Doc {
            inverse_norms: vector::inverse_norms(&record.embedding),
            length: terms.length,
            record,
        }));
        self.postings.add(number, terms);
        replaced
    }

    /// Removes the record with this id and returns it.
    pub fn remove(&mut self, id: &str) -> Option<Arc<Record>> {
        let number = self.numbers.remove(id)?;
        let doc = self.docs.get_mut(number as usize)?.take()?;
        self.postings.forget(&DocumentTerms::of(doc.record.texts()));
        self.totals.records = self.totals.records.saturating_sub(1);
        self.totals.length = self.totals.length.saturating_sub(u64::from(doc.length));
        self.count_vectors(&doc.record, Change::Remove);
        self.compact_if_due();
        Some(doc.record)
    }

    /// The record with this id.
    pub fn get(&self, id: &str) -> Option<&Arc<Record>> {
        let number = self.numbers.get(id)?;
        self.doc(*number).map(|doc| &doc.record)
    }

    /// The number of records.
    pub fn len(&self) -> usize {
        self.numbers.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.numbers.is_empty()
    }

    /// The records, by id.
    pub fn records(&self) -> impl Iterator<Item = &Arc<Record>> {
        self.numbers
            .values()
            .filter_map(|number| self.doc(*number))
            .map(|doc| &doc.record)
    }

    /// The dimension of a profile's vectors, if there are any: the most frequent
    /// one.
    pub fn dimension(&self, profile: &str) -> Option<usize> {
        let counts = self.dimensions.get(profile)?;
        counts
            .iter()
            .rev()
            .max_by_key(|(_, count)| **count)
            .map(|(dimension, _)| *dimension)
    }

    pub(crate) fn totals(&self) -> Totals {
        self.totals
    }

    pub(crate) fn posting(&self, term: &str) -> Option<&Posting> {
        self.postings.get(term)
    }

    pub(crate) fn doc(&self, number: u32) -> Option<&Doc> {
        self.docs.get(number as usize)?.as_ref()
    }

    /// Numbers go up to this, exclusive.
    pub(crate) fn numbers_end(&self) -> usize {
        self.docs.len()
    }

    /// The live records by number, ascending.
    pub(crate) fn docs(&self) -> impl Iterator<Item = (u32, &Doc)> {
        (0_u32..)
            .zip(&self.docs)
            .filter_map(|(number, doc)| Some((number, doc.as_ref()?)))
    }

    /// Replaces a record by one with the same texts, whose terms stay as they are.
    fn replace_in_place(&mut self, number: u32, record: Arc<Record>) -> Option<Arc<Record>> {
        self.count_vectors(&record, Change::Add);
        let slot = self.docs.get_mut(number as usize)?.as_mut()?;
        slot.inverse_norms = vector::inverse_norms(&record.embedding);
        let replaced = std::mem::replace(&mut slot.record, record);
        self.count_vectors(&replaced, Change::Remove);
        Some(replaced)
    }

    fn count_vectors(&mut self, record: &Record, change: Change) {
        let Embedding::Ready { profile, chunks } = &record.embedding else {
            return;
        };
        let Some(first) = chunks.first() else {
            return;
        };
        let counts = self.dimensions.entry(profile.clone()).or_default();
        let count = counts.entry(first.vector.len()).or_default();
        match change {
            Change::Add => *count += 1,
            Change::Remove => *count = count.saturating_sub(1),
        }
        counts.retain(|_, count| *count > 0);
        if counts.is_empty() {
            self.dimensions.remove(profile);
        }
    }

    /// Drops what dead records left behind once they outnumber the live ones, so that
    /// the work is proportional to the changes.
    fn compact_if_due(&mut self) {
        let dead = self.docs.len() - self.numbers.len();
        if dead <= MIN_DEAD.max(self.numbers.len()) {
            return;
        }
        let mut next = 0_u32;
        let renumbered: Vec<Option<u32>> = self
            .docs
            .iter()
            .map(|doc| {
                doc.as_ref()?;
                next += 1;
                Some(next - 1)
            })
            .collect();
        let number = |old: u32| renumbered.get(old as usize).copied().flatten();
        self.docs.retain(Option::is_some);
        self.postings.renumber(number);
        for old in self.numbers.values_mut() {
            *old = number(*old).unwrap_or(*old);
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Change {
    Add,
    Remove,
}

#[cfg(test)]
mod tests;
