//! API keys: made, listed, revoked, and recognised when a request presents one.
//! The secret is shown once and stored as a digest.

use std::collections::BTreeSet;
use std::sync::Arc;

use ostraca_object::key::TenantId;
use ostraca_object::log::Freshness;
use ostraca_object::port::Timestamp;
use ostraca_search::{Record, ScopePath};
use serde::{Deserialize, Serialize};

use crate::caller::{Caller, Permission};
use crate::change::Event;
use crate::database::Database;
use crate::error::{Error, ErrorKind, Result};
use crate::system::tenants::{SYSTEM_REALM, system_key};
use crate::system::token::Token;
use crate::view::View;

/// A key to make.
#[derive(Debug, Clone)]
pub struct NewKey {
    /// The tenant that it opens, which must exist.
    pub tenant: TenantId,
    /// What it is for, in the words of whoever makes it.
    pub name: String,
    /// What it may do.
    pub permissions: BTreeSet<Permission>,
    /// When it ends.
    pub expires: Option<Timestamp>,
}

/// A key without its secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyInfo {
    /// Its id.
    pub id: String,
    /// The tenant that it opens.
    pub tenant: TenantId,
    /// What it is for.
    pub name: String,
    /// What it may do.
    pub permissions: BTreeSet<Permission>,
    /// When it was made.
    pub created: Timestamp,
    /// When it ends.
    pub expires: Option<Timestamp>,
    /// When it was revoked.
    pub revoked: Option<Timestamp>,
}

/// A new key with the only showing of its secret.
#[derive(Debug, Clone)]
pub struct CreatedKey {
    /// The key.
    pub info: KeyInfo,
    /// What a client sends as its bearer token.
    pub secret: String,
}

/// A key's record as JSON.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Stored {
    name: String,
    digest: String,
    permissions: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    revoked_ms: Option<i64>,
}

const API_KEY: &str = "api_key";

/// How long a process may go on with what it knows of keys: a revocation acts
/// within this time everywhere.
const STALE_MS: u64 = 5_000;

impl Database {
    /// Makes a key.
    ///
    /// # Errors
    /// `NotFound` for an unknown tenant, Invalid for a blank name, no permission or a
    /// past expiry, Unavailable if storage fails.
    pub async fn create_key(self: &Arc<Self>, new: NewKey) -> Result<CreatedKey> {
        if new.name.trim().is_empty() || new.name.len() > 128 {
            return Err(Error::invalid(
                "name",
                "a key's name has 1 to 128 bytes; say what it is for",
            ));
        }
        if new.permissions.is_empty() {
            return Err(Error::invalid(
                "scopes",
                "a key without scopes opens nothing; give at least one",
            ));
        }
        if new.expires.is_some_and(|expires| expires <= self.now()) {
            return Err(Error::invalid(
                "expires",
                "the expiry does not lie in the future",
            ));
        }
        if self.find_tenant(&new.tenant).await?.is_none() {
            return Err(Error::not_found(format!(
                "there is no tenant {}; make it first",
                new.tenant
            ))
            .at("tenant"));
        }
        let token = Token::new(
            new.tenant.clone(),
            self.new_id(),
            [self.random(), self.random()],
        );
        let stored = Stored {
            name: new.name.clone(),
            digest: token.digest(),
            permissions: new
                .permissions
                .iter()
                .map(|permission| permission.name().to_owned())
                .collect(),
            revoked_ms: None,
        };
        let mut record = Record::new(
            token.id.clone(),
            ScopePath::root(),
            String::new(),
            self.now().0,
        );
        SYSTEM_REALM.clone_into(&mut record.realm);
        record.kind = Some(API_KEY.to_owned());
        record.value = Some(as_json(&stored)?);
        let expires = new.expires;
        let created = Timestamp(record.created);
        let io = self.io();
        self.system(&new.tenant)
            .decide(&io, None, move |decider| {
                // Kept beyond its end, so that it stays listed: the end is checked at use.
                record
                    .timestamps
                    .extend(expires.map(|at| ("expires".to_owned(), at.0)));
                decider.push(Event::Created, record.clone(), None);
                Ok(())
            })
            .await?;
        let NewKey {
            tenant,
            name,
            permissions,
            expires,
        } = new;
        let info = KeyInfo {
            id: token.id.clone(),
            tenant,
            name,
            permissions,
            created,
            expires,
            revoked: None,
        };
        Ok(CreatedKey {
            info,
            secret: token.expose(),
        })
    }

