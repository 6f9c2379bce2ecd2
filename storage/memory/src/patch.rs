//! One field of a partial update. Absent, removed and replaced are three things,
//! and this type keeps them apart from the wire down to the record.

/// What an update does to one field.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Patch<T> {
    /// The field was absent: it stays as it is.
    #[default]
    Keep,
    /// The field was null: it is removed.
    Clear,
    /// The field gets this value.
    Set(T),
}

impl<T> Patch<T> {
    /// Whether the field stays as it is.
    pub fn is_keep(&self) -> bool {
        matches!(self, Self::Keep)
    }

    pub(crate) fn apply(self, field: &mut Option<T>) {
        match self {
            Self::Keep => {}
            Self::Clear => *field = None,
            Self::Set(value) => *field = Some(value),
        }
    }
}
