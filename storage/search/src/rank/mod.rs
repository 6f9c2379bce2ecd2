//! Ranking: what a query's visible records are ordered by, and the answer made
//! of it.
//!
//! Visibility and filters come first, so that what may not be seen never takes a
//! place. Lanes score; fusion orders; neither fetches. Few eligible rows are read and
//! ranked exactly; of many, those that lists and codes promise most of, and more of them
//! until the answer is full.

mod clauses;
mod counts;
mod doc;
mod gather;
mod keyword;
mod lane;
mod order;
mod probe;
mod reach;
mod semantic;
mod shelf;
mod visible;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::answer::{Answer, Degraded, Hit};
use crate::ivf::RERANK;
use crate::postings::{DocSet, Wanted};
use crate::query::{Effort, Mode, Query, VectorSource};
use crate::segment::SegmentError;
use crate::snapshot::Snapshot;
use crate::step::{Ranges, Read, SearchError, VectorUnavailable};
use crate::text::QueryTerms;
use doc::{Doc, Records, Scored};
use keyword::Weights;
use lane::Cut;
use probe::Probe;
use reach::{Reach, are_likely_few};
use semantic::QueryVector;
use shelf::{Shelf, unreadable};
use visible::Visible;

/// What ranking comes to.
pub(crate) enum Outcome {
    /// The answer.
    Done(Answer),
    /// These are missing.
    Need(Vec<Read>),
    /// What was found does not suffice, and there is more.
    Further,
}

/// Of records that tie, so many are read at most to find which come first.
const TIES: usize = 64;

/// Answers a query from what has been fetched, or says what is missing.
pub(crate) fn answer(
    snapshot: &Snapshot<'_>,
    query: &Query,
    fetched_vector: Option<&Result<Vec<f32>, VectorUnavailable>>,
    fetched: &Ranges,
    round: u32,
) -> Result<Outcome, SearchError> {
    let mut degraded = Vec::new();
    let vector = query_vector(snapshot, query, fetched_vector, &mut degraded)?;
    let terms = query
        .text
        .as_deref()
        .filter(|_| query.mode != Mode::Semantic || vector.is_none())
        .map(QueryTerms::of);
    let mode = match (query.mode, &vector, &terms) {
        (Mode::Semantic, None, Some(_)) => Mode::Keyword,
        (mode, _, _) => mode,
    };
    if terms.is_none() && vector.is_none() && !snapshot.segments.is_empty() {
        return Err(SearchError::NothingToRankBy);
    }
    let mut shelf = Shelf::new(fetched);
    let mut reaches = Vec::new();
    for (index, segment) in snapshot.segments.iter().enumerate() {
        let reach = Reach::of(snapshot, index, *segment, query, terms.as_ref(), &mut shelf)?;
        reaches.extend(reach);
    }
    let mut probes = Vec::new();
    for segment in &snapshot.segments {
        let probe = vector
            .as_ref()
            .and_then(|vector| Probe::of(*segment, query, vector, round));
        probes.push(probe);
    }
    if shelf.is_missing_any() {
        // Whether rows are few is a matter of all segments together.
        let mut segments = snapshot.segments.iter();
        if !segments.all(|segment| are_likely_few(segment.root, query)) {
            for probe in probes.iter().flatten() {
                probe.request(&mut shelf)?;
            }
        }
        return Ok(Outcome::Need(shelf.into_missing()));
    }
    let weights = terms
        .as_ref()
        .map(|terms| Weights::of(snapshot, &reaches, terms, query.bm25));
    let ranking = Ranking {
        snapshot,
        query,
        mode,
        terms: terms.as_ref(),
        vector: vector.as_ref(),
        visible: Visible::of(snapshot.tail, query),
        cut: Cut::of(query, mode),
        round,
        reaches,
        probes,
        weights,
    };
    ranking.answer(shelf, degraded)
}

/// A query whose lists are at hand.
struct Ranking<'q, 'a> {
    snapshot: &'q Snapshot<'a>,
    query: &'q Query,
    mode: Mode,
    terms: Option<&'q QueryTerms>,
    vector: Option<&'q QueryVector>,
    visible: Visible,
    cut: Cut,
    round: u32,
    reaches: Vec<Reach<'a>>,
    probes: Vec<Option<Probe<'a>>>,
    weights: Option<Weights<'q>>,
}

/// The lanes before they are ordered.
#[derive(Debug, Default)]
struct Lanes {
    keyword: Option<Vec<Scored>>,
    semantic: Option<Vec<Scored>>,
    /// Whether they hold every record there is.
    are_whole: bool,
    /// Below this score one that was cut off may lack records.
    cut_at: Option<f64>,
}

