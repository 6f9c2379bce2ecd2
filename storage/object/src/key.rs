//! Every name an object may have, as one enum. It is the only file that knows
//! the layout of the bucket, so a path can be neither misspelt nor escape its
//! tenant; it must not touch the store.

#[cfg(test)]
mod tests;

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use object_store::path::Path;
use serde::{Deserialize, Serialize};

/// A name that does not follow its grammar.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what} {given:?} is not valid: it must match {grammar}")]
pub struct InvalidName {
    /// Which kind of name.
    pub what: &'static str,
    /// What was given.
    pub given: String,
    /// The grammar as a regular expression.
    pub grammar: &'static str,
}

macro_rules! name {
    ($(#[$doc:meta])* $type:ident, $what:literal, $grammar:literal, $max:literal, $first:expr, $rest:expr) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(try_from = "String", into = "String")]
        pub struct $type(Arc<str>);

        impl $type {
            /// The grammar as a regular expression.
            pub const GRAMMAR: &str = $grammar;

            /// The name itself.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl FromStr for $type {
            type Err = InvalidName;

            fn from_str(text: &str) -> Result<Self, InvalidName> {
                let first: fn(u8) -> bool = $first;
                let rest: fn(u8) -> bool = $rest;
                let valid = text.len() <= $max
                    && text.bytes().next().is_some_and(first)
                    && text.bytes().skip(1).all(rest);
                if valid {
                    Ok(Self(text.into()))
                } else {
                    Err(InvalidName { what: $what, given: text.to_owned(), grammar: $grammar })
                }
            }
        }

        impl TryFrom<String> for $type {
            type Error = InvalidName;

            fn try_from(text: String) -> Result<Self, InvalidName> {
                text.parse()
            }
        }

        impl From<$type> for String {
            fn from(name: $type) -> Self {
                name.as_str().to_owned()
            }
        }

        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

fn lower(byte: u8) -> bool {
    byte.is_ascii_lowercase()
}

fn lower_or_digit(byte: u8) -> bool {
    byte.is_ascii_lowercase() || byte.is_ascii_digit()
}

name!(
    /// The isolation unit, fixed by the credential.
    TenantId,
    "tenant",
    "[a-z0-9][a-z0-9-]{0,47}",
    48,
    lower_or_digit,
    |b| lower_or_digit(b) || b == b'-'
);
name!(
    /// A named set of records in a tenant.
    CollectionId,
    "collection",
    "[a-z_][a-z0-9_-]{0,62}",
    63,
    |b| lower(b) || b == b'_',
    |b| lower_or_digit(b) || b == b'_' || b == b'-'
);
name!(
    /// An immutable search index over a range of the log.
    SegmentId,
    "segment",
    "[a-z0-9][a-z0-9-]{0,63}",
    64,
    lower_or_digit,
    |b| lower_or_digit(b) || b == b'-'
);
name!(
    /// One run of the create-only probe.
    ProbeId,
    "probe",
    "[a-z0-9][a-z0-9-]{0,63}",
    64,
    lower_or_digit,
    |b| lower_or_digit(b) || b == b'-'
);

impl From<u128> for SegmentId {
    /// The name of a segment that is named by a number: its 32 hexadecimal digits.
    fn from(number: u128) -> Self {
        Self(format!("{number:032x}").into())
    }
}

impl CollectionId {
    /// The reserved collection of memories.
    pub const MEMORY: &str = "memory";
    /// The reserved collection of keys, clients, grants and settings.
    pub const SYSTEM: &str = "_system";

    /// The reserved collection of memories.
    pub fn memory() -> Self {
        Self(Self::MEMORY.into())
    }

    /// The reserved collection of keys, clients, grants and settings.
    pub fn system() -> Self {
        Self(Self::SYSTEM.into())
    }
}

/// A collection of a tenant: the unit that has one log.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct CollectionKey {
    /// Whose it is.
    pub tenant: TenantId,
    /// Which one.
    pub collection: CollectionId,
}

impl CollectionKey {
    /// Joins the two names.
    pub fn new(tenant: TenantId, collection: CollectionId) -> Self {
        Self { tenant, collection }
    }

    fn root(&self) -> String {
        format!("t/{}/c/{}", self.tenant, self.collection)
    }
}

impl fmt::Display for CollectionKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.tenant, self.collection)
    }
}

/// The number of a log entry. The first is 1; 0 is the state before it.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Seq(pub u64);

impl Seq {
    /// Before the first entry.
    pub const ZERO: Self = Self(0);

    /// The number that follows.
    pub fn next(self) -> Self {
        Self(self.0.saturating_add(1))
    }

