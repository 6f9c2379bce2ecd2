//! `remember` on the wire: one memory written flat, or many under `items`. Many
//! answer item by item, in order, so that nothing can fail unseen.

use std::borrow::Cow;

use ostraca_memory as domain;
use ostraca_memory::{
    Error, NewMemory, Outcome as DomainOutcome, RememberRequest, Remembered, time,
};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value, json};

use super::decode::{Arguments, decode};
use super::memory::Embedding;
use super::time::expiry;
use super::{Receipt, target};
use crate::error::{ErrorBody, ErrorDetail};

/// A memory to store.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MemoryInput {
    /// The text to remember; self-contained, so that it makes sense without this conversation.
    pub content: String,
    /// Where it belongs, as a path such as `projects/atlas`. Absent: the root, which every scope inherits.
    pub scope: Option<String>,
    /// A stable name within the scope. Remembering the same key again replaces what it held.
    pub key: Option<String>,
    /// A short title; searched too.
    pub title: Option<String>,
    /// What sort of memory it is, such as `fact`, `preference` or `decision`; recall can ask for it.
    pub kind: Option<String>,
    /// Anything else to keep with it and to filter by.
    pub metadata: Option<Map<String, Value>>,
    /// When it ends: RFC 3339 with an offset, or a date, which is midnight UTC.
    pub expires_at: Option<String>,
    /// Seconds until it ends, instead of `expires_at`.
    #[schemars(range(min = 1))]
    pub ttl_seconds: Option<u64>,
    /// The version that `key` must have now; 0 means that it must not exist yet.
    pub expected_version: Option<u64>,
    /// Where the knowledge came from, such as a URL or a name.
    pub source: Option<String>,
    /// How sure it is, from 0 to 1.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub confidence: Option<f64>,
    /// How careful a reader has to be with it, such as `public` or `personal`.
    pub sensitivity: Option<String>,
    /// Its vector, if the caller makes vectors itself.
    pub vector: Option<Vec<f32>>,
    /// When it was first written, for imports: RFC 3339.
    pub created_at: Option<String>,
}

impl TryFrom<MemoryInput> for NewMemory {
    type Error = Error;

    fn try_from(input: MemoryInput) -> Result<Self, Error> {
        Ok(Self {
            content: input.content,
            scope: target::scope("scope", input.scope.as_deref())?,
            key: input.key,
            title: input.title,
            kind: input.kind,
            metadata: input.metadata.unwrap_or_default(),
            expires: expiry(input.expires_at, input.ttl_seconds)?,
            expected_version: input.expected_version,
            source: input.source,
            confidence: input.confidence,
            sensitivity: input.sensitivity,
            vector: input.vector,
            created: super::time::instant("created_at", input.created_at)?,
        })
    }
}

/// What to remember: one memory, or `items`.
#[derive(Debug, Clone)]
pub struct RememberArgs {
    /// The memories, at least one.
    pub items: Vec<MemoryInput>,
    /// Whether the one memory was written flat.
    pub single: bool,
    /// A name for this call: the same name again does not store again.
    pub idempotency_key: Option<String>,
}

impl Arguments for RememberArgs {
    fn decode(arguments: Value) -> Result<Self, Error> {
        let mut members: Map<String, Value> = decode(arguments)?;
        let idempotency_key = match members.remove("idempotency_key") {
            Some(key) => decode(key).map_err(|error: Error| error.at("idempotency_key"))?,
            None => None,
        };
        let items = members.remove("items").filter(|items| !items.is_null());
        let Some(items) = items else {
            let memory = decode(Value::Object(members))?;
            return Ok(Self {
                items: vec![memory],
                single: true,
                idempotency_key,
            });
        };
        if let Some(name) = members.keys().next() {
            return Err(Error::invalid(
                name.clone(),
                "stands beside items; put it inside each item",
            ));
        }
        let items = decode(items).map_err(|error| {
            let inner = error.field().unwrap_or_default().to_owned();
            error.at(format!("items{inner}"))
        })?;
        Ok(Self {
            items,
            single: false,
            idempotency_key,
        })
    }
}

impl<'de> Deserialize<'de> for RememberArgs {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let arguments = Value::deserialize(deserializer)?;
        <Self as Arguments>::decode(arguments).map_err(D::Error::custom)
    }
}

