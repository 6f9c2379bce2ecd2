//! `update`: changes fields of a memory as a new version. A field that is absent
//! stays, a field that is null is removed; what was embedded is embedded anew only
//! if its words changed.

use std::sync::Arc;

use ostraca_object::log::Freshness;
use ostraca_search::{Embedding, Record, ScopePath};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::caller::Permission;
use crate::change::Event;
use crate::draft::Decider;
use crate::error::{Error, Result};
use crate::idempotency::Once;
use crate::ops::remember::{Expiry, ItemDraft, Outcome};
use crate::patch::Patch;
use crate::profile::{self, Vectors};
use crate::receipt::Receipt;
use crate::reference::Reference;
use crate::session::Session;
use crate::validate;

/// What to change.
#[derive(Debug, Clone)]
pub struct UpdateRequest {
    /// Which memory.
    pub target: Reference,
    /// A new text.
    pub content: Option<String>,
    /// Another scope.
    pub scope: Option<ScopePath>,
    /// Another key, or none.
    pub key: Patch<String>,
    /// Another title, or none.
    pub title: Patch<String>,
    /// Another kind, or none.
    pub kind: Patch<String>,
    /// Values to set; a null value removes its name. Cleared, all are removed.
    pub metadata: Patch<Map<String, Value>>,
    /// Another expiry, or none.
    pub expires: Patch<Expiry>,
    /// Another source, or none.
    pub source: Patch<String>,
    /// Another confidence, or none.
    pub confidence: Patch<f64>,
    /// Another sensitivity, or none.
    pub sensitivity: Patch<String>,
    /// A vector of the caller's own for the content.
    pub vector: Option<Vec<f32>>,
    /// The version that the memory must have.
    pub expected_version: Option<u64>,
    /// Why, kept in the history.
    pub reason: Option<String>,
    /// Names the request, so that sending it again changes nothing.
    pub idempotency_key: Option<String>,
}

impl UpdateRequest {
    /// An update that changes nothing yet.
    pub fn new(target: Reference) -> Self {
        Self {
            target,
            content: None,
            scope: None,
            key: Patch::Keep,
            title: Patch::Keep,
            kind: Patch::Keep,
            metadata: Patch::Keep,
            expires: Patch::Keep,
            source: Patch::Keep,
            confidence: Patch::Keep,
            sensitivity: Patch::Keep,
            vector: None,
            expected_version: None,
            reason: None,
            idempotency_key: None,
        }
    }

    fn changes_nothing(&self) -> bool {
        self.content.is_none()
            && self.scope.is_none()
            && self.vector.is_none()
            && [
                &self.key,
                &self.title,
                &self.kind,
                &self.source,
                &self.sensitivity,
            ]
            .into_iter()
            .all(Patch::is_keep)
            && self.metadata.is_keep()
            && self.expires.is_keep()
            && self.confidence.is_keep()
    }
}

/// A memory after a change.
#[derive(Debug, Clone)]
pub struct ChangeReply {
    /// The memory as it is now.
    pub record: Arc<Record>,
    /// What was done.
    pub outcome: Outcome,
    /// What it took.
    pub receipt: Receipt,
}

/// What is kept of a change for a retry.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Changed {
    pub(crate) id: String,
    pub(crate) version: u64,
    pub(crate) outcome: Outcome,
}

impl Session {
    /// Changes fields of a memory.
    ///
    /// # Errors
    /// `NotFound`, Conflict for an unexpected version, a taken key or a reused
    /// idempotency key, Invalid and `TooLarge` for a field, Forbidden without
    /// `memories:write`, Unavailable if storage fails.
    pub async fn update(&self, request: UpdateRequest) -> Result<ChangeReply> {
        self.caller.require(Permission::Write)?;
        if request.changes_nothing() {
            return Err(Error::invalid(
                "content",
                "nothing to update; give at least one field with its new value, or null to remove it",
            ));
        }
        let once = Once::new("update", request.idempotency_key.as_deref(), &request)?;
        self.check_update(&request)?;
        let io = self.db.io();
        let (vectors, degraded) = self.vectors_of_update(&io, &request).await?;
        let session = self.clone();
        let committed = self
            .decide(&io, once, move |decider| {
                session.change(decider, &request, &vectors)
            })
            .await?;
        let changed = committed.value;
        let record = self.version_of(&io, &changed).await?;
        let receipt = Receipt {
            degraded,
            ..Self::receipt(&io, committed.seq)
        };
        Ok(ChangeReply {
            record,
            outcome: changed.outcome,
            receipt,
        })
    }

    fn check_update(&self, request: &UpdateRequest) -> Result<()> {
        let limits = self.limits();
        if let Some(content) = &request.content {
            validate::content(limits, content)?;
        }
        for (field, patch) in [
            ("key", &request.key),
            ("title", &request.title),
            ("source", &request.source),
        ] {
            if let Patch::Set(value) = patch {
                validate::name(limits, field, Some(value.clone()))?;
            }
        }
        for (field, patch) in [
            ("kind", &request.kind),
            ("sensitivity", &request.sensitivity),
        ] {
            if let Patch::Set(value) = patch {
                validate::label(limits, field, Some(value.clone()))?;
            }
        }
        if let Patch::Set(value) = request.confidence {
            validate::confidence(Some(value))?;
        }
        if let Patch::Set(expiry) = request.expires {
            validate::expiry(expiry, self.db.now())?;
        }
        if let Some(vector) = &request.vector {
            validate::vector(limits, "vector", vector.clone())?;
        }
        Ok(())
    }