impl Lanes {
    /// Says that rows of a segment that do not score above this are in no lane.
    fn cut(&mut self, at: f64) {
        self.are_whole = false;
        self.cut_at = Some(self.cut_at.map_or(at, |other| other.max(at)));
    }
}

impl Ranking<'_, '_> {
    fn answer(
        &self,
        mut shelf: Shelf<'_>,
        degraded: Vec<Degraded>,
    ) -> Result<Outcome, SearchError> {
        let mut records = Records::new(self.snapshot.tail);
        let mut lanes = if self.are_few() {
            let all: Vec<(usize, BTreeSet<u32>)> = self
                .reaches
                .iter()
                .map(|reach| (reach.index(), reach.eligible().iter().collect()))
                .collect();
            self.fetch(all, &mut shelf, &mut records)?;
            self.lanes_of_few(&records)?
        } else {
            let lanes = self.lanes_of_many(&mut shelf)?;
            if !shelf.is_missing_any() {
                let wanted = self.promising(&lanes, &records);
                self.fetch(wanted, &mut shelf, &mut records)?;
            }
            lanes
        };
        if shelf.is_missing_any() {
            return Ok(Outcome::Need(shelf.into_missing()));
        }
        self.correct(&mut lanes, &records);
        let (order, keyword, semantic) = self.order(&lanes, &records);
        let at_hand = |scored: &Scored| records.get(scored.doc).is_some();
        let unread = best_unread(&order, &records);
        let is_sure = |scored: &Scored| {
            at_hand(scored)
                && lanes.cut_at.is_none_or(|least| scored.score >= least)
                && unread.is_none_or(|unread| scored.score > unread)
        };
        // Of words, and where all is looked at, nothing that lies above a hit is missing.
        let found = if self.mode == Mode::Keyword || self.misses_nothing() {
            order.iter().take_while(|scored| is_sure(scored)).count()
        } else {
            order.iter().filter(|scored| at_hand(scored)).count()
        };
        let is_missing_some = !lanes.are_whole || found < order.len();
        if found < self.query.limit && is_missing_some && self.round < MOST_ROUNDS {
            return Ok(Outcome::Further);
        }
        let matched = self.matched(&lanes, order.len())?;
        let hits = order
            .into_iter()
            .filter(at_hand)
            .take(self.query.limit)
            .filter_map(|Scored { doc, score }| {
                let record = records.get(doc)?;
                let chunk = self.vector.and_then(|vector| vector.closest_of(record));
                Some(Hit {
                    record: Arc::clone(record),
                    score,
                    keyword: keyword.as_ref().and_then(|lane| lane.place(doc)),
                    semantic: semantic.as_ref().and_then(|lane| lane.place(doc)),
                    chunk: chunk.map(|(chunk, _)| (chunk.start, chunk.end)),
                    terms: self
                        .terms
                        .map(|terms| {
                            keyword::matched(self.snapshot.tail, &self.reaches, doc, terms)
                        })
                        .unwrap_or_default(),
                })
            })
            .collect();
        Ok(Outcome::Done(Answer {
            hits,
            matched,
            mode: self.mode,
            coverage: self.coverage(),
            degraded,
            query_clamped: self.terms.is_some_and(|terms| terms.clamped),
        }))
    }

    /// Whether the eligible rows are so few that all are read.
    fn are_few(&self) -> bool {
        let rows: u64 = self
            .reaches
            .iter()
            .map(|reach| reach.eligible().len())
            .sum();
        if rows <= self.query.few.rows {
            return true;
        }
        let mut bytes = 0;
        for reach in &self.reaches {
            let root = reach.segment().root;
            let mut last = None;
            for row in reach.eligible() {
                let block = root.block_of(row).map(|(block, _)| block);
                if block != last {
                    last = block;
                    let block = block.and_then(|block| root.blocks.get(block));
                    bytes += block.map_or(0, |block| u64::from(block.len));
                }
                if bytes > self.query.few.bytes {
                    return false;
                }
            }
        }
        true
    }

    /// The tail's part of both lanes.
    fn lanes_of_tail(&self) -> Lanes {
        let tail = self.snapshot.tail;
        Lanes {
            keyword: self
                .weights
                .as_ref()
                .map(|weights| weights.rank_tail(tail, &self.visible)),
            semantic: self
                .vector
                .map(|vector| vector.rank_tail(tail, &self.visible)),
            are_whole: true,
            cut_at: None,
        }
    }

