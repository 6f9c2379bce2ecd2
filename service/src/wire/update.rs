//! `update` on the wire. A field that is absent stays, null removes it, a value
//! replaces it; metadata merges member by member under the same rule.

use ostraca_memory as domain;
use ostraca_memory::{Error, UpdateRequest};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::remember::Outcome;
use super::target::{Names, scope};
use super::time::expiry;
use super::{Arguments, Memory, Patch, Receipt};

/// What to change. Absent stays; null removes.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UpdateArgs {
    /// The id of the memory.
    pub id: Option<String>,
    /// Its key, instead of `id`.
    pub key: Option<String>,
    /// The scope that the key belongs to. Absent: the root.
    pub scope: Option<String>,
    /// A new text.
    pub content: Option<String>,
    /// Another scope to move it to; the empty text is the root.
    pub new_scope: Option<String>,
    /// Another key, or null.
    #[serde(default)]
    pub new_key: Patch<String>,
    /// Another title, or null.
    #[serde(default)]
    pub title: Patch<String>,
    /// Another kind, or null.
    #[serde(default)]
    pub kind: Patch<String>,
    /// Members to set; a null member is removed, the others stay. Null removes all.
    #[serde(default)]
    pub metadata: Patch<Map<String, Value>>,
    /// When it ends: RFC 3339, or a date; null means never.
    #[serde(default)]
    pub expires_at: Patch<String>,
    /// Seconds until it ends, instead of `expires_at`.
    #[schemars(range(min = 1))]
    pub ttl_seconds: Option<u64>,
    /// Another source, or null.
    #[serde(default)]
    pub source: Patch<String>,
    /// How sure it is, from 0 to 1, or null.
    #[serde(default)]
    #[schemars(range(min = 0.0, max = 1.0))]
    pub confidence: Patch<f64>,
    /// Another sensitivity, or null.
    #[serde(default)]
    pub sensitivity: Patch<String>,
    /// Fields to remove, for clients that cannot send null.
    #[serde(default)]
    pub clear: Vec<Clearable>,
    /// A new vector, if the caller makes vectors itself.
    pub vector: Option<Vec<f32>>,
    /// Change it only if it still has this version.
    #[schemars(range(min = 1))]
    pub expected_version: Option<u64>,
    /// Why; kept in its history.
    pub reason: Option<String>,
    /// A name for this call: the same name again does not change it again.
    pub idempotency_key: Option<String>,
}

/// A field that can be removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Clearable {
    /// The key.
    Key,
    /// The title.
    Title,
    /// The kind.
    Kind,
    /// Every member of the metadata.
    Metadata,
    /// The expiry, so that it never ends.
    ExpiresAt,
    /// The source.
    Source,
    /// The confidence.
    Confidence,
    /// The sensitivity.
    Sensitivity,
}

impl Arguments for UpdateArgs {}

impl UpdateArgs {
    /// Turns `clear` into the nulls that it stands for.
    fn with_nulls(mut self) -> Result<Self, Error> {
        for field in std::mem::take(&mut self.clear) {
            match field {
                Clearable::Key => null(&mut self.new_key)?,
                Clearable::Title => null(&mut self.title)?,
                Clearable::Kind => null(&mut self.kind)?,
                Clearable::Metadata => null(&mut self.metadata)?,
                Clearable::ExpiresAt => null(&mut self.expires_at)?,
                Clearable::Source => null(&mut self.source)?,
                Clearable::Confidence => null(&mut self.confidence)?,
                Clearable::Sensitivity => null(&mut self.sensitivity)?,
            }
        }
        Ok(self)
    }
}

fn null<T>(field: &mut Patch<T>) -> Result<(), Error> {
    if matches!(field, Patch::Set(_)) {
        return Err(Error::invalid(
            "clear",
            "a field is both given a value and cleared; do one of the two",
        ));
    }
    *field = Patch::Clear;
    Ok(())
}

impl TryFrom<UpdateArgs> for UpdateRequest {
    type Error = Error;

    fn try_from(args: UpdateArgs) -> Result<Self, Error> {
        let args = args.with_nulls()?;
        let expires = match (args.expires_at, args.ttl_seconds) {
            (Patch::Keep, None) => domain::Patch::Keep,
            (Patch::Clear, None) => domain::Patch::Clear,
            (Patch::Set(at), None) => Patch::Set(at).try_map(|at| {
                domain::time::parse_instant("expires_at", &at).map(domain::Expiry::At)
            })?,
            (at, seconds @ Some(_)) => {
                let beside = (at != Patch::Keep).then(String::new);
                expiry(beside, seconds)?.map_or(domain::Patch::Keep, domain::Patch::Set)
            }
        };
        let Names {
            id,
            ids,
            key,
            keys,
            scope: home,
        } = Names {
            id: args.id,
            key: args.key,
            scope: args.scope,
            ..Names::default()
        };
        if id.is_some() && home.is_some() {
            return Err(Error::invalid(
                "scope",
                "says where a key belongs; to move the memory, give new_scope",
            ));
        }
        Ok(Self {
            target: Names {
                id,
                ids,
                key,
                keys,
                scope: home,
            }
            .one()?,
            content: args.content,
            scope: args
                .new_scope
                .map(|path| scope("new_scope", Some(&path)))
                .transpose()?,
            key: args.new_key.into(),
            title: args.title.into(),
            kind: args.kind.into(),
            metadata: args.metadata.into(),
            expires,
            source: args.source.into(),
            confidence: args.confidence.into(),
            sensitivity: args.sensitivity.into(),
            vector: args.vector,
            expected_version: args.expected_version,
            reason: args.reason,
            idempotency_key: args.idempotency_key,
        })
    }
}

/// The memory as it is after the change.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct UpdateReply {
    /// `updated`, or `unchanged` if it was exactly so already.
    pub outcome: Outcome,
    /// The memory.
    pub memory: Memory,
    /// What it took.
    pub receipt: Receipt,
}

impl From<domain::ChangeReply> for UpdateReply {
    fn from(reply: domain::ChangeReply) -> Self {
        Self {
            outcome: reply.outcome.into(),
            memory: Memory::whole(&reply.record),
            receipt: reply.receipt.into(),
        }
    }
}
