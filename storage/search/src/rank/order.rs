//! The order of an answer: one lane's, or both lanes fused.
//!
//! It works on scores as they are known so far, so that the same rule says which rows to
//! fetch and, once they are, which come first. It must not fetch.

use std::collections::{BTreeMap, BTreeSet};

use super::doc::{Doc, Records, Scored};
use super::keyword::Weights;
use super::lane::{Cut, Ranked};
use super::{Lanes, Ranking, TIES};
use crate::fusion;
use crate::query::Mode;

impl Ranking<'_, '_> {
    /// The order of the answer, and the lanes in theirs.
    pub(super) fn order(
        &self,
        lanes: &Lanes,
        records: &Records<'_>,
    ) -> (Vec<Scored>, Option<Ranked>, Option<Ranked>) {
        let ranked = |lane: &Option<Vec<Scored>>, ties: usize| {
            let depth = self.cut.depth.max(self.spread()).saturating_add(ties);
            let cut = Cut { depth, ..self.cut };
            lane.as_ref()
                .map(|lane| Ranked::of(records, lane.iter().copied(), cut))
        };
        // Estimates of cosines do not tie.
        let (keyword, semantic) = (ranked(&lanes.keyword, TIES), ranked(&lanes.semantic, 0));
        let order = match (self.mode, &keyword, &semantic) {
            (_, None, None) => {
                // A listing: nothing is scored, so the newest come first.
                let all = self.visible.numbers().map(|number| Scored {
                    doc: Doc::Tail(number),
                    score: 0.0,
                });
                let cut = Cut {
                    least: None,
                    ..self.cut
                };
                Ranked::of(records, all, cut).scored().to_vec()
            }
            (Mode::Hybrid, _, _) => {
                let has_terms = self.terms.is_some_and(|terms| !terms.terms.is_empty());
                let keyword = keyword.as_ref().filter(|_| has_terms);
                self.fuse(lanes, records, keyword, semantic.as_ref())
            }
            (Mode::Keyword, Some(lane), _) | (Mode::Semantic, _, Some(lane)) => {
                lane.scored().to_vec()
            }
            (Mode::Keyword, None, _) | (Mode::Semantic, _, None) => Vec::new(),
        };
        (order, keyword, semantic)
    }

    /// Fuses the best of the lanes there are, each with its scores in both.
    fn fuse(
        &self,
        lanes: &Lanes,
        records: &Records<'_>,
        keyword: Option<&Ranked>,
        semantic: Option<&Ranked>,
    ) -> Vec<Scored> {
        let best: BTreeSet<Doc> = [keyword, semantic]
            .into_iter()
            .flatten()
            .flat_map(|lane| lane.scored().iter().take(self.cut.depth))
            .map(|scored| scored.doc)
            .collect();
        let scores = |lane: &Option<Vec<Scored>>| -> BTreeMap<Doc, f64> {
            let all = lane.iter().flatten();
            all.filter(|scored| best.contains(&scored.doc))
                .map(|scored| (scored.doc, scored.score))
                .collect()
        };
        let (words, meanings) = (scores(&lanes.keyword), scores(&lanes.semantic));
        let candidates = best.iter().map(|doc| {
            let by_words = keyword.and_then(|_| words.get(doc).copied());
            // Of a row that has not been read its cosine is not absent but unknown.
            let unknown = match (records.get(*doc), semantic) {
                (None, Some(lane)) => lane.scored().last().map(|last| last.score),
                _ => None,
            };
            (*doc, by_words, meanings.get(doc).copied().or(unknown))
        });
        let term_weights = self.weights.as_ref().map_or(0.0, Weights::sum);
        let parameters = fusion::Parameters::of(term_weights);
        let scored = fusion::fuse(candidates, parameters)
            .into_iter()
            .map(|(doc, score)| Scored { doc, score })
            .filter(|scored| {
                let least = self.query.min_score;
                least.is_none_or(|least| scored.score >= least)
            });
        let whole = Cut {
            depth: usize::MAX,
            least: None,
        };
        Ranked::of(records, scored, whole).scored().to_vec()
    }
}
