//! The record: one version of one item, as log entries and segments store it.
//!
//! It is one row format for everything that is searched, so that compaction
//! copies rows and never translates them. It must not know which surface wrote
//! it: `realm` names the surface, and nothing here branches on it.

mod columns;
mod decode;
mod metadata;
mod scope;

use std::collections::BTreeMap;

pub use columns::{columns, encode, schema};
pub use decode::{RecordError, decode};
pub use metadata::{Metadata, Value, metadata_from_json, metadata_to_json};
pub use scope::{MAX_PATH_BYTES, MAX_SEGMENT_BYTES, ScopeError, ScopePath};
use serde::{Deserialize, Serialize};

/// The realm of our own surface.
pub const MEMORY_REALM: &str = "memory";

/// One version of one item.
///
/// Times are milliseconds since the Unix epoch, UTC.
#[derive(Debug, Clone, PartialEq)]
pub struct Record {
    /// Identity within the collection.
    pub id: String,
    /// The surface that owns the item; [`MEMORY_REALM`] is our own.
    pub realm: String,
    /// Where the item belongs.
    pub scope: ScopePath,
    /// Stable name given by the user, unique in its realm and scope.
    pub key: Option<String>,
    /// What sort of memory it is, in the user's words.
    pub kind: Option<String>,
    /// Title, searched together with the content.
    pub title: Option<String>,
    /// The text. Chunk offsets refer to it.
    pub content: String,
    /// Structured value of a surface that stores values instead of texts.
    pub value: Option<serde_json::Value>,
    /// What the user attached, filterable by kind.
    pub metadata: Metadata,
    /// Where the knowledge came from.
    pub source: Option<String>,
    /// How careful a reader has to be with it.
    pub sensitivity: Option<String>,
    /// Who wrote this version.
    pub author: Option<String>,
    /// How sure the writer was, by convention 0 to 1.
    pub confidence: Option<f64>,
    /// Where the version stands in its life.
    pub status: Status,
    /// Counts from 1 and grows with every change of the item.
    pub version: u64,
    /// The version that a proposal was made against.
    pub base_version: Option<u64>,
    /// First creation of the item.
    pub created: i64,
    /// Creation of this version.
    pub updated: i64,
    /// From this instant on the item is invisible.
    pub expires: Option<i64>,
    /// Instants that the user named.
    pub timestamps: BTreeMap<String, i64>,
    /// Digest of what was stored, for exact deduplication.
    pub content_hash: Option<[u8; 16]>,
    /// The vectors, or why there are none.
    pub embedding: Embedding,
}

impl Record {
    /// A first, active version in our own realm with everything else absent.
    pub fn new(
        id: impl Into<String>,
        scope: ScopePath,
        content: impl Into<String>,
        now: i64,
    ) -> Self {
        Self {
            id: id.into(),
            realm: MEMORY_REALM.to_owned(),
            scope,
            key: None,
            kind: None,
            title: None,
            content: content.into(),
            value: None,
            metadata: Metadata::new(),
            source: None,
            sensitivity: None,
            author: None,
            confidence: None,
            status: Status::Active,
            version: 1,
            base_version: None,
            created: now,
            updated: now,
            expires: None,
            timestamps: BTreeMap::new(),
            content_hash: None,
            embedding: Embedding::None,
        }
    }

    /// The texts that keyword search covers: title, key and content.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        [
            self.title.as_deref(),
            self.key.as_deref(),
            Some(self.content.as_str()),
        ]
        .into_iter()
        .flatten()
    }
}

/// Where a version stands in its life.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// Visible to everyone who may read the scope.
    #[default]
    Active,
    /// Kept, and found only when asked for.
    Archived,
    /// Forgotten softly; the version stands for the deletion.
    Deleted,
    /// Proposed and not yet approved.
    Pending,
}

impl Status {
    /// Every status, in the order of the enum.
    pub const ALL: [Self; 4] = [Self::Active, Self::Archived, Self::Deleted, Self::Pending];

    /// The name that is stored and that `$status` compares with.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Archived => "archived",
            Self::Deleted => "deleted",
            Self::Pending => "pending",
        }
    }

    /// The status with this stored name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.as_str() == name)
    }
}

/// The vectors of a record, or why there are none.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Embedding {
    /// The collection does not embed this record.
    #[default]
    None,
    /// To be embedded later, by this profile.
    Pending {
        /// Name of the embedding profile.
        profile: String,
    },
    /// Embedded by this profile.
    Ready {
        /// Name of the embedding profile.
        profile: String,
        /// One vector for each chunk of the content.
        chunks: Vec<Chunk>,
    },
}

/// A part of the content and its vector.
#[derive(Debug, Clone, PartialEq)]
pub struct Chunk {
    /// First byte of the part in the content, on a character boundary.
    pub start: u32,
    /// Byte after the part, on a character boundary.
    pub end: u32,
    /// The vector, of any length but the same one throughout a profile.
    pub vector: Vec<f32>,
}

#[cfg(test)]
pub(crate) mod tests;
