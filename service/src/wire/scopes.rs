//! `scopes` on the wire: where memories lie, how many, and what is said about
//! each place.

use ostraca_memory as domain;
use ostraca_memory::{Error, ScopeInfo, ScopesRequest, time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Arguments, Receipt, target};

/// Which scopes to show.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ScopesArgs {
    /// Only this scope and those below it. Absent: all.
    pub below: Option<String>,
    /// How many at most.
    #[schemars(range(min = 1))]
    pub limit: Option<u32>,
    /// The `next_cursor` of the page before.
    pub cursor: Option<String>,
}

impl Arguments for ScopesArgs {}

impl TryFrom<ScopesArgs> for ScopesRequest {
    type Error = Error;

    fn try_from(args: ScopesArgs) -> Result<Self, Error> {
        Ok(Self {
            below: target::scope("below", args.below.as_deref())?,
            limit: args.limit,
            cursor: args.cursor,
            ..Self::default()
        })
    }
}

/// A page of scopes.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ScopesReply {
    /// The scopes, by path.
    pub scopes: Vec<Scope>,
    /// Pass it as `cursor` for the next page; absent on the last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
    /// What it took.
    pub receipt: Receipt,
}

/// One scope.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Scope {
    /// Its path; the empty text is the root.
    pub path: String,
    /// How many memories lie in it, those below it not counted.
    pub memories: u64,
    /// The last change in it, RFC 3339 in UTC.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub updated_at: Option<String>,
    /// What belongs here, in the words of whoever set it up.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub guidance: Option<String>,
}

impl From<ScopeInfo> for Scope {
    fn from(info: ScopeInfo) -> Self {
        Self {
            path: info.path.as_str().to_owned(),
            memories: info.memories,
            updated_at: info.updated.map(time::format_instant),
            guidance: info.guidance,
        }
    }
}

impl From<domain::ScopesReply> for ScopesReply {
    fn from(reply: domain::ScopesReply) -> Self {
        Self {
            scopes: reply.scopes.into_iter().map(Into::into).collect(),
            next_cursor: reply.next_cursor,
            receipt: reply.receipt.into(),
        }
    }
}
