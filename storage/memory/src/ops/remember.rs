//! `remember`: stores one or many memories in one atomic commit. Items that are
//! wrong are refused one by one; the others are stored, and each says what became
//! of it. Content is never dropped as a near-duplicate, only as an exact one.

use std::sync::Arc;
use std::time::Duration;

use ostraca_object::port::Timestamp;
use ostraca_search::{Embedding, Record, ScopePath};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::caller::Permission;
use crate::change::Event;
use crate::draft::Decider;
use crate::error::{Error, ErrorKind, Result};
use crate::idempotency::Once;
use crate::profile::{self, Vectors};
use crate::receipt::Receipt;
use crate::session::Session;
use crate::validate;

/// What to remember.
#[derive(Debug, Clone, Default)]
pub struct RememberRequest {
    /// The memories, at most [`crate::Limits::items`].
    pub items: Vec<NewMemory>,
    /// Names the request, so that sending it again changes nothing.
    pub idempotency_key: Option<String>,
}

/// One memory to store.
#[derive(Debug, Clone, Default)]
pub struct NewMemory {
    /// The text.
    pub content: String,
    /// Where it belongs.
    pub scope: ScopePath,
    /// A name of the caller's, unique in its scope: remembering it again replaces
    /// the memory as a new version.
    pub key: Option<String>,
    /// A title, searched like the content.
    pub title: Option<String>,
    /// What sort of memory it is, in the caller's words.
    pub kind: Option<String>,
    /// Values to filter by.
    pub metadata: Map<String, Value>,
    /// When it goes out of sight.
    pub expires: Option<Expiry>,
    /// The version that the memory with this key must have; 0 means that there must be none.
    pub expected_version: Option<u64>,
    /// Where the knowledge comes from.
    pub source: Option<String>,
    /// How sure it is, 0 to 1.
    pub confidence: Option<f64>,
    /// A label for how careful to be with it.
    pub sensitivity: Option<String>,
    /// A vector of the caller's own, instead of one from the embedder.
    pub vector: Option<Vec<f32>>,
    /// When it came to be, for imports; now if absent.
    pub created: Option<Timestamp>,
}

/// When a memory goes out of sight.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expiry {
    /// At an instant, which must lie in the future.
    At(Timestamp),
    /// After a time from now.
    After(Duration),
}

/// What became of the items, in their order.
#[derive(Debug)]
pub struct RememberReply {
    /// One result for each item.
    pub items: Vec<Result<Remembered>>,
    /// What it took.
    pub receipt: Receipt,
}

/// A memory that is stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Remembered {
    /// Its id.
    pub id: String,
    /// What was done.
    pub outcome: Outcome,
    /// Its version.
    pub version: u64,
    /// Its scope.
    pub scope: ScopePath,
    /// Its key.
    pub key: Option<String>,
    /// When it goes out of sight.
    pub expires: Option<Timestamp>,
    /// Whether it can be found by meaning.
    pub embedding: EmbeddingState,
}

/// What a write did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// A memory came to be.
    Created,
    /// A memory got a new version.
    Updated,
    /// It was there already, just so.
    Unchanged,
}

/// Whether a memory can be found by meaning.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EmbeddingState {
    /// The collection does not embed it.
    None,
    /// Its vector is still owed; until then it is found by its words.
    Pending,
    /// It has its vector.
    Ready,
}

impl EmbeddingState {
    /// The state of a record.
    pub fn of(record: &Record) -> Self {
        match record.embedding {
            Embedding::None => Self::None,
            Embedding::Pending { .. } => Self::Pending,
            Embedding::Ready { .. } => Self::Ready,
        }
    }
}

