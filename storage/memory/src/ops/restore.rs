//! `restore`: brings an earlier version back as a new one, be the memory forgotten
//! or merely changed. The versions in between stay in the history.

use std::sync::Arc;

use ostraca_search::{Record, Status};

use crate::caller::Permission;
use crate::change::Event;
use crate::draft::Decider;
use crate::error::{Error, Result};
use crate::idempotency::Once;
use crate::ops::remember::Outcome;
use crate::ops::update::{ChangeReply, Changed};
use crate::reference::Reference;
use crate::session::Session;

/// What to restore.
#[derive(Debug, Clone)]
pub struct RestoreRequest {
    /// Which memory. A forgotten one is named by its id, as its key may be taken.
    pub target: Reference,
    /// Which version; the newest that was not forgotten if absent.
    pub version: Option<u64>,
    /// The version that the memory must have now.
    pub expected_version: Option<u64>,
    /// Why, kept in the history.
    pub reason: Option<String>,
    /// Names the request, so that sending it again changes nothing.
    pub idempotency_key: Option<String>,
}

impl Session {
    /// Brings a version back.
    ///
    /// # Errors
    /// `NotFound` for an unknown memory or version, Conflict for an unexpected version,
    /// a key taken since or a reused idempotency key, Forbidden without
    /// `memories:write`, Unavailable if storage fails.
    pub async fn restore(&self, request: RestoreRequest) -> Result<ChangeReply> {
        self.caller.require(Permission::Write)?;
        let once = Once::new("restore", request.idempotency_key.as_deref(), &request)?;
        let io = self.db.io();
        let (realm, author) = (self.caller.realm.clone(), self.caller.author.clone());
        let committed = self
            .decide(&io, once, move |decider| {
                bring_back(decider, &realm, author.as_deref(), &request)
            })
            .await?;
        let record = self.version_of(&io, &committed.value).await?;
        Ok(ChangeReply {
            record,
            outcome: committed.value.outcome,
            receipt: Self::receipt(&io, committed.seq),
        })
    }
}

fn bring_back(
    decider: &mut Decider<'_>,
    realm: &str,
    author: Option<&str>,
    request: &RestoreRequest,
) -> Result<Changed> {
    let newest = match &request.target {
        Reference::Id(id) => decider.newest(id).filter(|record| record.realm == realm),
        Reference::Key { .. } => Session::target(decider, realm, &request.target),
    };
    let newest = newest.ok_or_else(|| Session::missing(&request.target))?;
    Session::expect_version(&newest, request.expected_version)?;
    let wanted = earlier(decider, &newest, request.version)?;
    if wanted.version == newest.version {
        return Ok(Changed {
            id: newest.id.clone(),
            version: newest.version,
            outcome: Outcome::Unchanged,
        });
    }
    let mut next = Record::clone(&wanted);
    next.status = Status::Active;
    next.version = newest.version + 1;
    next.updated = decider.now().0;
    next.author = author.map(str::to_owned);
    // An expiry that has passed would take it out of sight again at once.
    next.expires = next.expires.filter(|expires| *expires > decider.now().0);
    Session::expect_free_key(decider, &next)?;
    let stored = decider.push(Event::Restored, next, request.reason.clone());
    Ok(Changed {
        id: stored.id.clone(),
        version: stored.version,
        outcome: Outcome::Updated,
    })
}

/// The version to bring back: the one asked for, or the newest that was not forgotten.
fn earlier(
    decider: &Decider<'_>,
    newest: &Arc<Record>,
    version: Option<u64>,
) -> Result<Arc<Record>> {
    let folded = decider.versions(&newest.id);
    let folded = folded.iter().rev().map(|version| &version.record);
    let found = std::iter::once(newest)
        .chain(folded)
        .find(|record| match version {
            Some(version) => record.version == version,
            None => record.status != Status::Deleted,
        });
    match found {
        Some(record) if record.status == Status::Deleted => Err(Error::invalid(
            "version",
            "that version is the forgetting itself; choose one before it",
        )),
        Some(record) => Ok(Arc::clone(record)),
        None => Err(Error::not_found(
            "the memory has no such version; see history for those it has",
        )
        .at("version")),
    }
}
