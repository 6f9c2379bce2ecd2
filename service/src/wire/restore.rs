//! `restore` on the wire: back from forgetting, or back to an earlier version.

use ostraca_memory as domain;
use ostraca_memory::{Error, RestoreRequest};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::remember::Outcome;
use super::target::Names;
use super::{Arguments, Memory, Receipt};

/// What to restore.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RestoreArgs {
    /// The id of the memory.
    pub id: Option<String>,
    /// Its key, instead of `id`.
    pub key: Option<String>,
    /// The scope that the key belongs to. Absent: the root.
    pub scope: Option<String>,
    /// The version to go back to. Absent: the last one before it was forgotten.
    #[schemars(range(min = 1))]
    pub version: Option<u64>,
    /// Restore it only if it still has this version.
    #[schemars(range(min = 1))]
    pub expected_version: Option<u64>,
    /// Why; kept in its history.
    pub reason: Option<String>,
    /// A name for this call: the same name again does nothing again.
    pub idempotency_key: Option<String>,
}

impl Arguments for RestoreArgs {}

impl TryFrom<RestoreArgs> for RestoreRequest {
    type Error = Error;

    fn try_from(args: RestoreArgs) -> Result<Self, Error> {
        let RestoreArgs { id, key, scope, .. } = args;
        Ok(Self {
            target: Names {
                id,
                key,
                scope,
                ..Names::default()
            }
            .one()?,
            version: args.version,
            expected_version: args.expected_version,
            reason: args.reason,
            idempotency_key: args.idempotency_key,
        })
    }
}

/// The memory as it is after the restoration.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct RestoreReply {
    /// `updated`, or `unchanged` if it was exactly so already.
    pub outcome: Outcome,
    /// The memory, as a new version.
    pub memory: Memory,
    /// What it took.
    pub receipt: Receipt,
}

impl From<domain::ChangeReply> for RestoreReply {
    fn from(reply: domain::ChangeReply) -> Self {
        Self {
            outcome: reply.outcome.into(),
            memory: Memory::whole(&reply.record),
            receipt: reply.receipt.into(),
        }
    }
}