impl JsonSchema for RememberArgs {
    fn schema_name() -> Cow<'static, str> {
        "RememberArgs".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let item = MemoryInput::json_schema(generator);
        let mut plain = item.clone();
        schemars::transform::transform_subschemas(&mut super::portable, &mut plain);
        strip_descriptions(&mut plain);
        plain.insert(
            "description".to_owned(),
            "A memory, with the fields of a single one.".into(),
        );
        let mut schema = item;
        schema.remove("required");
        schema.insert(
            "description".to_owned(),
            "One memory, or many under `items`.".into(),
        );
        if let Some(Value::Object(properties)) = schema.get_mut("properties") {
            properties.insert(
                "items".to_owned(),
                json!({
                    "type": "array",
                    "description": "Many memories at once, instead of `content` and the other fields.",
                    "items": plain,
                    "minItems": 1,
                }),
            );
            properties.insert(
                "idempotency_key".to_owned(),
                json!({
                    "type": "string",
                    "description": "A name for this call. Sent again with the same name, it answers as before and stores nothing twice.",
                }),
            );
        }
        schema
    }
}

/// The fields inside `items` are those outside, so they are described once.
fn strip_descriptions(schema: &mut Schema) {
    schema.remove("description");
    schemars::transform::transform_subschemas(&mut strip_descriptions, schema);
}

impl TryFrom<RememberArgs> for RememberRequest {
    type Error = Error;

    fn try_from(args: RememberArgs) -> Result<Self, Error> {
        let single = args.single;
        let items = args
            .items
            .into_iter()
            .enumerate()
            .map(|(index, item)| {
                NewMemory::try_from(item).map_err(|error| {
                    let field = error.field().unwrap_or_default().to_owned();
                    if single {
                        error
                    } else {
                        error.at(format!("items[{index}].{field}"))
                    }
                })
            })
            .collect::<Result<_, _>>()?;
        Ok(Self {
            items,
            idempotency_key: args.idempotency_key,
        })
    }
}

/// What became of each memory.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct RememberReply {
    /// One entry for each memory given, in the same order.
    pub items: Vec<Item>,
    /// How many failed. Those that did not are stored.
    pub failed: u64,
    /// What it took.
    pub receipt: Receipt,
}

/// What became of one memory.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Item {
    /// `created`, `updated`, `unchanged` (it was there already) or `failed`.
    pub outcome: Outcome,
    /// Its identity.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Its version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<u64>,
    /// Where it belongs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scope: Option<String>,
    /// Its stable name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// When it ends, RFC 3339 in UTC.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<String>,
    /// Whether it can be found by meaning yet.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub embedding: Option<Embedding>,
    /// Why it failed; it alone has to be sent again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<ErrorDetail>,
}

/// What an operation did to a memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum Outcome {
    /// It is new.
    Created,
    /// It existed and has a new version.
    Updated,
    /// It was there already, exactly so.
    Unchanged,
    /// It was not stored.
    Failed,
}

impl From<DomainOutcome> for Outcome {
    fn from(outcome: DomainOutcome) -> Self {
        match outcome {
            DomainOutcome::Created => Self::Created,
            DomainOutcome::Updated => Self::Updated,
            DomainOutcome::Unchanged => Self::Unchanged,
        }
    }
}

impl From<Remembered> for Item {
    fn from(remembered: Remembered) -> Self {
        Self {
            outcome: remembered.outcome.into(),
            id: Some(remembered.id),
            version: Some(remembered.version),
            scope: Some(remembered.scope.as_str().to_owned()),
            key: remembered.key,
            expires_at: remembered.expires.map(time::format_instant),
            embedding: Some(remembered.embedding.into()),
            error: None,
        }
    }
}

impl From<&Error> for Item {
    fn from(error: &Error) -> Self {
        Self {
            outcome: Outcome::Failed,
            id: None,
            version: None,
            scope: None,
            key: None,
            expires_at: None,
            embedding: None,
            error: Some(ErrorBody::from(error).error),
        }
    }
}

impl From<domain::RememberReply> for RememberReply {
    fn from(reply: domain::RememberReply) -> Self {
        let items: Vec<Item> = reply
            .items
            .into_iter()
            .map(|item| item.map_or_else(|error| Item::from(&error), Item::from))
            .collect();
        let failed = items
            .iter()
            .filter(|item| item.outcome == Outcome::Failed)
            .count();
        Self {
            items,
            failed: u64::try_from(failed).unwrap_or(u64::MAX),
            receipt: reply.receipt.into(),
        }
    }
}
