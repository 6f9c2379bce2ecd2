//! The semantic lane: the cosine of the query's vector with each record's
//! closest chunk.
//!
//! Of records at hand it is exact. Of rows it is estimated from their codes, to know which
//! to fetch. Vectors of another profile are never compared, because a cosine between two
//! models means nothing.

use super::doc::{Doc, Scored};
use super::visible::Visible;
use crate::ivf::PreparedQuery;
use crate::record::{Chunk, Embedding, Record};
use crate::snapshot::Snapshot;
use crate::step::SearchError;
use crate::tail::{Doc as TailDoc, Tail};
use crate::vector;

/// The query's vector at unit length.
#[derive(Debug)]
pub(super) struct QueryVector {
    profile: String,
    values: Vec<f32>,
    prepared: PreparedQuery,
}

impl QueryVector {
    pub(super) fn of(
        snapshot: &Snapshot<'_>,
        profile: &str,
        values: &[f32],
    ) -> Result<Self, SearchError> {
        vector::check(values, None).map_err(SearchError::Vector)?;
        let indexed = snapshot.segments.iter().rev().find_map(|segment| {
            let vectors = segment.root.vectors.as_ref()?;
            (vectors.profile == profile).then_some(vectors.layout.dimension)
        });
        let expected = indexed.or_else(|| snapshot.tail.dimension(profile));
        if let Some(expected) = expected.filter(|expected| *expected != values.len()) {
            return Err(SearchError::Dimension {
                profile: profile.to_owned(),
                expected,
                got: values.len(),
            });
        }
        let values = vector::normalised(values);
        Ok(Self {
            profile: profile.to_owned(),
            prepared: PreparedQuery::new(&values),
            values,
        })
    }

    pub(super) fn profile(&self) -> &str {
        &self.profile
    }

    pub(super) fn prepared(&self) -> &PreparedQuery {
        &self.prepared
    }

    /// Whether the record has vectors that this one can be compared with.
    pub(super) fn compares_with(&self, doc: &TailDoc) -> bool {
        !self.chunks(&doc.record, &doc.inverse_norms).is_empty()
    }

    fn chunks<'a>(&self, record: &'a Record, inverse_norms: &[f64]) -> &'a [Chunk] {
        match &record.embedding {
            Embedding::Ready { profile, chunks }
                if *profile == self.profile
                    && inverse_norms.len() == chunks.len()
                    && chunks
                        .first()
                        .is_some_and(|c| c.vector.len() == self.values.len()) =>
            {
                chunks
            }
            _ => &[],
        }
    }

    /// The closest chunk and its cosine; the first of equals.
    fn closest<'a>(&self, record: &'a Record, inverse_norms: &[f64]) -> Option<(&'a Chunk, f64)> {
        let mut best: Option<(&Chunk, f64)> = None;
        let chunks = self.chunks(record, inverse_norms);
        for (chunk, inverse_norm) in chunks.iter().zip(inverse_norms) {
            let cosine = vector::cosine(&self.values, &chunk.vector, *inverse_norm);
            if best.is_none_or(|(_, highest)| cosine > highest) {
                best = Some((chunk, cosine));
            }
        }
        best
    }

    /// The closest chunk of a record and its cosine.
    pub(super) fn closest_of<'a>(&self, record: &'a Record) -> Option<(&'a Chunk, f64)> {
        self.closest(record, &vector::inverse_norms(&record.embedding))
    }

    /// The tail's records that are visible and can be compared.
    pub(super) fn rank_tail(&self, tail: &Tail, visible: &Visible) -> Vec<Scored> {
        visible
            .numbers()
            .filter_map(|number| {
                let doc = tail.doc(number)?;
                let (_, score) = self.closest(&doc.record, &doc.inverse_norms)?;
                Some(Scored {
                    doc: Doc::Tail(number),
                    score,
                })
            })
            .collect()
    }
}
