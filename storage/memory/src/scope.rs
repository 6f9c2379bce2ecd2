//! Which scopes a read looks at. Apart from `ScopePath`, which names one place,
//! this says how far around that place a read reaches.

use ostraca_search::{ScopeFilter, ScopePath};

/// How far a read reaches from the scope it names.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Reach {
    /// That scope alone.
    Exact,
    /// That scope and all above it, up to the root: what it inherits.
    #[default]
    Inherited,
    /// That scope and all below it.
    Below,
    /// Every scope of the tenant.
    All,
}

/// A scope and how far to reach from it. The default is the root scope alone,
/// which is where memories without a scope lie.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ScopeSelector {
    /// Where to stand.
    pub path: ScopePath,
    /// How far to reach.
    pub reach: Reach,
}

impl ScopeSelector {
    /// Every scope of the tenant.
    pub fn all() -> Self {
        Self {
            path: ScopePath::root(),
            reach: Reach::All,
        }
    }

    /// One scope alone.
    pub fn exact(path: ScopePath) -> Self {
        Self {
            path,
            reach: Reach::Exact,
        }
    }

    pub(crate) fn to_filter(&self) -> ScopeFilter {
        match self.reach {
            Reach::Exact => ScopeFilter::Exact(self.path.clone()),
            Reach::Inherited => ScopeFilter::Inherited(self.path.clone()),
            Reach::Below => ScopeFilter::Below(self.path.clone()),
            Reach::All => ScopeFilter::All,
        }
    }
}
