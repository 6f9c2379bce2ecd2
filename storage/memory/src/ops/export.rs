//! `export`: every live memory in full, a page at a time, in the order in which
//! they came to be. It is the way out for all data, so nothing is cut.

use std::sync::Arc;

use ostraca_object::log::Freshness;
use ostraca_search::Record;

use crate::caller::Permission;
use crate::cursor::{self, Place};
use crate::draft::is_live;
use crate::error::Result;
use crate::receipt::Receipt;
use crate::scope::ScopeSelector;
use crate::session::Session;

/// What to export.
#[derive(Debug, Clone)]
pub struct ExportRequest {
    /// Which scopes.
    pub scope: ScopeSelector,
    /// Memories on a page, 500 if absent, at most [`crate::Limits::page`].
    pub limit: Option<u32>,
    /// Where the page before ended.
    pub cursor: Option<String>,
}

/// A page of whole memories.
#[derive(Debug, Clone)]
pub struct ExportReply {
    /// The memories.
    pub records: Vec<Arc<Record>>,
    /// How many there are on all pages.
    pub total: u64,
    /// Where the next page starts; absent on the last.
    pub next_cursor: Option<String>,
    /// What it took.
    pub receipt: Receipt,
}

/// Bytes of content after which a page ends, so that a page stays a bounded reply.
const PAGE_BYTES: usize = 2 << 20;

impl Session {
    /// Exports a page.
    ///
    /// # Errors
    /// Invalid for a cursor of other arguments, Forbidden without `memories:export`,
    /// Unavailable if storage fails.
    pub async fn export(&self, request: ExportRequest) -> Result<ExportReply> {
        self.caller.require(Permission::Export)?;
        let binding = self.binding("export", &format!("{:?}", request.scope));
        let after = request
            .cursor
            .as_deref()
            .map(|cursor| cursor::decode::<Place>(cursor, &binding))
            .transpose()?;
        let limit = request
            .limit
            .unwrap_or(self.limits().page)
            .clamp(1, self.limits().page) as usize;
        let selector = request.scope.to_filter();
        let now = self.db.now();
        let io = self.db.io();
        let (page, total, more, position) = self
            .look(&io, Freshness::Strong, |view, newest| {
                let wanted = |id: &str| {
                    view.newest(id)
                        .map(|version| &version.record)
                        .filter(|record| {
                            record.realm == self.caller.realm
                                && is_live(record, now)
                                && selector.admits(&record.scope)
                        })
                };
                let total = view
                    .in_order()
                    .filter(|(_, id)| wanted(id).is_some())
                    .count() as u64;
                let (mut page, mut bytes, mut more) = (Vec::new(), 0, false);
                for (place, id) in view
                    .in_order()
                    .filter(|(place, _)| after.is_none_or(|after| *place > after))
                {
                    let Some(record) = wanted(id) else { continue };
                    if page.len() == limit || bytes > PAGE_BYTES {
                        more = true;
                        break;
                    }
                    bytes += record.content.len();
                    page.push((place, Arc::clone(record)));
                }
                Ok((page, total, more, newest))
            })
            .await?;
        let next_cursor = match page.last() {
            Some((place, _)) if more => Some(cursor::encode(place, &binding)?),
            _ => None,
        };
        Ok(ExportReply {
            records: page.into_iter().map(|(_, record)| record).collect(),
            total,
            next_cursor,
            receipt: Self::receipt(&io, position),
        })
    }
}
