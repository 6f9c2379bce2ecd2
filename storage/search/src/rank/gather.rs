//! The rows of clauses: about how many they are, from the root alone, and which, once
//! what tells has been read.
//!
//! Of a range the smaller side is read, and what costs more to know than to leave to the
//! records is not read at all. All of that follows from the root, so that it is decided
//! alike before and after anything is fetched.

use super::clauses::Clause;
use super::shelf::{Found, Shelf, unreadable};
use crate::postings::{DocSet, Frequency, TermHash, union};
use crate::segment::{Ranges, Root, SegmentError};
use crate::snapshot::SegmentRef;
use crate::step::SearchError;

/// Rows of a segment.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Rows {
    /// These.
    In(DocSet),
    /// All but these.
    NotIn(DocSet),
}

impl Rows {
    fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::In(a), Self::In(b)) => Self::In(a & b),
            (Self::In(a), Self::NotIn(b)) | (Self::NotIn(b), Self::In(a)) => Self::In(a - b),
            (Self::NotIn(a), Self::NotIn(b)) => Self::NotIn(a | b),
        }
    }

    fn or(self, other: Self) -> Self {
        match (self, other) {
            (Self::In(a), Self::In(b)) => Self::In(a | b),
            (Self::In(a), Self::NotIn(b)) | (Self::NotIn(b), Self::In(a)) => Self::NotIn(b - a),
            (Self::NotIn(a), Self::NotIn(b)) => Self::NotIn(a & b),
        }
    }

    /// Leaves of a set those that are in here.
    pub(super) fn keep(self, rows: &mut DocSet) {
        match self {
            Self::In(these) => *rows &= these,
            Self::NotIn(these) => *rows -= these,
        }
    }
}

/// The ranges to read for the values of a clause, and what they tell.
enum Side {
    In(Ranges),
    NotIn(Ranges),
}

impl Side {
    fn ranges(&self) -> &Ranges {
        let (Self::In(ranges) | Self::NotIn(ranges)) = self;
        ranges
    }

    /// Of rows with these values: if they are most, those with others are taken out, which
    /// leaves those without a value.
    fn of_within(ranges: &Ranges, root: &Root) -> Self {
        if is_most(ranges, root) {
            Self::NotIn(ranges.others())
        } else {
            Self::In(ranges.clone())
        }
    }

    /// Of rows without these values: if those with them are most and every row has one,
    /// the rows with others are read.
    fn of_outside(ranges: &Ranges, root: &Root) -> Self {
        let sorted = &root.postings.sorted;
        if is_most(ranges, root) && ranges.present(sorted) == root.statistics.live {
            Self::In(ranges.others())
        } else {
            Self::NotIn(ranges.clone())
        }
    }
}

fn is_most(ranges: &Ranges, root: &Root) -> bool {
    ranges.estimate(&root.postings.sorted) * 2.0 > root.statistics.live as f64
}

/// The share of a segment's rows that a clause is likely to leave.
pub(super) fn share(clause: &Clause, root: &Root) -> f64 {
    let live = root.statistics.live.max(1) as f64;
    let within = |ranges: &Ranges| ranges.estimate(&root.postings.sorted) / live;
    let share = match clause {
        Clause::Any => 1.0,
        Clause::Listed(lists) => frequency(root, lists) / live,
        Clause::Unlisted(lists) => 1.0 - frequency(root, lists) / live,
        Clause::Within(ranges) => within(ranges),
        Clause::Outside(ranges) => 1.0 - within(ranges),
        Clause::Every(clauses) => least(clauses, root),
        Clause::Either(clauses) => clauses.iter().map(|clause| share(clause, root)).sum(),
    };
    share.clamp(0.0, 1.0)
}

/// The share that the most selective of some clauses is likely to leave.
pub(super) fn least<'c>(clauses: impl IntoIterator<Item = &'c Clause>, root: &Root) -> f64 {
    let shares = clauses.into_iter().map(|clause| share(clause, root));
    shares.fold(1.0, f64::min)
}

/// About how many rows are in some lists.
pub(super) fn frequency(root: &Root, lists: &[TermHash]) -> f64 {
    let rows: u64 = lists
        .iter()
        .map(|term| match root.postings.directory.frequency(*term) {
            Frequency::None => 0,
            Frequency::Below(most) => u64::from(most) / 2,
            Frequency::Exactly(rows) => u64::from(rows),
        })
        .sum();
    rows as f64
}

