//! `list` on the wire: memories in order of time, page by page.

use ostraca_memory as domain;
use ostraca_memory::{Error, ListRequest, Order as DomainOrder};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::target::{Reach, selector};
use super::time::instant;
use super::{Arguments, Memory, Receipt, filter};

/// What to list.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListArgs {
    /// Where to look, as a path. Absent: the root.
    pub scope: Option<String>,
    /// How far to look from the scope: `exact` (the default), `inherited`, `below` or `all`.
    pub reach: Option<Reach>,
    /// Which memories count; the grammar is that of `recall`.
    pub filter: Option<Map<String, Value>>,
    /// Only memories of these kinds.
    pub kinds: Option<Vec<String>>,
    /// Only memories written at or after this time: RFC 3339, or a date.
    pub since: Option<String>,
    /// Only memories written before this time: RFC 3339, or a date.
    pub until: Option<String>,
    /// `newest` first (the default) or `oldest` first.
    pub order: Option<Order>,
    /// How many at most; 50 if absent.
    #[schemars(range(min = 1, max = 500))]
    pub limit: Option<u32>,
    /// The `next_cursor` of the page before.
    pub cursor: Option<String>,
}

impl Arguments for ListArgs {}

/// The order of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum Order {
    /// The newest first.
    Newest,
    /// The oldest first.
    Oldest,
}

impl TryFrom<ListArgs> for ListRequest {
    type Error = Error;

    fn try_from(args: ListArgs) -> Result<Self, Error> {
        Ok(Self {
            scope: selector(args.scope.as_deref(), args.reach, Reach::Exact)?,
            filter: filter::filter(args.filter)?,
            kinds: args.kinds.unwrap_or_default(),
            since: instant("since", args.since)?,
            until: instant("until", args.until)?,
            order: match args.order {
                None | Some(Order::Newest) => DomainOrder::NewestFirst,
                Some(Order::Oldest) => DomainOrder::OldestFirst,
            },
            limit: args.limit,
            cursor: args.cursor,
            ..Self::default()
        })
    }
}

/// A page of memories.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ListReply {
    /// The memories of this page.
    pub memories: Vec<Memory>,
    /// How many there are on all pages.
    pub total: u64,
    /// Pass it as `cursor` for the next page; absent on the last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
    /// What it took.
    pub receipt: Receipt,
}

impl From<domain::ListReply> for ListReply {
    fn from(reply: domain::ListReply) -> Self {
        Self {
            memories: reply.memories.into_iter().map(Into::into).collect(),
            total: reply.total,
            next_cursor: reply.next_cursor,
            receipt: reply.receipt.into(),
        }
    }
}