    /// The lanes where every eligible row has been read.
    fn lanes_of_few(&self, records: &Records<'_>) -> Result<Lanes, SearchError> {
        let mut lanes = self.lanes_of_tail();
        if let (Some(lane), Some(weights)) = (&mut lanes.keyword, &self.weights) {
            for reach in &self.reaches {
                let rows = weights
                    .score_rows(reach, reach.eligible())
                    .map_err(|error| unreadable(reach.segment(), SegmentError::Postings(error)))?;
                lane.extend(rows);
            }
        }
        if let (Some(lane), Some(vector)) = (&mut lanes.semantic, self.vector) {
            for reach in &self.reaches {
                lane.extend(reach.eligible().iter().filter_map(|row| {
                    let doc = Doc::Row(reach.index(), row);
                    let (_, score) = vector.closest_of(records.get(doc)?)?;
                    Some(Scored { doc, score })
                }));
            }
        }
        Ok(lanes)
    }

    /// The lanes as lists and codes have them.
    fn lanes_of_many(&self, shelf: &mut Shelf<'_>) -> Result<Lanes, SearchError> {
        let mut lanes = self.lanes_of_tail();
        let depth = self.cut.depth.max(self.spread());
        if let Some(weights) = &self.weights {
            let wanted = Wanted {
                k: depth,
                least: self.cut.least,
            };
            for reach in &self.reaches {
                let rows = weights
                    .rank_rows(reach, wanted)
                    .map_err(|error| unreadable(reach.segment(), SegmentError::Postings(error)))?;
                let least = rows.iter().map(|row| row.score).min_by(f64::total_cmp);
                if let Some(least) = least.filter(|_| rows.len() >= depth) {
                    lanes.cut(least);
                }
                lanes.keyword.iter_mut().for_each(|lane| lane.extend(&rows));
            }
        }
        if let Some(vector) = self.vector {
            for (reach, probe) in self.reaches.iter().zip(&self.probes) {
                let Some(probe) = probe else { continue };
                let found = if self.misses_nothing() {
                    let limit = self.widened(self.query.limit);
                    probe.contenders(reach, vector, limit, self.cut.least, shelf)?
                } else {
                    probe.most_promising(reach, vector, depth, shelf)?
                };
                lanes.are_whole &= probe.is_exhaustive();
                if let Some(rest) = found.rest {
                    lanes.cut(rest);
                }
                lanes
                    .semantic
                    .iter_mut()
                    .for_each(|lane| lane.extend(&found.rows));
            }
        }
        self.score_other_lane(&mut lanes)?;
        Ok(lanes)
    }

    /// Scores by words what was found by meaning: fusion weighs both.
    fn score_other_lane(&self, lanes: &mut Lanes) -> Result<(), SearchError> {
        let (Some(keyword), Some(semantic), Some(weights)) =
            (&mut lanes.keyword, &lanes.semantic, &self.weights)
        else {
            return Ok(());
        };
        let known: BTreeSet<Doc> = keyword.iter().map(|scored| scored.doc).collect();
        for reach in &self.reaches {
            let rows: DocSet = semantic
                .iter()
                .filter(|scored| !known.contains(&scored.doc))
                .filter_map(|scored| match scored.doc {
                    Doc::Row(index, row) if index == reach.index() => Some(row),
                    _ => None,
                })
                .collect();
            let scored = weights
                .score_rows(reach, &rows)
                .map_err(|error| unreadable(reach.segment(), SegmentError::Postings(error)))?;
            keyword.extend(scored);
        }
        Ok(())
    }

    /// How many of the most promising records are looked at themselves.
    fn spread(&self) -> usize {
        let limit = self.query.limit;
        let more = match self.mode {
            // Scores of words are exact, and weigh most where both count.
            Mode::Keyword => 4,
            Mode::Hybrid => (limit / 2).max(8),
            Mode::Semantic => RERANK.saturating_sub(10).max(limit / 2),
        };
        self.widened(limit.saturating_add(more))
    }

    fn widened(&self, count: usize) -> usize {
        count.saturating_mul(4_usize.saturating_pow(self.round))
    }

    /// Whether every row that may be a hit is looked at itself, however many there are.
    fn misses_nothing(&self) -> bool {
        self.mode == Mode::Semantic && self.query.effort == Effort::Exact
    }

