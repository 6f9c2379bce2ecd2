//! `forget` on the wire: soft by default, so that it can be restored; `purge`
//! erases for good.

use ostraca_memory as domain;
use ostraca_memory::{Error, ForgetMode, ForgetOutcome, ForgetRequest, Forgotten};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::get::Name;
use super::target::Names;
use super::{Arguments, Receipt};

/// What to forget.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ForgetArgs {
    /// The id of a memory.
    pub id: Option<String>,
    /// The ids of several memories.
    pub ids: Option<Vec<String>>,
    /// The key of a memory.
    pub key: Option<String>,
    /// The keys of several memories of one scope.
    pub keys: Option<Vec<String>>,
    /// The scope that the keys belong to. Absent: the root.
    pub scope: Option<String>,
    /// Erase it and its history for good, instead of a forgetting that `restore` undoes.
    pub purge: Option<bool>,
    /// Forget it only if it still has this version; with one memory only.
    #[schemars(range(min = 1))]
    pub expected_version: Option<u64>,
    /// Why; kept in its history unless it is purged.
    pub reason: Option<String>,
    /// A name for this call: the same name again does nothing again.
    pub idempotency_key: Option<String>,
}

impl Arguments for ForgetArgs {}

impl TryFrom<ForgetArgs> for ForgetRequest {
    type Error = Error;

    fn try_from(args: ForgetArgs) -> Result<Self, Error> {
        let ForgetArgs {
            id,
            ids,
            key,
            keys,
            scope,
            ..
        } = args;
        Ok(Self {
            references: Names {
                id,
                ids,
                key,
                keys,
                scope,
            }
            .many()?,
            mode: if args.purge == Some(true) {
                ForgetMode::Purge
            } else {
                ForgetMode::Soft
            },
            expected_version: args.expected_version,
            reason: args.reason,
            idempotency_key: args.idempotency_key,
        })
    }
}

/// What became of each memory.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ForgetReply {
    /// One entry for each name given: ids first, then keys, in the order given.
    pub items: Vec<ForgottenItem>,
    /// What it took.
    pub receipt: Receipt,
}

/// What became of one memory.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ForgottenItem {
    /// `forgotten`, `purged`, or `missing` if there was none.
    pub outcome: Outcome,
    /// Its id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Its key, if it was named by key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// The scope of the key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scope: Option<String>,
}

/// What became of a memory that was to be forgotten.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum Outcome {
    /// It is invisible and can be restored.
    Forgotten,
    /// It is gone.
    Purged,
    /// There was none.
    Missing,
}

impl From<ForgetOutcome> for Outcome {
    fn from(outcome: ForgetOutcome) -> Self {
        match outcome {
            ForgetOutcome::Forgotten => Self::Forgotten,
            ForgetOutcome::Purged => Self::Purged,
            ForgetOutcome::Missing => Self::Missing,
        }
    }
}

impl From<Forgotten> for ForgottenItem {
    fn from(forgotten: Forgotten) -> Self {
        let name = Name::from(forgotten.reference);
        Self {
            outcome: forgotten.outcome.into(),
            id: forgotten.id.or(name.id),
            key: name.key,
            scope: name.scope,
        }
    }
}

impl From<domain::ForgetReply> for ForgetReply {
    fn from(reply: domain::ForgetReply) -> Self {
        Self {
            items: reply.items.into_iter().map(Into::into).collect(),
            receipt: reply.receipt.into(),
        }
    }
}
