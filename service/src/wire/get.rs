//! `get` on the wire: memories by id or key, whole or from an offset on.

use ostraca_memory as domain;
use ostraca_memory::{Error, Found, GetRequest, Reference};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::target::Names;
use super::time::AsOf;
use super::{Arguments, Memory, Receipt};

/// What to get.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GetArgs {
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
    /// Get it as it was: a log position from a receipt, or a time.
    pub as_of: Option<AsOf>,
    /// Where to start in the content, in bytes: the `next_offset` of a cut memory.
    pub content_offset: Option<u64>,
}

impl Arguments for GetArgs {}

impl TryFrom<GetArgs> for GetRequest {
    type Error = Error;

    fn try_from(args: GetArgs) -> Result<Self, Error> {
        let GetArgs {
            id,
            ids,
            key,
            keys,
            scope,
            as_of,
            content_offset,
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
            as_of: as_of.map(AsOf::resolve).transpose()?,
            content_offset: content_offset.unwrap_or(0),
            ..Self::default()
        })
    }
}

/// What was found, in the order asked.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct GetReply {
    /// The memories that exist.
    pub memories: Vec<Memory>,
    /// The names that do not.
    pub missing: Vec<Name>,
    /// What it took.
    pub receipt: Receipt,
}

/// A name of a memory, as it was asked for.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Name {
    /// Its id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Its key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// The scope of the key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scope: Option<String>,
}

impl From<Reference> for Name {
    fn from(reference: Reference) -> Self {
        match reference {
            Reference::Id(id) => Self {
                id: Some(id),
                key: None,
                scope: None,
            },
            Reference::Key { scope, key } => Self {
                id: None,
                key: Some(key),
                scope: Some(scope.as_str().to_owned()),
            },
        }
    }
}

impl From<Found> for Memory {
    fn from(found: Found) -> Self {
        Self::excerpt(&found.record, found.excerpt)
    }
}

impl From<domain::GetReply> for GetReply {
    fn from(reply: domain::GetReply) -> Self {
        Self {
            memories: reply.memories.into_iter().map(Into::into).collect(),
            missing: reply.missing.into_iter().map(Into::into).collect(),
            receipt: reply.receipt.into(),
        }
    }
}
