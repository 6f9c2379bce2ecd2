//! `scopes`: the scopes there are, with how many memories lie in each, when one last
//! changed, and the guidance that was written for them.

use std::collections::BTreeMap;

use ostraca_object::log::Freshness;
use ostraca_object::port::Timestamp;
use ostraca_search::ScopePath;

use crate::caller::Permission;
use crate::cursor;
use crate::draft::is_live;
use crate::error::Result;
use crate::ops::describe_scope::{GUIDANCE, setting_name};
use crate::receipt::Receipt;
use crate::session::{Session, is_active};
use crate::view::View;

/// Which scopes.
#[derive(Debug, Clone, Default)]
pub struct ScopesRequest {
    /// This scope and those below it.
    pub below: ScopePath,
    /// Scopes on a page, 100 if absent, at most [`crate::Limits::page`].
    pub limit: Option<u32>,
    /// Where the page before ended.
    pub cursor: Option<String>,
    /// How fresh the answer must be.
    pub freshness: Freshness,
}

/// A page of scopes.
#[derive(Debug, Clone)]
pub struct ScopesReply {
    /// The scopes, in the order of their paths.
    pub scopes: Vec<ScopeInfo>,
    /// Where the next page starts; absent on the last.
    pub next_cursor: Option<String>,
    /// What it took.
    pub receipt: Receipt,
}

/// One scope.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScopeInfo {
    /// Its path; empty for the root.
    pub path: ScopePath,
    /// The memories in it, not counting those below.
    pub memories: u64,
    /// When one of them last changed.
    pub updated: Option<Timestamp>,
    /// What belongs there, in the words of whoever described it.
    pub guidance: Option<String>,
}

impl Session {
    /// Tells the scopes.
    ///
    /// # Errors
    /// Invalid for a cursor of other arguments, Forbidden without `memories:read`,
    /// Unavailable if storage fails.
    pub async fn scopes(&self, request: ScopesRequest) -> Result<ScopesReply> {
        self.caller.require(Permission::Read)?;
        let binding = self.binding("scopes", request.below.as_str());
        let after = request
            .cursor
            .as_deref()
            .map(|cursor| cursor::decode::<ScopePath>(cursor, &binding))
            .transpose()?;
        let limit = request.limit.unwrap_or(100).clamp(1, self.limits().page) as usize;
        let io = self.db.io();
        let (mut scopes, position) = self
            .look(&io, request.freshness, |view, newest| {
                Ok((self.gather(view, &request.below), newest))
            })
            .await?;
        scopes.retain(|scope| after.as_ref().is_none_or(|after| scope.path > *after));
        let more = scopes.len() > limit;
        scopes.truncate(limit);
        let next_cursor = match scopes.last() {
            Some(last) if more => Some(cursor::encode(&last.path, &binding)?),
            _ => None,
        };
        Ok(ScopesReply {
            scopes,
            next_cursor,
            receipt: Self::receipt(&io, position),
        })
    }

    fn gather(&self, view: &View, below: &ScopePath) -> Vec<ScopeInfo> {
        let now = self.db.now();
        let mut scopes: BTreeMap<ScopePath, ScopeInfo> = BTreeMap::new();
        let blank = |path: &ScopePath| ScopeInfo {
            path: path.clone(),
            memories: 0,
            updated: None,
            guidance: None,
        };
        for (_, id) in view.in_order() {
            let Some(record) = view.newest(id).map(|version| &version.record) else {
                continue;
            };
            if record.realm != self.caller.realm
                || !is_active(record)
                || !is_live(record, now)
                || !below.contains(&record.scope)
            {
                continue;
            }
            let scope = scopes
                .entry(record.scope.clone())
                .or_insert_with(|| blank(&record.scope));
            scope.memories += 1;
            scope.updated = scope.updated.max(Some(Timestamp(record.updated)));
        }
        for (name, value) in view.settings_under(&setting_name(&self.caller.realm, "")) {
            let path = name
                .rsplit_once(GUIDANCE)
                .and_then(|(_, path)| ScopePath::parse(path).ok());
            if let (Some(path), Some(text)) =
                (path.filter(|path| below.contains(path)), value.as_str())
            {
                scopes
                    .entry(path.clone())
                    .or_insert_with(|| blank(&path))
                    .guidance = Some(text.to_owned());
            }
        }
        scopes.into_values().collect()
    }
}
