//! The hash of a term, which is its name in a segment.
//!
//! It is XXH3 (64 bits) of the term's bytes, seeded with the number of its namespace; the
//! lowest bit then says whether the list has frequencies, so that no collision mixes
//! lists of two forms. It is persisted, so nothing here may ever change.

use std::fmt;

use twox_hash::XxHash3_64;

/// What a term is a term of. The numbers are persisted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Namespace {
    /// An analysed word of the texts; its list has frequencies.
    Text = 1,
    /// The id of a record.
    Id = 2,
    /// The key of a record within its realm and scope.
    Key = 3,
    /// The digest of what was stored.
    ContentHash = 4,
    /// The value of a field.
    Value = 5,
    /// A member of a field that is an array.
    Member = 6,
    /// A scope that the record lies in or below.
    Within = 7,
    /// The realm of a record.
    Realm = 8,
}

/// The hash of a term within its namespace.
///
/// Two terms of a segment of a million share one with a probability of about 10⁻⁷; who
/// must be sure (a look-up by name) compares the row.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TermHash(u64);

impl TermHash {
    /// Of an analysed term of the texts ([`crate::text`]).
    pub fn text(term: &str) -> Self {
        Self::of(Namespace::Text, term.as_bytes())
    }

    /// The hash as it is stored, little-endian.
    pub fn to_le_bytes(self) -> [u8; 8] {
        self.0.to_le_bytes()
    }

    /// The hash that is stored as these bytes.
    pub fn from_le_bytes(bytes: [u8; 8]) -> Self {
        Self(u64::from_le_bytes(bytes))
    }

    pub(super) fn of(namespace: Namespace, bytes: &[u8]) -> Self {
        let hash = XxHash3_64::oneshot_with_seed(namespace as u64, bytes);
        match namespace {
            Namespace::Text => Self(hash | 1),
            _ => Self(hash & !1),
        }
    }

    /// Whether its list has frequencies and lengths.
    pub(super) fn is_scored(self) -> bool {
        self.0 & 1 == 1
    }

    pub(super) fn from_u64(hash: u64) -> Self {
        Self(hash)
    }

    pub(super) fn to_u64(self) -> u64 {
        self.0
    }
}

impl fmt::Debug for TermHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TermHash({:016x})", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_never_change() {
        // Taken from another implementation of XXH3, with the lowest bit set or cleared.
        let pinned = [
            (Namespace::Text, "", 0x4dc5_b0cc_826f_6703),
            (Namespace::Text, "pump", 0x6284_5fd3_8baf_dd09),
            (Namespace::Id, "pump", 0xf712_5578_0c8c_0fc6),
        ];
        for (namespace, term, expected) in pinned {
            let found = TermHash::of(namespace, term.as_bytes()).to_u64();
            assert_eq!(found, expected, "{namespace:?} {term:?} {found:#018x}");
        }
        let long = "ostraca".repeat(100);
        assert_eq!(TermHash::text(&long).to_u64(), 0x000b_49ca_0b00_a73b);
    }
}
