//! The fields a filter can name: a record's own, and its metadata.
//!
//! Own fields start with `$`, so that no metadata key can hide one or be taken
//! for one. A dot in a metadata key is literal.

use std::fmt;

/// A field of a record.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Field {
    /// `$id`
    Id,
    /// `$key`
    Key,
    /// `$kind`
    Kind,
    /// `$scope`
    Scope,
    /// `$title`
    Title,
    /// `$content`
    Content,
    /// `$source`
    Source,
    /// `$author`
    Author,
    /// `$sensitivity`
    Sensitivity,
    /// `$confidence`
    Confidence,
    /// `$status`
    Status,
    /// `$version`
    Version,
    /// `$created_at`
    CreatedAt,
    /// `$updated_at`
    UpdatedAt,
    /// `$expires_at`
    ExpiresAt,
    /// A metadata key.
    Metadata(String),
}

/// What a field of a record holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FieldKind {
    /// A string.
    String,
    /// A whole number.
    Int,
    /// A float.
    Float,
    /// An instant, as Unix milliseconds.
    Time,
    /// Whatever the user stored.
    Any,
}

/// The names and the fields they stand for.
const NAMES: [(&str, Field); 15] = [
    ("$id", Field::Id),
    ("$key", Field::Key),
    ("$kind", Field::Kind),
    ("$scope", Field::Scope),
    ("$title", Field::Title),
    ("$content", Field::Content),
    ("$source", Field::Source),
    ("$author", Field::Author),
    ("$sensitivity", Field::Sensitivity),
    ("$confidence", Field::Confidence),
    ("$status", Field::Status),
    ("$version", Field::Version),
    ("$created_at", Field::CreatedAt),
    ("$updated_at", Field::UpdatedAt),
    ("$expires_at", Field::ExpiresAt),
];

impl Field {
    /// The field of a name; `None` if it starts with `$` and is not known.
    pub fn parse(name: &str) -> Option<Self> {
        if !name.starts_with('$') {
            return Some(Self::Metadata(name.to_owned()));
        }
        NAMES
            .iter()
            .find(|(known, _)| *known == name)
            .map(|(_, field)| field.clone())
    }

    /// The names of a record's own fields.
    pub fn names() -> impl Iterator<Item = &'static str> {
        NAMES.iter().map(|(name, _)| *name)
    }

    /// What the field holds.
    pub fn kind(&self) -> FieldKind {
        match self {
            Self::Confidence => FieldKind::Float,
            Self::Version => FieldKind::Int,
            Self::CreatedAt | Self::UpdatedAt | Self::ExpiresAt => FieldKind::Time,
            Self::Metadata(_) => FieldKind::Any,
            _ => FieldKind::String,
        }
    }
}

impl fmt::Display for Field {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Metadata(key) => f.write_str(key),
            own => NAMES
                .iter()
                .find(|(_, field)| field == own)
                .map_or(Ok(()), |(name, _)| f.write_str(name)),
        }
    }
}