    /// The rows to fetch, by segment.
    fn promising(&self, lanes: &Lanes, records: &Records<'_>) -> Vec<(usize, BTreeSet<u32>)> {
        let (order, spread) = if self.misses_nothing() {
            // An estimate says nothing of the order, nor of what is below a minimum.
            (lanes.semantic.clone().unwrap_or_default(), usize::MAX)
        } else {
            (self.order(lanes, records).0, self.spread())
        };
        let last = order.get(spread.saturating_sub(1)).map(|last| last.score);
        let ties = order
            .iter()
            .skip(spread)
            .take_while(|scored| Some(scored.score) == last)
            .take(TIES)
            .count();
        let mut wanted: BTreeMap<usize, BTreeSet<u32>> = BTreeMap::new();
        for scored in order.iter().take(spread.saturating_add(ties)) {
            if let Doc::Row(segment, row) = scored.doc {
                wanted.entry(segment).or_default().insert(row);
            }
        }
        wanted.into_iter().collect()
    }

    fn fetch(
        &self,
        wanted: Vec<(usize, BTreeSet<u32>)>,
        shelf: &mut Shelf<'_>,
        records: &mut Records<'_>,
    ) -> Result<(), SearchError> {
        for (index, rows) in wanted {
            if let Some(segment) = self.snapshot.segments.get(index) {
                for (row, record) in shelf.records(*segment, &rows)? {
                    records.put(index, row, record);
                }
            }
        }
        Ok(())
    }

    /// Takes out what the records say is not visible, and puts their cosines in the place
    /// of estimates.
    fn correct(&self, lanes: &mut Lanes, records: &Records<'_>) {
        let is_visible = |doc: Doc| match doc {
            Doc::Tail(_) => true,
            Doc::Row(..) => records
                .get(doc)
                .is_none_or(|record| self.query.admits(record)),
        };
        if let Some(lane) = &mut lanes.keyword {
            lane.retain(|scored| is_visible(scored.doc));
        }
        if let (Some(lane), Some(vector)) = (&mut lanes.semantic, self.vector) {
            lane.retain(|scored| is_visible(scored.doc));
            for scored in lane.iter_mut() {
                if let (Doc::Row(..), Some(record)) = (scored.doc, records.get(scored.doc))
                    && let Some((_, cosine)) = vector.closest_of(record)
                {
                    scored.score = cosine;
                }
            }
            // What was found by words is compared too, now that its vector is at hand.
            let known: BTreeSet<Doc> = lane.iter().map(|scored| scored.doc).collect();
            let others = lanes.keyword.iter().flatten().map(|scored| scored.doc);
            lane.extend(
                others
                    .filter(|doc| matches!(doc, Doc::Row(..)) && !known.contains(doc))
                    .filter_map(|doc| {
                        let (_, score) = vector.closest_of(records.get(doc)?)?;
                        Some(Scored { doc, score })
                    }),
            );
        }
    }
}

/// The score of the best record that has not been read, which may come before those that it
/// ties with; nothing if enough of these have been read.
fn best_unread(order: &[Scored], records: &Records<'_>) -> Option<f64> {
    let is_read = |scored: &&Scored| records.get(scored.doc).is_some();
    let best = order.iter().find(|scored| !is_read(scored))?.score;
    let ties = |scored: &&Scored| scored.score.total_cmp(&best).is_eq();
    let tying = order.iter().filter(is_read).filter(ties).count();
    (tying < TIES).then_some(best)
}

/// Rounds after which everything has been looked at in any case.
const MOST_ROUNDS: u32 = 12;

/// The query's vector, ready to be compared; says why if it had to do without.
fn query_vector(
    snapshot: &Snapshot<'_>,
    query: &Query,
    fetched: Option<&Result<Vec<f32>, VectorUnavailable>>,
    degraded: &mut Vec<Degraded>,
) -> Result<Option<QueryVector>, SearchError> {
    if query.mode == Mode::Keyword {
        return Ok(None);
    }
    let (profile, values) = match (&query.vector, fetched) {
        (VectorSource::Given { profile, values }, _)
        | (VectorSource::Awaited { profile }, Some(Ok(values))) => (profile, values),
        (VectorSource::Awaited { .. }, Some(Err(unavailable))) => {
            degraded.push(Degraded::QueryVector {
                reason: unavailable.reason.clone(),
            });
            return Ok(None);
        }
        (VectorSource::Awaited { .. } | VectorSource::None, _) => {
            if query.text.is_some() {
                degraded.push(Degraded::NoEmbedding);
            }
            return Ok(None);
        }
    };
    QueryVector::of(snapshot, profile, values).map(Some)
}
