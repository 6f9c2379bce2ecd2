//! Who calls: the tenant that the credential fixed, what the credential may do,
//! and the name that its changes carry. Operations take a caller and nothing else
//! that could name a tenant, so no argument can cross the boundary (I-TENANT).

use std::collections::BTreeSet;
use std::fmt;

use ostraca_object::key::{CollectionId, TenantId};

use ostraca_search::record::MEMORY_REALM;

use crate::error::{Error, ErrorKind, Result};

/// One thing a credential may do. The names on the wire are those of OAuth scopes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Permission {
    /// `memories:read`: recall, get, list, history, scopes, watch.
    Read,
    /// `memories:write`: remember, update, restore, scope guidance.
    Write,
    /// `memories:delete`: forget and purge.
    Delete,
    /// `memories:export`: export of everything.
    Export,
}

impl Permission {
    /// Every permission, in the order of the wire names.
    pub const ALL: [Self; 4] = [Self::Read, Self::Write, Self::Delete, Self::Export];

    /// The name on the wire.
    pub fn name(self) -> &'static str {
        match self {
            Self::Read => "memories:read",
            Self::Write => "memories:write",
            Self::Delete => "memories:delete",
            Self::Export => "memories:export",
        }
    }

    /// The permission with this wire name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|permission| permission.name() == name)
    }

    fn grants(self, wanted: Self) -> bool {
        // Write includes read, as authorization servers are required to honour.
        self == wanted || (self == Self::Write && wanted == Self::Read)
    }
}

impl fmt::Display for Permission {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The principal of one request.
#[derive(Debug, Clone)]
pub struct Caller {
    /// The isolation unit.
    pub tenant: TenantId,
    /// The collection that the operation works on, `memory` but for `_system`.
    pub collection: CollectionId,
    /// Which surface's records it sees and writes.
    pub realm: String,
    /// The name that changes carry, such as `key:01j…`; `None` where nobody signs in.
    pub author: Option<String>,
    /// What it may do.
    pub permissions: BTreeSet<Permission>,
}

impl Caller {
    /// A caller of our own surface that may do everything in its tenant.
    pub fn unrestricted(tenant: TenantId) -> Self {
        Self {
            tenant,
            collection: CollectionId::memory(),
            realm: MEMORY_REALM.to_owned(),
            author: None,
            permissions: Permission::ALL.into_iter().collect(),
        }
    }

    /// Whether the caller holds a permission.
    pub fn may(&self, wanted: Permission) -> bool {
        self.permissions.iter().any(|held| held.grants(wanted))
    }

    /// Refuses a caller without the permission.
    ///
    /// # Errors
    /// [`ErrorKind::Forbidden`], naming the permission that is missing.
    pub fn require(&self, wanted: Permission) -> Result<()> {
        if self.may(wanted) {
            return Ok(());
        }
        Err(Error::new(
            ErrorKind::Forbidden,
            format!("this credential lacks the scope {wanted}; use one that has it"),
        ))
    }
}
