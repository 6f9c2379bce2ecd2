//! The semantic lane: the cosine of the query's vector with each record's
//! closest chunk.
//!
//! The scan is exact. Vectors of another profile are never compared, because a
//! cosine between two models means nothing.

use super::lane::{Cut, Ranked, Scored, Visible};
use crate::record::{Chunk, Embedding};
use crate::step::SearchError;
use crate::tail::{Doc, Tail};
use crate::vector;

/// The query's vector at unit length.
#[derive(Debug)]
pub(super) struct QueryVector {
    profile: String,
    values: Vec<f32>,
}

impl QueryVector {
    pub(super) fn of(tail: &Tail, profile: &str, values: &[f32]) -> Result<Self, SearchError> {
        vector::check(values, None).map_err(SearchError::Vector)?;
        if let Some(expected) = tail
            .dimension(profile)
            .filter(|expected| *expected != values.len())
        {
            return Err(SearchError::Dimension {
                profile: profile.to_owned(),
                expected,
                got: values.len(),
            });
        }
        Ok(Self {
            profile: profile.to_owned(),
            values: vector::normalised(values),
        })
    }

    /// Whether the record has vectors that this one can be compared with.
    pub(super) fn compares_with(&self, doc: &Doc) -> bool {
        !self.chunks(doc).is_empty()
    }

    fn chunks<'a>(&self, doc: &'a Doc) -> &'a [Chunk] {
        match &doc.record.embedding {
            Embedding::Ready { profile, chunks }
                if *profile == self.profile
                    && doc.inverse_norms.len() == chunks.len()
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
    fn closest<'a>(&self, doc: &'a Doc) -> Option<(&'a Chunk, f64)> {
        let mut best: Option<(&Chunk, f64)> = None;
        for (chunk, inverse_norm) in self.chunks(doc).iter().zip(&doc.inverse_norms) {
            let cosine = vector::cosine(&self.values, &chunk.vector, *inverse_norm);
            if best.is_none_or(|(_, highest)| cosine > highest) {
                best = Some((chunk, cosine));
            }
        }
        best
    }
}

pub(super) fn rank(tail: &Tail, visible: &Visible, vector: &QueryVector, cut: Cut) -> Ranked {
    let scored = visible.numbers().filter_map(|doc| {
        let (_, score) = vector.closest(tail.doc(doc)?)?;
        Some(Scored { doc, score })
    });
    Ranked::of(tail, scored, cut)
}

/// The bytes of the content that the closest chunk covers.
pub(super) fn best_chunk(tail: &Tail, doc: u32, vector: &QueryVector) -> Option<(u32, u32)> {
    let (chunk, _) = vector.closest(tail.doc(doc)?)?;
    Some((chunk.start, chunk.end))
}
