//! The tail: an index in memory over the records that no segment holds yet.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::answer::Answer;
use crate::query::Query;
use crate::record::Record;
use crate::step::{SearchError, VectorUnavailable};

/// An index over live records, kept up to date one record at a time.
#[derive(Debug, Clone, Default)]
pub struct Tail {
    ids: BTreeMap<String, Arc<Record>>,
}

impl Tail {
    /// An empty index.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a record or replaces the one with its id, which is returned.
    pub fn upsert(&mut self, record: Arc<Record>) -> Option<Arc<Record>> {
        self.ids.insert(record.id.clone(), record)
    }

    /// Removes the record with this id and returns it.
    pub fn remove(&mut self, id: &str) -> Option<Arc<Record>> {
        self.ids.remove(id)
    }

    /// The record with this id.
    pub fn get(&self, id: &str) -> Option<&Arc<Record>> {
        self.ids.get(id)
    }

    /// The number of records.
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    /// The records, by id.
    pub fn records(&self) -> impl Iterator<Item = &Arc<Record>> {
        self.ids.values()
    }
}

pub(crate) fn answer(
    _tail: &Tail,
    _query: &Query,
    _vector: Option<Result<Vec<f32>, VectorUnavailable>>,
) -> Result<Answer, SearchError> {
    Err(SearchError::UnsupportedSegments { count: 0 })
}
