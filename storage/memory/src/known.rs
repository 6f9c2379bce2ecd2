//! What point reads have found in the segments, and the state as a decision or a point
//! read sees it: the view, and under it what was found. What is asked for and not known
//! yet is remembered, so that it can be looked up and the question asked again.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use ostraca_search::ScopePath;

use crate::catalogue::Catalogue;
use crate::view::{Version, View};

/// A name that segments can be asked for.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Name {
    /// A memory, by id.
    Id(String),
    /// The memory that holds a key: realm, scope, key.
    Key(String, ScopePath, String),
    /// The memory without a key that has a content: realm, scope, digest.
    Hash(String, ScopePath, [u8; 16]),
}

/// A version in a segment.
#[derive(Debug, Clone)]
pub(crate) struct Held {
    /// The version.
    pub(crate) version: Version,
    /// Its segment and row, if a search for the present sees it there.
    pub(crate) at: Option<(u128, u32)>,
}

/// What has been found in the segments of one catalogue.
#[derive(Debug, Default)]
pub(crate) struct Known {
    catalogue: Catalogue,
    newest: BTreeMap<String, Held>,
    versions: BTreeMap<String, Vec<Version>>,
    holders: BTreeMap<Name, Option<String>>,
}

impl Known {
    /// Nothing yet of these segments.
    pub(crate) fn of(catalogue: Catalogue) -> Self {
        Self {
            catalogue,
            ..Self::default()
        }
    }

    /// Whether it is about the segments that a view stands on.
    pub(crate) fn is_of(&self, view: &View) -> bool {
        self.catalogue == *view.catalogue()
    }

    /// The segments it is about.
    pub(crate) fn catalogue(&self) -> &Catalogue {
        &self.catalogue
    }

    /// Takes the versions of a memory, oldest first; none if there is no such memory.
    pub(crate) fn learn_versions(&mut self, id: String, versions: Vec<Held>) {
        if let Some(newest) = versions.last() {
            self.newest.insert(id.clone(), newest.clone());
        }
        let versions = versions.into_iter().map(|held| held.version).collect();
        self.versions.insert(id, versions);
    }

    /// Takes who holds a key or a content.
    pub(crate) fn learn_holder(&mut self, name: Name, holder: Option<Held>) {
        let id = holder.map(|held| {
            let id = held.version.record.id.clone();
            self.newest.entry(id.clone()).or_insert(held);
            id
        });
        self.holders.insert(name, id);
    }
}

/// The view, and under it what is known of the segments.
#[derive(Debug)]
pub(crate) struct Sight<'a> {
    view: &'a View,
    known: &'a Known,
    missing: RefCell<BTreeSet<Name>>,
}

impl<'a> Sight<'a> {
    pub(crate) fn new(view: &'a View, known: &'a Known) -> Self {
        Self {
            view,
            known,
            missing: RefCell::default(),
        }
    }

    pub(crate) fn view(&self) -> &'a View {
        self.view
    }

    /// What was asked for and is not known; what was answered meanwhile is void.
    pub(crate) fn into_missing(self) -> BTreeSet<Name> {
        self.missing.into_inner()
    }

    /// Whether the segments are to be asked about a memory at all.
    fn is_below(&self, id: &str) -> bool {
        !self.view.is_whole() && self.view.newest(id).is_none() && !self.view.is_purged(id)
    }

    fn miss(&self, name: Name) {
        self.missing.borrow_mut().insert(name);
    }

    /// The newest version of a memory, forgotten ones included.
    pub(crate) fn newest(&self, id: &str) -> Option<&'a Version> {
        if !self.is_below(id) {
            return self.view.newest(id);
        }
        let held = self.known.newest.get(id);
        if held.is_none() && !self.known.versions.contains_key(id) {
            self.miss(Name::Id(id.to_owned()));
        }
        held.map(|held| &held.version)
    }

    /// The segment and row of the version that a new one would replace, and that version.
    pub(crate) fn replaceable(&self, id: &str) -> Option<(u128, u32, &'a Version)> {
        if !self.is_below(id) {
            return None;
        }
        let held = self.known.newest.get(id)?;
        let (segment, row) = held.at?;
        Some((segment, row, &held.version))
    }

    /// All versions of a memory, oldest first.
    pub(crate) fn versions(&self, id: &str) -> Vec<Version> {
        let recent = self.view.versions(id);
        if self.view.is_whole() || self.view.is_purged(id) {
            return recent.to_vec();
        }
        let Some(older) = self.known.versions.get(id) else {
            self.miss(Name::Id(id.to_owned()));
            return recent.to_vec();
        };
        older.iter().chain(recent).cloned().collect()
    }

    /// The id that a key stands for.
    pub(crate) fn id_of_key(&self, realm: &str, scope: &ScopePath, key: &str) -> Option<&'a str> {
        self.view
            .id_of_key(realm, scope, key)
            .or_else(|| self.holder(|| Name::Key(realm.to_owned(), scope.clone(), key.to_owned())))
    }

    /// The id of the memory without a key that has this content.
    pub(crate) fn id_of_hash(
        &self,
        realm: &str,
        scope: &ScopePath,
        hash: [u8; 16],
    ) -> Option<&'a str> {
        self.view
            .id_of_hash(realm, scope, hash)
            .or_else(|| self.holder(|| Name::Hash(realm.to_owned(), scope.clone(), hash)))
    }

    /// Who holds a name in the segments, unless that has changed since.
    fn holder(&self, name: impl FnOnce() -> Name) -> Option<&'a str> {
        if self.view.is_whole() {
            return None;
        }
        let name = name();
        let Some(holder) = self.known.holders.get(&name) else {
            self.miss(name);
            return None;
        };
        holder.as_deref().filter(|id| self.is_below(id))
    }
}
