//! A query's conditions as what a segment's indexes tell: posting lists, ranges of the
//! sorted index, and their complements.
//!
//! It is separate because it is the one place where a filter is weakened: what no index
//! tells is left to the records themselves, which are asked in any case. So a clause may
//! have more rows than its condition and never fewer.

use crate::filter::{Field, Filter, Test};
use crate::postings::{TermHash, keys};
use crate::query::{Query, ScopeFilter};
use crate::record::ScopePath;
use crate::segment::{Ranges, Sorted};

/// Rows that may satisfy a condition.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Clause {
    /// All of them: no index tells.
    Any,
    /// Those in one of these lists.
    Listed(Vec<TermHash>),
    /// Those in none of these lists.
    Unlisted(Vec<TermHash>),
    /// Those with these values.
    Within(Ranges),
    /// Those with other values or without one.
    Outside(Ranges),
    /// Those of all of these clauses.
    Every(Vec<Clause>),
    /// Those of one of these clauses.
    Either(Vec<Clause>),
}

impl Clause {
    /// The conditions of a query but for scope and realm, status and expiry; a row must
    /// satisfy all of them.
    pub(super) fn of(query: &Query, sorted: &Sorted) -> Vec<Self> {
        let filter = query.filter.iter().map(|filter| holds(filter, sorted));
        let window = query.window.iter().map(|window| {
            let ranges = Ranges::of_window(sorted, window);
            ranges.map_or(Self::Any, Self::Within)
        });
        match every(filter.chain(window)) {
            Self::Any => Vec::new(),
            Self::Every(clauses) => clauses,
            clause => vec![clause],
        }
    }
}

/// The rows that may satisfy a filter.
fn holds(filter: &Filter, sorted: &Sorted) -> Clause {
    match filter {
        Filter::And(children) => every(children.iter().map(|child| holds(child, sorted))),
        Filter::Or(children) => either(children.iter().map(|child| holds(child, sorted))),
        Filter::Not(child) => fails(child, sorted),
        Filter::Leaf { field, test } => match test {
            // What is another value is not this one, and so much more is not.
            Test::Ne(value) => leaf_fails(field, &Test::Eq(value.clone()), sorted),
            test => leaf_holds(field, test, sorted),
        },
    }
}

/// The rows that may not satisfy a filter.
fn fails(filter: &Filter, sorted: &Sorted) -> Clause {
    match filter {
        Filter::And(children) => either(children.iter().map(|child| fails(child, sorted))),
        Filter::Or(children) => every(children.iter().map(|child| fails(child, sorted))),
        Filter::Not(child) => holds(child, sorted),
        Filter::Leaf { field, test } => leaf_fails(field, test, sorted),
    }
}

fn leaf_holds(field: &Field, test: &Test, sorted: &Sorted) -> Clause {
    match keys::of_test(field, test) {
        Some(lists) => Clause::Listed(lists),
        None => Ranges::of_test(sorted, field, test).map_or(Clause::Any, Clause::Within),
    }
}

/// Both indexes have exactly the rows that satisfy a test, so that the others are exactly
/// those that do not.
fn leaf_fails(field: &Field, test: &Test, sorted: &Sorted) -> Clause {
    match keys::of_test(field, test) {
        Some(lists) => Clause::Unlisted(lists),
        None => Ranges::of_test(sorted, field, test).map_or(Clause::Any, Clause::Outside),
    }
}

fn every(clauses: impl Iterator<Item = Clause>) -> Clause {
    let mut all: Vec<Clause> = Vec::new();
    for clause in clauses {
        match clause {
            Clause::Any => {}
            Clause::Every(inner) => inner.into_iter().for_each(|clause| add(&mut all, clause)),
            clause => add(&mut all, clause),
        }
    }
    match all.len() {
        0 => Clause::Any,
        1 => all.pop().unwrap_or(Clause::Any),
        _ => Clause::Every(all),
    }
}

/// Adds a clause that must be satisfied too; two ends of one range become that range.
fn add(all: &mut Vec<Clause>, clause: Clause) {
    if let Clause::Within(ranges) = &clause {
        for other in &mut *all {
            if let Clause::Within(before) = other
                && let Some(both) = before.and(ranges)
            {
                *before = both;
                return;
            }
        }
    }
    all.push(clause);
}

fn either(clauses: impl Iterator<Item = Clause>) -> Clause {
    let mut all: Vec<Clause> = Vec::new();
    for clause in clauses {
        match clause {
            Clause::Any => return Clause::Any,
            Clause::Either(inner) => all.extend(inner),
            Clause::Listed(lists) => {
                let listed = all.iter_mut().find_map(|clause| match clause {
                    Clause::Listed(lists) => Some(lists),
                    _ => None,
                });
                match listed {
                    Some(before) => before.extend(lists),
                    None => all.push(Clause::Listed(lists)),
                }
            }
            clause => all.push(clause),
        }
    }
    if all.len() == 1 {
        return all.pop().unwrap_or(Clause::Any);
    }
    Clause::Either(all)
}

/// The lists of the rows in a scope; nothing if that is all of them.
pub(super) fn of_scope(scope: &ScopeFilter) -> Option<Vec<TermHash>> {
    match scope {
        ScopeFilter::All => None,
        ScopeFilter::Exact(path) => Some(vec![keys::scope(path)]),
        ScopeFilter::Inherited(path) => {
            let scopes = std::iter::successors(Some(path.clone()), ScopePath::parent);
            Some(scopes.map(|scope| keys::scope(&scope)).collect())
        }
        ScopeFilter::Below(path) if path.is_root() => None,
        ScopeFilter::Below(path) => Some(vec![keys::within(path)]),
    }
}
