//! Tenants: made once, as a record in the `_system` collection of their own, so
//! that no list of all tenants has to be kept or read.

use std::sync::Arc;

use ostraca_object::key::{CollectionId, CollectionKey, TenantId};
use ostraca_object::log::Freshness;
use ostraca_object::port::Timestamp;
use ostraca_search::{Record, ScopePath};

use crate::caller::Caller;
use crate::change::Event;
use crate::database::Database;
use crate::error::{Error, Result};
use crate::session::Session;

/// The realm of records in `_system`.
pub(crate) const SYSTEM_REALM: &str = "system";
const TENANT: &str = "tenant";

/// A tenant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TenantInfo {
    /// Its id.
    pub id: TenantId,
    /// When it came to be.
    pub created: Timestamp,
}

impl Database {
    /// Makes a tenant.
    ///
    /// # Errors
    /// Conflict if there is one of that id, Unavailable if storage fails.
    pub async fn create_tenant(self: &Arc<Self>, tenant: &TenantId) -> Result<TenantInfo> {
        let session = self.system(tenant);
        let io = self.io();
        let (id, record_id) = (tenant.clone(), self.new_id());
        let committed = session
            .decide(&io, None, move |decider| {
                if decider
                    .live_key(SYSTEM_REALM, &ScopePath::root(), TENANT)
                    .is_some()
                {
                    return Err(Error::conflict(
                        "tenant",
                        format!("tenant {id} exists already"),
                    ));
                }
                let now = decider.now();
                let mut record =
                    Record::new(record_id.clone(), ScopePath::root(), id.as_str(), now.0);
                SYSTEM_REALM.clone_into(&mut record.realm);
                record.kind = Some(TENANT.to_owned());
                record.key = Some(TENANT.to_owned());
                decider.push(Event::Created, record, None);
                Ok(now)
            })
            .await?;
        Ok(TenantInfo {
            id: tenant.clone(),
            created: committed.value,
        })
    }

    /// A tenant, if there is one of that id.
    ///
    /// # Errors
    /// Unavailable if storage fails.
    pub async fn find_tenant(self: &Arc<Self>, tenant: &TenantId) -> Result<Option<TenantInfo>> {
        let io = self.io();
        let session = self.system(tenant);
        let found = session.look(&io, Freshness::Strong, |view, _| {
            let record = view
                .id_of_key(SYSTEM_REALM, &ScopePath::root(), TENANT)
                .and_then(|id| view.newest(id));
            Ok(record.map(|version| Timestamp(version.record.created)))
        });
        let found = found.await?;
        if found.is_none() {
            self.close(&system_key(tenant));
        }
        Ok(found.map(|created| TenantInfo {
            id: tenant.clone(),
            created,
        }))
    }

    pub(crate) fn system(self: &Arc<Self>, tenant: &TenantId) -> Session {
        let caller = Caller {
            collection: CollectionId::system(),
            realm: SYSTEM_REALM.to_owned(),
            ..Caller::unrestricted(tenant.clone())
        };
        self.session(caller)
    }
}

pub(crate) fn system_key(tenant: &TenantId) -> CollectionKey {
    CollectionKey::new(tenant.clone(), CollectionId::system())
}
