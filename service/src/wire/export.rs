//! `export` on the wire: every live memory in full, page by page, in a shape that
//! the importer reads back.

use ostraca_memory as domain;
use ostraca_memory::{Error, ExportRequest};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::target::{Reach, selector};
use super::{Arguments, Memory, Receipt};

/// Which page to export.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExportArgs {
    /// Only this scope and those below it. Absent: everything.
    pub scope: Option<String>,
    /// The `next_cursor` of the page before.
    pub cursor: Option<String>,
    /// How many memories at most.
    #[schemars(range(min = 1))]
    pub limit: Option<u32>,
}

impl Arguments for ExportArgs {}

impl TryFrom<ExportArgs> for ExportRequest {
    type Error = Error;

    fn try_from(args: ExportArgs) -> Result<Self, Error> {
        Ok(Self {
            scope: selector(args.scope.as_deref(), None, Reach::Below)?,
            cursor: args.cursor,
            limit: args.limit,
        })
    }
}

/// A page of memories, each whole.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ExportReply {
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

impl From<domain::ExportReply> for ExportReply {
    fn from(reply: domain::ExportReply) -> Self {
        Self {
            memories: reply
                .records
                .iter()
                .map(|record| Memory::whole(record))
                .collect(),
            total: reply.total,
            next_cursor: reply.next_cursor,
            receipt: reply.receipt.into(),
        }
    }
}