    /// Embeds the words as they will be, from the memory as it is known now; the
    /// decision checks that they came out so.
    async fn vectors_of_update(
        &self,
        io: &ostraca_object::io::Io,
        request: &UpdateRequest,
    ) -> Result<(ItemDraft, Vec<String>)> {
        let current = self
            .look_up(io, Freshness::Strong, |sight, newest| {
                self.resolve(sight, &request.target, newest, newest)
                    .ok_or_else(|| Self::missing(&request.target))
            })
            .await?;
        let mut record = Record::clone(&current);
        if let Some(content) = &request.content {
            record.content.clone_from(content);
        }
        request.title.clone().apply(&mut record.title);
        record.content_hash = Some(validate::content_hash(&record.content));
        let changed = record.content != current.content || record.title != current.title;
        let mut draft = ItemDraft {
            record,
            expected_version: None,
            vectors: Vectors::asked(request.vector.clone()),
        };
        let degraded = if changed {
            self.vectors_for(io, std::iter::once(&mut draft))
                .await?
                .degraded
        } else {
            Vec::new()
        };
        Ok((draft, degraded))
    }

    fn change(
        &self,
        decider: &mut Decider<'_>,
        request: &UpdateRequest,
        embedded: &ItemDraft,
    ) -> Result<Changed> {
        let current = Self::target(decider, &self.caller.realm, &request.target)
            .ok_or_else(|| Self::missing(&request.target))?;
        Self::expect_version(&current, request.expected_version)?;
        let mut next = Record::clone(&current);
        if let Some(content) = &request.content {
            next.content.clone_from(content);
            next.content_hash = Some(validate::content_hash(content));
        }
        if let Some(scope) = &request.scope {
            next.scope.clone_from(scope);
        }
        request.key.clone().apply(&mut next.key);
        request.title.clone().apply(&mut next.title);
        request.kind.clone().apply(&mut next.kind);
        request.source.clone().apply(&mut next.source);
        request.sensitivity.clone().apply(&mut next.sensitivity);
        request.confidence.clone().apply(&mut next.confidence);
        match &request.metadata {
            Patch::Keep => {}
            Patch::Clear => next.metadata.clear(),
            Patch::Set(values) => {
                let (removed, set): (Vec<_>, Vec<_>) =
                    values.iter().partition(|(_, value)| value.is_null());
                let set: Map<String, Value> = set
                    .into_iter()
                    .map(|(name, value)| (name.clone(), value.clone()))
                    .collect();
                next.metadata
                    .extend(validate::metadata(self.limits(), &set)?);
                for (name, _) in removed {
                    next.metadata.remove(name);
                }
            }
        }
        next.expires = match &request.expires {
            Patch::Keep => next.expires,
            Patch::Clear => None,
            Patch::Set(expiry) => Some(validate::expiry(*expiry, decider.now())?),
        };
        let same_words = next.content == current.content && next.title == current.title;
        if next == *current && !embedded.vectors.replaces(&current) {
            return Ok(Changed {
                id: current.id.clone(),
                version: current.version,
                outcome: Outcome::Unchanged,
            });
        }
        Self::expect_free_key(decider, &next)?;
        next.embedding = if same_words && !matches!(embedded.vectors, Vectors::Given(_)) {
            next.embedding
        } else if embedded.record.content == next.content && embedded.record.title == next.title {
            profile::settle(decider, &next.content, &embedded.vectors)?
        } else {
            // Another writer changed the words since they were embedded: the vector is owed.
            match &current.embedding {
                Embedding::None => Embedding::None,
                Embedding::Pending { profile } | Embedding::Ready { profile, .. } => {
                    Embedding::Pending {
                        profile: profile.clone(),
                    }
                }
            }
        };
        next.version += 1;
        next.updated = decider.now().0;
        next.author.clone_from(&self.caller.author);
        let stored = decider.push(Event::Updated, next, request.reason.clone());
        Ok(Changed {
            id: stored.id.clone(),
            version: stored.version,
            outcome: Outcome::Updated,
        })
    }

    /// The version that a change left, from the state that the commit brought up to date.
    pub(crate) async fn version_of(
        &self,
        io: &ostraca_object::io::Io,
        changed: &Changed,
    ) -> Result<Arc<Record>> {
        self.see_single(io, |sight, _| {
            let versions = sight.versions(&changed.id);
            let found = versions
                .iter()
                .rev()
                .find(|version| version.record.version == changed.version);
            found
                .map(|version| Arc::clone(&version.record))
                .ok_or_else(|| Error::not_found("the memory was changed and has been purged since"))
        })
        .await
    }
}