    /// The keys of a tenant, oldest first, revoked ones included.
    ///
    /// # Errors
    /// Unavailable if storage fails.
    pub async fn list_keys(self: &Arc<Self>, tenant: &TenantId) -> Result<Vec<KeyInfo>> {
        let io = self.io();
        self.system(tenant)
            .look(&io, Freshness::Strong, |view, _| {
                Ok(view
                    .in_order()
                    .filter_map(|(_, id)| Some(find(view, tenant, id)?.0))
                    .collect())
            })
            .await
    }

    /// Takes a key's rights away.
    ///
    /// # Errors
    /// `NotFound` for an unknown key, Unavailable if storage fails.
    pub async fn revoke_key(self: &Arc<Self>, tenant: &TenantId, id: &str) -> Result<KeyInfo> {
        let io = self.io();
        let wanted = id.to_owned();
        let session = self.system(tenant);
        session
            .decide(&io, None, move |decider| {
                let record = decider
                    .live(&wanted)
                    .filter(|record| record.kind.as_deref() == Some(API_KEY));
                let record =
                    record.ok_or_else(|| Error::not_found("there is no such key").at("id"))?;
                let mut stored = stored(&record).ok_or_else(unreadable)?;
                if stored.revoked_ms.is_none() {
                    stored.revoked_ms = Some(decider.now().0);
                    let mut next = Record::clone(&record);
                    next.version += 1;
                    next.updated = decider.now().0;
                    next.value = Some(as_json(&stored)?);
                    decider.push(Event::Updated, next, None);
                }
                Ok(())
            })
            .await?;
        session
            .log
            .read(|view, _| find(view, tenant, id).map(|(info, _)| info))
            .ok_or_else(unreadable)
    }

    /// Who presents this API key. Revocations act within five seconds.
    ///
    /// # Errors
    /// Unauthorized, with one sentence whatever is wrong with the key; Unavailable if
    /// storage fails.
    pub async fn authenticate(self: &Arc<Self>, token: &str) -> Result<Caller> {
        let refused = || {
            Error::new(
                ErrorKind::Unauthorized,
                "this API key is unknown, has ended or was revoked; use another",
            )
        };
        let token = Token::parse(token.trim()).ok_or_else(refused)?;
        let session = self.system(&token.tenant);
        let io = self.io();
        let fresh = Freshness::Bounded(STALE_MS);
        let mut found = session
            .look(&io, fresh, |view, _| {
                Ok(find(view, &token.tenant, &token.id))
            })
            .await?;
        if found.is_none() {
            // A key made a moment ago elsewhere is not refused for want of a fresh look.
            found = session
                .look(&io, Freshness::Strong, |view, _| {
                    Ok(find(view, &token.tenant, &token.id))
                })
                .await?;
        }
        let Some((info, digest)) = found else {
            if session.log.read(|_, newest| newest.0 == 0) {
                // Nobody can make this process keep collections that do not exist.
                self.close(&system_key(&token.tenant));
            }
            return Err(refused());
        };
        if !token.matches(&digest)
            || info.revoked.is_some()
            || info.expires.is_some_and(|expires| expires <= self.now())
        {
            return Err(refused());
        }
        Ok(Caller {
            author: Some(format!("key:{}", info.id)),
            permissions: info.permissions,
            ..Caller::unrestricted(info.tenant)
        })
    }
}

fn find(view: &View, tenant: &TenantId, id: &str) -> Option<(KeyInfo, String)> {
    let record = &view.newest(id)?.record;
    if record.kind.as_deref() != Some(API_KEY) || record.realm != SYSTEM_REALM {
        return None;
    }
    let stored = stored(record)?;
    let info = KeyInfo {
        id: record.id.clone(),
        tenant: tenant.clone(),
        name: stored.name,
        permissions: stored
            .permissions
            .iter()
            .filter_map(|name| Permission::parse(name))
            .collect(),
        created: Timestamp(record.created),
        expires: record.timestamps.get("expires").copied().map(Timestamp),
        revoked: stored.revoked_ms.map(Timestamp),
    };
    Some((info, stored.digest))
}

fn stored(record: &Record) -> Option<Stored> {
    Stored::deserialize(record.value.as_ref()?).ok()
}

fn as_json(stored: &Stored) -> Result<serde_json::Value> {
    serde_json::to_value(stored).map_err(|error| {
        Error::new(ErrorKind::Internal, "a key could not be stored").with_source(error)
    })
}

fn unreadable() -> Error {
    Error::new(ErrorKind::Corrupt, "the stored key cannot be read")
}
