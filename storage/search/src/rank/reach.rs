//! What a query sees of one segment: the lists of its words, and the rows that are
//! eligible.
//!
//! Rows that were replaced or have expired, and those that the query's conditions leave
//! out, take no place anywhere because they are taken out here, before anything is ranked.

use std::collections::BTreeMap;

use super::clauses::{Clause, of_scope};
use super::gather::{Gatherer, frequency, least, worthwhile};
use super::shelf::{Found, Shelf, unreadable};
use crate::postings::{DocSet, List, TermHash, keys, union};
use crate::query::Query;
use crate::record::Status;
use crate::segment::{Root, SegmentError};
use crate::snapshot::{SegmentRef, Snapshot};
use crate::step::SearchError;
use crate::text::QueryTerms;

/// What a query sees of a segment.
#[derive(Debug)]
pub(super) struct Reach<'a> {
    index: usize,
    segment: SegmentRef<'a>,
    lists: BTreeMap<String, List>,
    eligible: DocSet,
}

impl<'a> Reach<'a> {
    /// Takes what it needs from the shelf; nothing if something is missing there.
    pub(super) fn of(
        snapshot: &Snapshot<'a>,
        index: usize,
        segment: SegmentRef<'a>,
        query: &Query,
        terms: Option<&QueryTerms>,
        shelf: &mut Shelf<'_>,
    ) -> Result<Option<Self>, SearchError> {
        let mut lists = BTreeMap::new();
        let mut is_whole = true;
        for term in terms.iter().flat_map(|terms| terms.terms.keys()) {
            match shelf.list(segment, TermHash::text(term))? {
                Found::List(list) => {
                    lists.insert(term.clone(), list);
                }
                Found::Nothing => {}
                Found::Missing => is_whole = false,
            }
        }
        let eligible = eligible(snapshot, segment, query, shelf)?;
        Ok(match eligible {
            Some(eligible) if is_whole => Some(Self {
                index,
                segment,
                lists,
                eligible,
            }),
            _ => None,
        })
    }

    pub(super) fn index(&self) -> usize {
        self.index
    }

    pub(super) fn segment(&self) -> SegmentRef<'a> {
        self.segment
    }

    pub(super) fn list(&self, term: &str) -> Option<&List> {
        self.lists.get(term)
    }

    /// The rows that may be found.
    pub(super) fn eligible(&self) -> &DocSet {
        &self.eligible
    }

    /// How many eligible rows have a word of the query.
    pub(super) fn matched(&self) -> Result<u64, SearchError> {
        let all = union(self.lists.values())
            .map_err(|error| unreadable(self.segment, SegmentError::Postings(error)))?;
        Ok(all.intersection_len(&self.eligible))
    }
}

/// The share of a segment's rows that a query's conditions are likely to leave, from
/// what the root says alone: so the same before and after the lists are fetched.
pub(super) fn selectivity(root: &Root, query: &Query) -> f64 {
    let live = root.statistics.live.max(1) as f64;
    let clauses = Clause::of(query, &root.postings.sorted);
    let places = match in_place(root, query) {
        Some(rows) => rows.len() as f64,
        None => of_scope(&query.scope).map_or(live, |lists| frequency(root, &lists)),
    };
    least(&clauses, root).min(places / live).clamp(0.0, 1.0)
}

/// Rows up to which a list is likely to leave so few that all of them are read.
const LIKELY_FEW: f64 = 5_000.0;

/// Whether the rows that a query may see are likely to be so few that all of them are
/// read, from what the root says alone: then nothing is to be guessed of the vectors.
pub(super) fn are_likely_few(root: &Root, query: &Query) -> bool {
    let places = match in_place(root, query) {
        // Rows of a scope lie together, so they cost little each.
        Some(rows) => rows.len() as f64,
        None => of_scope(&query.scope).map_or(f64::MAX, |lists| frequency(root, &lists)),
    };
    let clauses = Clause::of(query, &root.postings.sorted);
    let listed = clauses.iter().filter_map(|clause| match clause {
        Clause::Listed(lists) => Some(frequency(root, lists)),
        _ => None,
    });
    let live = root.statistics.live as f64;
    let is_listed = listed.fold(places, f64::min) <= LIKELY_FEW && live > LIKELY_FEW;
    is_listed || least(&clauses, root) * live < query.few.rows as f64
}

/// The rows that a query may see, if all that tells is at hand.
fn eligible(
    snapshot: &Snapshot<'_>,
    segment: SegmentRef<'_>,
    query: &Query,
    shelf: &mut Shelf<'_>,
) -> Result<Option<DocSet>, SearchError> {
    let root = segment.root;
    let live = u32::try_from(root.statistics.live).unwrap_or(u32::MAX);
    let mut all_of = Vec::new();
    let mut rows = in_place(root, query).unwrap_or_else(|| {
        all_of.extend(of_scope(&query.scope).map(Clause::Listed));
        let realm = query.realm.as_ref().map(|realm| vec![keys::realm(realm)]);
        all_of.extend(realm.map(Clause::Listed));
        (0..live).collect()
    });
    let statuses = |wanted: bool| {
        Status::ALL
            .into_iter()
            .filter(move |status| query.statuses.contains(status) == wanted)
            .map(keys::status)
            .collect::<Vec<_>>()
    };
    match (
        root.statistics.inactive,
        query.statuses.contains(&Status::Active),
    ) {
        (0, true) => {}
        (0, false) => rows.clear(),
        (_, true) => all_of.push(Clause::Unlisted(statuses(false))),
        (_, false) => all_of.push(Clause::Listed(statuses(true))),
    }
    all_of.extend(Clause::of(query, &root.postings.sorted));
    let mut gatherer = Gatherer::new(segment, shelf);
    let places = rows.len() as f64;
    for clause in worthwhile(all_of, root, places, query.few.rows) {
        gatherer.rows(&clause)?.keep(&mut rows);
    }
    if !gatherer.is_whole() {
        return Ok(None);
    }
    rows -= snapshot.dead(segment.id);
    let expired = root.expiring.partition_point(|(at, _)| *at <= query.now);
    for (_, row) in root.expiring.iter().take(expired) {
        rows.remove(*row);
    }
    // Names of past rows are in the same lists as those of live ones.
    rows.remove_range(live..);
    Ok(Some(rows))
}

/// The rows in the query's realm and scope, where the root says which scope each has.
fn in_place(root: &Root, query: &Query) -> Option<DocSet> {
    if root.runs.is_empty() && root.statistics.live > 0 {
        return None;
    }
    let mut rows = DocSet::new();
    let mut start = 0_u32;
    for run in &root.runs {
        let end = start.saturating_add(run.rows);
        let is_in_realm = query.realm.as_ref().is_none_or(|realm| *realm == run.realm);
        if is_in_realm && query.scope.admits(&run.scope) {
            rows.insert_range(start..end);
        }
        start = end;
    }
    Some(rows)
}
