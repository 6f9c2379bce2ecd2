//! A query's conditions as posting lists: which lists together hold every row that can
//! satisfy it.
//!
//! It is separate because it is the one place where a filter is weakened: what no list
//! tells is left to the records themselves, which are asked in any case.

use crate::filter::Filter;
use crate::postings::{TermHash, keys};
use crate::query::{Query, ScopeFilter};
use crate::record::ScopePath;

/// Conditions, all of which must hold.
#[derive(Debug, Default)]
pub(super) struct Clauses {
    /// A row satisfies one if it is in one of its lists.
    pub(super) any_of: Vec<Vec<TermHash>>,
}

impl Clauses {
    /// The conditions of a query but for scope and realm, status and expiry.
    pub(super) fn of(query: &Query) -> Self {
        let mut clauses = Self::default();
        if let Some(filter) = &query.filter {
            clauses.add(filter);
        }
        clauses
    }

    fn add(&mut self, filter: &Filter) {
        match filter {
            Filter::And(children) => {
                for child in children {
                    self.add(child);
                }
            }
            Filter::Leaf { field, test } => self.push(keys::of_test(field, test)),
            Filter::Or(children) => {
                let lists: Option<Vec<Vec<TermHash>>> = children
                    .iter()
                    .map(|child| match child {
                        Filter::Leaf { field, test } => keys::of_test(field, test),
                        _ => None,
                    })
                    .collect();
                self.push(lists.map(|lists| lists.into_iter().flatten().collect()));
            }
            Filter::Not(_) => {}
        }
    }

    fn push(&mut self, lists: Option<Vec<TermHash>>) {
        self.any_of.extend(lists);
    }
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
