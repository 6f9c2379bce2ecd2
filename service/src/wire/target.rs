//! How arguments name places and memories: a scope with its reach, an id, or a
//! key within a scope. Separate because most operations name one or the other,
//! and all have to refuse the same mistakes in the same words.

use ostraca_memory as domain;
use ostraca_memory::{Error, Reference, ScopePath, ScopeSelector};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How far a read reaches from its scope.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum Reach {
    /// That scope alone.
    Exact,
    /// That scope and all above it.
    Inherited,
    /// That scope and all below it.
    Below,
    /// Every scope.
    All,
}

impl From<Reach> for domain::Reach {
    fn from(reach: Reach) -> Self {
        match reach {
            Reach::Exact => Self::Exact,
            Reach::Inherited => Self::Inherited,
            Reach::Below => Self::Below,
            Reach::All => Self::All,
        }
    }
}

/// A scope path; absent is the root.
pub(super) fn scope(field: &'static str, text: Option<&str>) -> Result<ScopePath, Error> {
    domain::parse_scope(field, text.unwrap_or_default())
}

/// A scope and its reach.
pub(super) fn selector(
    path: Option<&str>,
    reach: Option<Reach>,
    default: Reach,
) -> Result<ScopeSelector, Error> {
    Ok(ScopeSelector {
        path: scope("scope", path)?,
        reach: reach.unwrap_or(default).into(),
    })
}

/// The names that arguments gave, before they are checked.
#[derive(Debug, Default)]
pub(super) struct Names {
    pub(super) id: Option<String>,
    pub(super) ids: Option<Vec<String>>,
    pub(super) key: Option<String>,
    pub(super) keys: Option<Vec<String>>,
    pub(super) scope: Option<String>,
}

impl Names {
    /// Every memory named, ids first, each in the order given.
    pub(super) fn many(self) -> Result<Vec<Reference>, Error> {
        let keyed = self.key.is_some() || self.keys.is_some();
        if !keyed && self.scope.is_some() {
            return Err(Error::invalid(
                "scope",
                "says where a key belongs; an id needs none, so leave it out or give key",
            ));
        }
        let scope = scope("scope", self.scope.as_deref())?;
        let ids = self
            .id
            .into_iter()
            .chain(self.ids.into_iter().flatten())
            .map(Reference::Id);
        let keys = self
            .key
            .into_iter()
            .chain(self.keys.into_iter().flatten())
            .map(|key| Reference::Key {
                scope: scope.clone(),
                key,
            });
        let references: Vec<_> = ids.chain(keys).collect();
        if references.is_empty() {
            return Err(Error::invalid(
                "id",
                "is missing: name a memory by id or by key",
            ));
        }
        Ok(references)
    }

    /// The one memory named.
    pub(super) fn one(self) -> Result<Reference, Error> {
        if self.id.is_some() && self.key.is_some() {
            return Err(Error::invalid(
                "key",
                "stands beside id; give one of the two",
            ));
        }
        let mut references = self.many()?;
        references
            .pop()
            .ok_or_else(|| Error::invalid("id", "is missing: name a memory by id or by key"))
    }
}