impl Session {
    /// Stores memories.
    ///
    /// # Errors
    /// Invalid for a request as a whole (no items, too many, a bad idempotency key),
    /// Forbidden without `memories:write`, Conflict for a reused idempotency key,
    /// Unavailable if storage fails. What is wrong with one item is in its result.
    pub async fn remember(&self, request: RememberRequest) -> Result<RememberReply> {
        self.caller.require(Permission::Write)?;
        let count = request.items.len();
        if count == 0 {
            return Err(Error::invalid(
                "items",
                "there is nothing to remember; give at least one memory",
            ));
        }
        if count > self.limits().items {
            return Err(Error::too_large(
                "items",
                format!(
                    "{count} memories at once; send at most {} and repeat",
                    self.limits().items
                ),
            ));
        }
        let once = Once::new(
            "remember",
            request.idempotency_key.as_deref(),
            &request.items,
        )?;
        let mut results: Vec<Option<Result<Remembered>>> = Vec::new();
        let mut drafts = Vec::new();
        for (index, item) in request.items.into_iter().enumerate() {
            match self.prepare(item) {
                Ok(draft) => {
                    drafts.push((index, draft));
                    results.push(None);
                }
                Err(error) => results.push(Some(Err(validate::in_item(error, index, count)))),
            }
        }
        let io = self.db.io();
        let (mut degraded, mut position) = (Vec::new(), None);
        if !drafts.is_empty() {
            let vectors = self
                .vectors_for(&io, drafts.iter_mut().map(|(_, draft)| draft))
                .await?;
            degraded = vectors.degraded;
            let realm = self.caller.realm.clone();
            let order: Vec<usize> = drafts.iter().map(|(index, _)| *index).collect();
            let committed = self
                .decide(&io, once, move |decider| {
                    Ok(drafts
                        .iter()
                        .map(|(_, draft)| Kept::of(store(decider, &realm, draft)))
                        .collect::<Vec<Kept>>())
                })
                .await?;
            position = Some(committed.seq);
            for (index, kept) in order.into_iter().zip(committed.value) {
                let result = kept
                    .into_result()
                    .map_err(|error| validate::in_item(error, index, count));
                if let Some(slot) = results.get_mut(index) {
                    *slot = Some(result);
                }
            }
        }
        let position = position.unwrap_or_else(|| self.log.read(|_, seq| seq));
        let receipt = Receipt {
            degraded,
            ..Self::receipt(&io, position)
        };
        let items = results
            .into_iter()
            .map(|result| {
                result.unwrap_or_else(|| {
                    Err(Error::new(ErrorKind::Internal, "this item got no result"))
                })
            })
            .collect();
        Ok(RememberReply { items, receipt })
    }

    fn prepare(&self, item: NewMemory) -> Result<ItemDraft> {
        let now = self.db.now();
        let limits = self.limits();
        validate::content(limits, &item.content)?;
        let mut record = Record::new(
            self.db.new_id(),
            item.scope,
            item.content,
            item.created.unwrap_or(now).0,
        );
        record.updated = now.0.max(record.created);
        record.realm.clone_from(&self.caller.realm);
        record.author.clone_from(&self.caller.author);
        record.key = validate::name(limits, "key", item.key)?;
        record.title = validate::name(limits, "title", item.title)?;
        record.kind = validate::label(limits, "kind", item.kind)?;
        record.metadata = validate::metadata(limits, &item.metadata)?;
        record.source = validate::name(limits, "source", item.source)?;
        record.sensitivity = validate::label(limits, "sensitivity", item.sensitivity)?;
        record.confidence = validate::confidence(item.confidence)?;
        record.expires = item
            .expires
            .map(|expiry| validate::expiry(expiry, now))
            .transpose()?;
        if item.expected_version.is_some() && record.key.is_none() {
            return Err(Error::invalid(
                "expected_version",
                "only a memory with a key can be expected to have a version; give a key, or use update",
            ));
        }
        let vector = item
            .vector
            .map(|vector| validate::vector(limits, "vector", vector))
            .transpose()?;
        record.content_hash = Some(validate::content_hash(&record.content));
        Ok(ItemDraft {
            record,
            expected_version: item.expected_version,
            vectors: Vectors::asked(vector),
        })
    }
}