    /// The number before; zero has none and stays.
    pub fn prev(self) -> Self {
        Self(self.0.saturating_sub(1))
    }
}

impl fmt::Display for Seq {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The objects of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SegmentPart {
    /// Centroids, term directory, statistics, bitmaps, deletions, offsets.
    Root,
    /// Quantised residual codes, one block per cluster.
    Codes,
    /// BM25 postings.
    Postings,
    /// Records with their full vectors, in cluster order.
    Rows,
}

impl SegmentPart {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Root, Self::Codes, Self::Postings, Self::Rows];

    fn file(self) -> &'static str {
        match self {
            Self::Root => "root.arrow",
            Self::Codes => "codes.arrow",
            Self::Postings => "postings.arrow",
            Self::Rows => "rows.arrow",
        }
    }

    fn from_file(file: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|part| part.file() == file)
    }
}

/// The name of an object.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Key {
    /// One immutable commit.
    Log(CollectionKey, Seq),
    /// A copy of the newest checkpoint known to its writer.
    Head(CollectionKey),
    /// A part of a segment.
    Segment(CollectionKey, SegmentId, SegmentPart),
    /// The marker that compaction is wanted of the entries up to this one.
    Due(CollectionKey, Seq),
    /// What a run of the create-only probe leaves for a moment.
    Probe(ProbeId),
    /// The marker that this store has passed the create-only probe.
    Proven,
}

/// A set of objects that one listing answers.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Prefix {
    /// The log of a collection.
    Log(CollectionKey),
    /// All parts of all segments of a collection.
    Segments(CollectionKey),
    /// Everything in a collection.
    Collection(CollectionKey),
    /// Everything of a tenant.
    Tenant(TenantId),
    /// All collections that want compaction.
    Due,
}

impl Key {
    /// Where the object lies in the store.
    pub fn path(&self) -> Path {
        Path::from(self.to_string())
    }

    /// The key of a path, if it is one of ours.
    pub fn parse(path: &Path) -> Option<Self> {
        let parts: Vec<&str> = path.as_ref().split('/').collect();
        match *parts.as_slice() {
            ["t", tenant, "c", collection, ref rest @ ..] => {
                let collection = CollectionKey::new(tenant.parse().ok()?, collection.parse().ok()?);
                match *rest {
                    ["log", file] => parse_seq(file).map(|seq| Self::Log(collection, seq)),
                    ["head.arrow"] => Some(Self::Head(collection)),
                    ["seg", segment, file] => Some(Self::Segment(
                        collection,
                        segment.parse().ok()?,
                        SegmentPart::from_file(file)?,
                    )),
                    _ => None,
                }
            }
            ["due", collection, file] => {
                let (tenant, collection) = collection.split_once(':')?;
                let collection = CollectionKey::new(tenant.parse().ok()?, collection.parse().ok()?);
                parse_seq(file).map(|seq| Self::Due(collection, seq))
            }
            ["probe", "create-only.arrow"] => Some(Self::Proven),
            ["probe", "run", file] => file.strip_suffix(".arrow")?.parse().ok().map(Self::Probe),
            _ => None,
        }
    }

    /// Whether the object, once there, never changes.
    pub fn is_immutable(&self) -> bool {
        matches!(self, Self::Log(..) | Self::Segment(..))
    }
}

fn parse_seq(file: &str) -> Option<Seq> {
    let digits = file.strip_suffix(".arrow")?;
    if digits.len() != 20 || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    digits.parse().ok().map(Seq)
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Log(collection, seq) => {
                write!(f, "{}/log/{:020}.arrow", collection.root(), seq.0)
            }
            Self::Head(collection) => write!(f, "{}/head.arrow", collection.root()),
            Self::Segment(collection, segment, part) => {
                write!(f, "{}/seg/{segment}/{}", collection.root(), part.file())
            }
            Self::Due(collection, seq) => write!(f, "due/{collection}/{:020}.arrow", seq.0),
            Self::Probe(run) => write!(f, "probe/run/{run}.arrow"),
            Self::Proven => f.write_str("probe/create-only.arrow"),
        }
    }
}

impl Prefix {
    /// Where the set lies in the store.
    pub fn path(&self) -> Path {
        Path::from(self.to_string())
    }
}

impl fmt::Display for Prefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Log(collection) => write!(f, "{}/log", collection.root()),
            Self::Segments(collection) => write!(f, "{}/seg", collection.root()),
            Self::Collection(collection) => f.write_str(&collection.root()),
            Self::Tenant(tenant) => write!(f, "t/{tenant}"),
            Self::Due => f.write_str("due"),
        }
    }
}
