//! Which memories a read may see at all: one rule for every read that selects, so that
//! listing and ranking cannot disagree. What it makes is the search engine's query, whose
//! `admits` is that rule.

use ostraca_object::port::Timestamp;
use ostraca_search::filter::Field;
use ostraca_search::{Filter, Query, TimeField, Value, Window};

use crate::scope::ScopeSelector;

/// The conditions of a read as its request has them.
pub(crate) struct Selection<'a> {
    pub(crate) scope: &'a ScopeSelector,
    pub(crate) filter: Option<&'a Filter>,
    pub(crate) kinds: &'a [String],
    pub(crate) since: Option<Timestamp>,
    pub(crate) until: Option<Timestamp>,
}

impl Selection<'_> {
    /// A query that admits what the conditions do, in one realm at one time.
    pub(crate) fn query(&self, realm: &str, now: Timestamp) -> Query {
        let is_bounded = self.since.is_some() || self.until.is_some();
        Query {
            filter: self.condition(),
            scope: self.scope.to_filter(),
            realm: Some(realm.to_owned()),
            window: is_bounded.then(|| Window {
                field: TimeField::Updated,
                since: self.since.map(|at| at.0),
                until: self.until.map(|at| at.0),
            }),
            ..Query::new(now.0)
        }
    }

    fn condition(&self) -> Option<Filter> {
        let filter = self.filter.cloned();
        if self.kinds.is_empty() {
            return filter;
        }
        let one = |kind: &String| Filter::equals(Field::Kind, Value::String(kind.clone()));
        let kinds = Filter::Or(self.kinds.iter().map(one).collect());
        Some(match filter {
            Some(filter) => filter.and(kinds),
            None => kinds,
        })
    }
}
