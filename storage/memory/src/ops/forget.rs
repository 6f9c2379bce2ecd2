//! `forget`: takes memories out of every answer. Softly, as a version that can be
//! undone by `restore`, or as a purge, which erases every version for good.

use ostraca_search::{Embedding, Record, Status};
use serde::{Deserialize, Serialize};

use crate::caller::Permission;
use crate::change::Event;
use crate::draft::Decider;
use crate::error::{Error, Result};
use crate::idempotency::Once;
use crate::receipt::Receipt;
use crate::reference::Reference;
use crate::session::Session;

/// What to forget.
#[derive(Debug, Clone)]
pub struct ForgetRequest {
    /// Which memories, at most [`crate::Limits::items`].
    pub references: Vec<Reference>,
    /// How thoroughly.
    pub mode: ForgetMode,
    /// The version that the one memory must have.
    pub expected_version: Option<u64>,
    /// Why, kept in the history.
    pub reason: Option<String>,
    /// Names the request, so that sending it again changes nothing.
    pub idempotency_key: Option<String>,
}

impl ForgetRequest {
    /// Forgets memories softly.
    pub fn soft(references: Vec<Reference>) -> Self {
        Self {
            references,
            mode: ForgetMode::Soft,
            expected_version: None,
            reason: None,
            idempotency_key: None,
        }
    }
}

/// How thoroughly to forget.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ForgetMode {
    /// Out of sight; the history stays and `restore` undoes it.
    Soft,
    /// Erased with every version; nothing undoes it. Reaches memories that were
    /// forgotten or have expired, too.
    Purge,
}

/// What became of the references, in their order.
#[derive(Debug, Clone)]
pub struct ForgetReply {
    /// One outcome for each reference.
    pub items: Vec<Forgotten>,
    /// What it took.
    pub receipt: Receipt,
}

/// What became of one reference.
#[derive(Debug, Clone)]
pub struct Forgotten {
    /// The reference as it was given.
    pub reference: Reference,
    /// The id of the memory, if there was one.
    pub id: Option<String>,
    /// What was done.
    pub outcome: ForgetOutcome,
}

/// What was done with one reference.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ForgetOutcome {
    /// Forgotten softly.
    Forgotten,
    /// Erased.
    Purged,
    /// There was nothing there.
    Missing,
}

impl Session {
    /// Forgets memories, all in one commit.
    ///
    /// # Errors
    /// Invalid for no or too many references, Conflict for an unexpected version or a
    /// reused idempotency key, Forbidden without `memories:delete`, Unavailable if
    /// storage fails. A reference to nothing is an outcome, not an error.
    pub async fn forget(&self, request: ForgetRequest) -> Result<ForgetReply> {
        self.caller.require(Permission::Delete)?;
        let count = request.references.len();
        if count == 0 {
            return Err(Error::invalid(
                "ids",
                "nothing to forget; name memories by id or by key",
            ));
        }
        if count > self.limits().items {
            return Err(Error::too_large(
                "ids",
                format!(
                    "{count} memories at once; send at most {} and repeat",
                    self.limits().items
                ),
            ));
        }
        if request.expected_version.is_some() && count > 1 {
            return Err(Error::invalid(
                "expected_version",
                "a version can be expected of one memory only; forget the others in calls of their own",
            ));
        }
        let once = Once::new("forget", request.idempotency_key.as_deref(), &request)?;
        let io = self.db.io();
        let references = request.references.clone();
        let (realm, author) = (self.caller.realm.clone(), self.caller.author.clone());
        let committed = self
            .decide(&io, once, move |decider| {
                request
                    .references
                    .iter()
                    .map(|reference| {
                        forget_one(decider, &realm, author.as_deref(), &request, reference)
                    })
                    .collect::<Result<Vec<_>>>()
            })
            .await?;
        let items = references
            .into_iter()
            .zip(committed.value)
            .map(|(reference, (id, outcome))| Forgotten {
                reference,
                id,
                outcome,
            })
            .collect();
        Ok(ForgetReply {
            items,
            receipt: Self::receipt(&io, committed.seq),
        })
    }
}

fn forget_one(
    decider: &mut Decider<'_>,
    realm: &str,
    author: Option<&str>,
    request: &ForgetRequest,
    reference: &Reference,
) -> Result<(Option<String>, ForgetOutcome)> {
    let found = match (request.mode, reference) {
        (ForgetMode::Purge, Reference::Id(id)) => {
            decider.newest(id).filter(|record| record.realm == realm)
        }
        (ForgetMode::Soft | ForgetMode::Purge, _) => Session::target(decider, realm, reference),
    };
    let Some(found) = found else {
        return Ok((None, ForgetOutcome::Missing));
    };
    Session::expect_version(&found, request.expected_version)?;
    let id = Some(found.id.clone());
    let mut last = match request.mode {
        ForgetMode::Soft => Record::clone(&found),
        // A purge row names the memory and holds nothing of it.
        ForgetMode::Purge => Record {
            realm: found.realm.clone(),
            ..Record::new(
                found.id.clone(),
                found.scope.clone(),
                String::new(),
                found.created,
            )
        },
    };
    last.version = found.version + 1;
    last.status = Status::Deleted;
    last.updated = decider.now().0;
    last.author = author.map(str::to_owned);
    last.embedding = Embedding::None;
    match request.mode {
        ForgetMode::Soft => {
            decider.push(Event::Forgotten, last, request.reason.clone());
            Ok((id, ForgetOutcome::Forgotten))
        }
        ForgetMode::Purge => {
            decider.push(Event::Purged, last, request.reason.clone());
            Ok((id, ForgetOutcome::Purged))
        }
    }
}
