//! The guidance of a scope on the wire: what belongs there, which `scopes` then
//! shows to every agent.

use ostraca_memory as domain;
use ostraca_memory::{DescribeScopeRequest, Error};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Arguments, Receipt, target};

/// What to say about a scope.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DescribeScopeArgs {
    /// The scope, as a path. Absent: the root.
    pub scope: Option<String>,
    /// What belongs there; absent or null removes the guidance.
    pub guidance: Option<String>,
}

impl Arguments for DescribeScopeArgs {}

impl TryFrom<DescribeScopeArgs> for DescribeScopeRequest {
    type Error = Error;

    fn try_from(args: DescribeScopeArgs) -> Result<Self, Error> {
        Ok(Self {
            scope: target::scope("scope", args.scope.as_deref())?,
            guidance: args.guidance,
        })
    }
}

/// Done.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct DescribeScopeReply {
    /// What it took.
    pub receipt: Receipt,
}

impl From<domain::DescribeScopeReply> for DescribeScopeReply {
    fn from(reply: domain::DescribeScopeReply) -> Self {
        Self {
            receipt: reply.receipt.into(),
        }
    }
}
