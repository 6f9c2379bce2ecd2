//! `list`: memories in the order in which they came to be, a page at a time. The
//! order never changes, so a cursor neither repeats nor skips, whatever is written
//! between two pages.

use std::sync::Arc;

use ostraca_object::key::Seq;
use ostraca_object::log::Freshness;
use ostraca_object::port::Timestamp;
use ostraca_search::Filter;

use crate::caller::Permission;
use crate::cursor::{self, Place};
use crate::error::Result;
use crate::excerpt::{Budget, Excerpt};
use crate::ops::get::Found;
use crate::receipt::Receipt;
use crate::scope::ScopeSelector;
use crate::selection::Selection;
use crate::session::Session;
use crate::view::View;

/// What to list.
#[derive(Debug, Clone, Default)]
pub struct ListRequest {
    /// Which scopes.
    pub scope: ScopeSelector,
    /// What memories must satisfy.
    pub filter: Option<Filter>,
    /// The kinds they may have; any if empty.
    pub kinds: Vec<String>,
    /// The first instant of `updated` that counts.
    pub since: Option<Timestamp>,
    /// The first instant of `updated` that no longer counts.
    pub until: Option<Timestamp>,
    /// Which end to start from.
    pub order: Order,
    /// Memories on a page, 50 if absent, at most [`crate::Limits::page`].
    pub limit: Option<u32>,
    /// Where the page before ended.
    pub cursor: Option<String>,
    /// How fresh the answer must be.
    pub freshness: Freshness,
}

/// Which end of the order of creation to start from.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Order {
    /// What came last comes first.
    #[default]
    NewestFirst,
    /// What came first comes first.
    OldestFirst,
}

/// A page.
#[derive(Debug, Clone)]
pub struct ListReply {
    /// The memories.
    pub memories: Vec<Found>,
    /// How many there are on all pages.
    pub total: u64,
    /// Where the next page starts; absent on the last.
    pub next_cursor: Option<String>,
    /// What it took.
    pub receipt: Receipt,
}

/// Bytes of the fields around a content in a reply.
pub(crate) const AROUND: usize = 250;

impl Session {
    /// Lists memories.
    ///
    /// # Errors
    /// Invalid for a cursor of other arguments, Forbidden without `memories:read`,
    /// Unavailable if storage fails.
    pub async fn list(&self, request: ListRequest) -> Result<ListReply> {
        self.caller.require(Permission::Read)?;
        let binding = self.binding(
            "list",
            &format!(
                "{:?}",
                (
                    &request.scope,
                    &request.filter,
                    &request.kinds,
                    request.since,
                    request.until,
                    request.order
                )
            ),
        );
        let after = request
            .cursor
            .as_deref()
            .map(|cursor| cursor::decode::<Place>(cursor, &binding))
            .transpose()?;
        let io = self.db.io();
        let limit = request.limit.unwrap_or(50).clamp(1, self.limits().page) as usize;
        let (page, total, more, position) = self
            .look(&io, request.freshness, |view, newest| {
                Ok(self.page(view, newest, &request, after, limit))
            })
            .await?;
        let next_cursor = match page.last() {
            Some((place, _)) if more => Some(cursor::encode(place, &binding)?),
            _ => None,
        };
        let memories = page.into_iter().map(|(_, found)| found).collect();
        Ok(ListReply {
            memories,
            total,
            next_cursor,
            receipt: Self::receipt(&io, position),
        })
    }

    fn page(
        &self,
        view: &View,
        newest: Seq,
        request: &ListRequest,
        after: Option<Place>,
        limit: usize,
    ) -> (Vec<(Place, Found)>, u64, bool, Seq) {
        let selection = Selection {
            scope: &request.scope,
            filter: request.filter.as_ref(),
            kinds: &request.kinds,
            since: request.since,
            until: request.until,
        };
        let query = selection.query(&self.caller.realm, self.db.now());
        let wanted = |id: &str| {
            view.newest(id)
                .map(|version| &version.record)
                .filter(|record| query.admits(record))
        };
        let total = view
            .in_order()
            .filter(|(_, id)| wanted(id).is_some())
            .count() as u64;
        let mut ordered: Box<dyn Iterator<Item = (Place, &str)>> = match request.order {
            Order::NewestFirst => Box::new(
                view.in_order()
                    .rev()
                    .filter(|(place, _)| after.is_none_or(|after| *place < after)),
            ),
            Order::OldestFirst => Box::new(
                view.in_order()
                    .filter(|(place, _)| after.is_none_or(|after| *place > after)),
            ),
        };
        let mut budget = Budget::new(self.limits().reply_content_bytes, None);
        let mut page = Vec::new();
        let mut more = false;
        for (place, record) in ordered
            .by_ref()
            .filter_map(|(place, id)| Some((place, wanted(id)?)))
        {
            let excerpt = Excerpt::from(&record.content, 0, self.limits().excerpt_bytes);
            if page.len() == limit || !budget.take(&excerpt.text, AROUND) {
                more = true;
                break;
            }
            page.push((
                place,
                Found {
                    record: Arc::clone(record),
                    excerpt,
                },
            ));
        }
        (page, total, more, newest)
    }
}
