//! Counting: how many records matched, and how much of what is visible the ranking
//! covered.
//!
//! It is apart because of a large collection counts are taken from lists and statistics,
//! without the records. It must not influence the order.

use std::collections::BTreeSet;

use super::doc::{Doc, Scored};
use super::reach::Reach;
use super::{Lanes, Ranking};
use crate::answer::Coverage;
use crate::query::Mode;
use crate::record::Embedding;
use crate::step::SearchError;

impl Ranking<'_, '_> {
    /// How many visible records some lane has, as far as that is known without reading
    /// them all.
    pub(super) fn matched(&self, lanes: &Lanes, ordered: usize) -> Result<u64, SearchError> {
        let has_terms = self.terms.is_some_and(|terms| !terms.terms.is_empty());
        let (keyword, semantic) = match (self.mode, &lanes.keyword, &lanes.semantic) {
            (_, None, None) => return Ok(self.visible.numbers().count() as u64),
            (Mode::Hybrid, _, _) if self.query.min_score.is_some() => return Ok(ordered as u64),
            (Mode::Hybrid, keyword, semantic) => {
                (keyword.as_ref().filter(|_| has_terms), semantic.as_ref())
            }
            (Mode::Keyword, keyword, _) => (keyword.as_ref(), None),
            (Mode::Semantic, _, semantic) => (None, semantic.as_ref()),
        };
        let is_enough = |scored: &&Scored| self.cut.least.is_none_or(|least| scored.score >= least);
        let lanes_have = |of: fn(Doc) -> bool| {
            let all = [keyword, semantic].into_iter().flatten().flatten();
            let docs: BTreeSet<Doc> = all
                .filter(is_enough)
                .map(|scored| scored.doc)
                .filter(|doc| of(*doc))
                .collect();
            docs.len() as u64
        };
        if lanes.are_whole || self.cut.least.is_some() {
            return Ok(lanes_have(|_| true));
        }
        let mut count = lanes_have(|doc| matches!(doc, Doc::Tail(_)));
        for reach in &self.reaches {
            let words = match keyword {
                Some(_) => reach.matched()?,
                None => 0,
            };
            let meanings = match semantic {
                Some(_) => self.embedded(reach),
                None => 0,
            };
            count += words.max(meanings);
        }
        Ok(count)
    }

    /// About how many eligible rows of a segment have vectors to compare with.
    fn embedded(&self, reach: &Reach<'_>) -> u64 {
        let root = reach.segment().root;
        let compares = self.vector.is_none_or(|vector| {
            root.vectors
                .as_ref()
                .is_some_and(|vectors| vectors.profile == vector.profile())
        });
        if compares {
            reach.eligible().len().min(root.statistics.embedded)
        } else {
            0
        }
    }

    pub(super) fn coverage(&self) -> Coverage {
        let mut coverage = Coverage::default();
        let tail = self.snapshot.tail;
        for doc in self.visible.numbers().filter_map(|number| tail.doc(number)) {
            coverage.records += 1;
            match &doc.record.embedding {
                Embedding::None => {}
                Embedding::Pending { .. } => coverage.pending += 1,
                Embedding::Ready { chunks, .. } => {
                    let compares = match self.vector {
                        Some(vector) => vector.compares_with(doc),
                        None => !doc.inverse_norms.is_empty(),
                    };
                    if compares {
                        coverage.embedded += 1;
                    } else if !chunks.is_empty() {
                        coverage.pending += 1;
                    }
                }
            }
        }
        for reach in &self.reaches {
            let eligible = reach.eligible().len();
            let statistics = &reach.segment().root.statistics;
            let embedded = self.embedded(reach);
            coverage.records += eligible;
            coverage.embedded += embedded;
            let due = statistics.pending + statistics.embedded - embedded.min(statistics.embedded);
            coverage.pending += due.min(eligible.saturating_sub(embedded));
        }
        coverage
    }
}