/// An item that has passed every check that needs no state.
#[derive(Debug)]
pub(crate) struct ItemDraft {
    pub(crate) record: Record,
    pub(crate) expected_version: Option<u64>,
    pub(crate) vectors: Vectors,
}

/// Decides one item on the state as it is.
fn store(decider: &mut Decider<'_>, realm: &str, draft: &ItemDraft) -> Result<Remembered> {
    let mut record = draft.record.clone();
    let existing = match (&record.key, record.content_hash) {
        (Some(key), _) => decider.live_key(realm, &record.scope, key),
        (None, Some(hash)) => decider.live_hash(realm, &record.scope, hash),
        (None, None) => None,
    };
    match (draft.expected_version, &existing) {
        (Some(0), Some(found)) => {
            return Err(Error::conflict(
                "expected_version",
                format!(
                    "a memory with this key exists at version {}; expected none",
                    found.version
                ),
            ));
        }
        (Some(0), None) | (None, _) => {}
        (expected, Some(found)) => Session::expect_version(found, expected)?,
        (Some(expected), None) => {
            return Err(Error::conflict(
                "expected_version",
                format!("no memory with this key exists; expected version {expected}"),
            ));
        }
    }
    let Some(existing) = existing else {
        record.embedding = profile::settle(decider, &record.content, &draft.vectors)?;
        let stored = decider.push(Event::Created, record, None);
        return Ok(Remembered::of(&stored, Outcome::Created));
    };
    if says_the_same(&record, &existing) && !draft.vectors.replaces(&existing) {
        return Ok(Remembered::of(&existing, Outcome::Unchanged));
    }
    record.id.clone_from(&existing.id);
    record.version = existing.version + 1;
    record.created = existing.created;
    record.embedding = profile::settle(decider, &record.content, &draft.vectors)?;
    if let (Embedding::None | Embedding::Pending { .. }, true) = (
        &record.embedding,
        existing.content == record.content && existing.title == record.title,
    ) {
        // The words are the same, so what was embedded of them still holds.
        record.embedding.clone_from(&existing.embedding);
    }
    let stored = decider.push(Event::Updated, record, None);
    Ok(Remembered::of(&stored, Outcome::Updated))
}

/// Whether a new version would tell readers nothing new.
fn says_the_same(new: &Record, old: &Record) -> bool {
    new.content == old.content
        && new.title == old.title
        && new.kind == old.kind
        && new.metadata == old.metadata
        && new.source == old.source
        && new.confidence == old.confidence
        && new.sensitivity == old.sensitivity
        && new.expires == old.expires
}

impl Remembered {
    fn of(record: &Arc<Record>, outcome: Outcome) -> Self {
        Self {
            id: record.id.clone(),
            outcome,
            version: record.version,
            scope: record.scope.clone(),
            key: record.key.clone(),
            expires: record.expires.map(Timestamp),
            embedding: EmbeddingState::of(record),
        }
    }
}

/// One item's result in the form that is kept for a retry.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Kept {
    Done(Remembered),
    Refused {
        conflict: bool,
        field: Option<String>,
        message: String,
    },
}

impl Kept {
    fn of(result: Result<Remembered>) -> Self {
        match result {
            Ok(done) => Self::Done(done),
            Err(error) => Self::Refused {
                conflict: error.kind() == ErrorKind::Conflict,
                field: error.field().map(str::to_owned),
                message: error.message().to_owned(),
            },
        }
    }

    fn into_result(self) -> Result<Remembered> {
        match self {
            Self::Done(done) => Ok(done),
            Self::Refused {
                conflict,
                field,
                message,
            } => {
                let error = Error::new(
                    if conflict {
                        ErrorKind::Conflict
                    } else {
                        ErrorKind::Invalid
                    },
                    message,
                );
                Err(match field {
                    Some(field) => error.at(field),
                    None => error,
                })
            }
        }
    }
}