/// The clauses that are worth what reading them costs, if so many rows are left without
/// them; `few` rows are read in any case.
pub(super) fn worthwhile(
    mut clauses: Vec<Clause>,
    root: &Root,
    rows: f64,
    few: u64,
) -> Vec<Clause> {
    let live = root.statistics.live as f64;
    let row_bytes = {
        let bytes: u64 = root.blocks.iter().map(|block| u64::from(block.len)).sum();
        bytes as f64 / root.statistics.rows.max(1) as f64
    };
    let mut number = 0;
    while let Some(clause) = clauses.get(number) {
        let side = match clause {
            Clause::Within(ranges) => Some(Side::of_within(ranges, root)),
            Clause::Outside(ranges) => Some(Side::of_outside(ranges, root)),
            _ => None,
        };
        let costs = side.is_some_and(|side| {
            let others = clauses.iter().enumerate();
            let others = others.filter_map(|(other, clause)| (other != number).then_some(clause));
            let left = rows.min(least(others, root) * live);
            let bytes = side.ranges().bytes(&root.postings.sorted) as f64;
            left <= few as f64 || bytes > left * row_bytes
        });
        if costs {
            clauses.remove(number);
        } else {
            number += 1;
        }
    }
    clauses
}

/// Gathers rows from the shelf.
#[derive(Debug)]
pub(super) struct Gatherer<'g, 'a, 'f> {
    segment: SegmentRef<'a>,
    shelf: &'g mut Shelf<'f>,
    is_whole: bool,
}

impl<'g, 'a, 'f> Gatherer<'g, 'a, 'f> {
    pub(super) fn new(segment: SegmentRef<'a>, shelf: &'g mut Shelf<'f>) -> Self {
        Self {
            segment,
            shelf,
            is_whole: true,
        }
    }

    /// Whether nothing was missing.
    pub(super) fn is_whole(&self) -> bool {
        self.is_whole
    }

    /// The rows in at least one list.
    pub(super) fn listed(&mut self, terms: &[TermHash]) -> Result<DocSet, SearchError> {
        let mut lists = Vec::new();
        for term in terms {
            match self.shelf.list(self.segment, *term)? {
                Found::List(list) => lists.push(list),
                Found::Nothing => {}
                Found::Missing => self.is_whole = false,
            }
        }
        union(lists.iter()).map_err(|error| unreadable(self.segment, SegmentError::Postings(error)))
    }

    fn sorted(&mut self, side: &Side) -> Result<Rows, SearchError> {
        let mut rows = DocSet::new();
        let series = &self.segment.root.postings.sorted.series;
        for (index, keys) in side.ranges().selected() {
            let Some(series) = series.get(*index) else {
                continue;
            };
            match self.shelf.sorted(self.segment, series, keys)? {
                Some(found) => rows |= found,
                None => self.is_whole = false,
            }
        }
        Ok(match side {
            Side::In(_) => Rows::In(rows),
            Side::NotIn(_) => Rows::NotIn(rows),
        })
    }

    /// The rows of a clause.
    pub(super) fn rows(&mut self, clause: &Clause) -> Result<Rows, SearchError> {
        let root = self.segment.root;
        match clause {
            Clause::Any => Ok(Rows::NotIn(DocSet::new())),
            Clause::Listed(lists) => self.listed(lists).map(Rows::In),
            Clause::Unlisted(lists) => self.listed(lists).map(Rows::NotIn),
            Clause::Within(ranges) => self.sorted(&Side::of_within(ranges, root)),
            Clause::Outside(ranges) => self.sorted(&Side::of_outside(ranges, root)),
            Clause::Every(clauses) => clauses
                .iter()
                .try_fold(Rows::NotIn(DocSet::new()), |rows, clause| {
                    Ok(rows.and(self.rows(clause)?))
                }),
            Clause::Either(clauses) => clauses
                .iter()
                .try_fold(Rows::In(DocSet::new()), |rows, clause| {
                    Ok(rows.or(self.rows(clause)?))
                }),
        }
    }
}
