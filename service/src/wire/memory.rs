//! A memory as every answer shows it. Content may be cut to what fits an answer;
//! the object then says so and where to read on.

use ostraca_memory::{Embedding as StoredEmbedding, EmbeddingState};
use ostraca_memory::{Excerpt, Record, Timestamp, time};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

/// One version of one memory.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Memory {
    /// Identity; opaque.
    pub id: String,
    /// Where it belongs; the empty text is the root.
    pub scope: String,
    /// Its stable name within the scope.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// A title.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What sort of memory it is, in the writer's words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// The text, or the part of it that `content_offset` and `next_offset` bound.
    pub content: String,
    /// Present and true when `content` is only a part of the text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content_truncated: Option<bool>,
    /// Length of the whole text in bytes, when `content` is a part.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content_bytes: Option<u64>,
    /// The byte of the whole text at which `content` starts, when it is a part.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content_offset: Option<u64>,
    /// Pass it to `get` as `content_offset` to read on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_offset: Option<u64>,
    /// What the writer attached.
    pub metadata: Map<String, Value>,
    /// Where the knowledge came from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// How sure the writer was, 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub confidence: Option<f64>,
    /// How careful a reader has to be with it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sensitivity: Option<String>,
    /// Who wrote this version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub author: Option<String>,
    /// `active`, `archived`, `deleted` or `pending`.
    pub status: String,
    /// Counts from 1 and grows with every change.
    pub version: u64,
    /// First creation, RFC 3339 in UTC.
    pub created_at: String,
    /// Creation of this version, RFC 3339 in UTC.
    pub updated_at: String,
    /// From then on it is invisible, RFC 3339 in UTC.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<String>,
    /// Whether it can be found by meaning.
    pub embedding: Embedding,
}

/// Whether a memory can be found by meaning.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum Embedding {
    /// No vector is made for it.
    None,
    /// The vector is still owed.
    Pending,
    /// It has its vector.
    Ready,
}

impl From<EmbeddingState> for Embedding {
    fn from(state: EmbeddingState) -> Self {
        match state {
            EmbeddingState::None => Self::None,
            EmbeddingState::Pending => Self::Pending,
            EmbeddingState::Ready => Self::Ready,
        }
    }
}

impl From<&StoredEmbedding> for Embedding {
    fn from(stored: &StoredEmbedding) -> Self {
        match stored {
            StoredEmbedding::None => Self::None,
            StoredEmbedding::Pending { .. } => Self::Pending,
            StoredEmbedding::Ready { .. } => Self::Ready,
        }
    }
}

impl Memory {
    /// A record with the part of its content that an answer shows.
    pub fn excerpt(record: &Record, excerpt: Excerpt) -> Self {
        let mut memory = Self::with_content(record, String::new());
        if !excerpt.is_whole() {
            memory.content_truncated = Some(true);
            memory.content_bytes = Some(excerpt.content_bytes);
            memory.content_offset = Some(excerpt.start);
            memory.next_offset = excerpt.next_offset();
        }
        memory.content = excerpt.text;
        memory
    }

    /// A record with its whole content.
    pub fn whole(record: &Record) -> Self {
        Self::with_content(record, record.content.clone())
    }

    fn with_content(record: &Record, content: String) -> Self {
        let metadata = record
            .metadata
            .iter()
            .map(|(name, value)| (name.clone(), value.to_json()))
            .collect();
        Self {
            id: record.id.clone(),
            scope: record.scope.as_str().to_owned(),
            key: record.key.clone(),
            title: record.title.clone(),
            kind: record.kind.clone(),
            content,
            content_truncated: None,
            content_bytes: None,
            content_offset: None,
            next_offset: None,
            metadata,
            source: record.source.clone(),
            confidence: record.confidence,
            sensitivity: record.sensitivity.clone(),
            author: record.author.clone(),
            status: record.status.as_str().to_owned(),
            version: record.version,
            created_at: time::format_instant(Timestamp(record.created)),
            updated_at: time::format_instant(Timestamp(record.updated)),
            expires_at: record.expires.map(|at| time::format_instant(Timestamp(at))),
            embedding: (&record.embedding).into(),
        }
    }
}
