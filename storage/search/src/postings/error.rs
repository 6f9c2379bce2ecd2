//! Why bytes are not postings. Whatever the bytes, it is one of these and never a
//! panic.

/// Why bytes are not postings.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PostingsError {
    /// A bucket's bytes are not those that were written.
    #[error(
        "a bucket of postings is damaged: its checksum is {expected:08x}, its content has {found:08x}"
    )]
    Checksum {
        /// What was written.
        expected: u32,
        /// What was read.
        found: u32,
    },
    /// The bytes end within a part.
    #[error("postings end within {part}: fetch the whole range that the directory gives")]
    Truncated {
        /// Which part.
        part: &'static str,
    },
    /// A part says something that no writer writes.
    #[error("{part} of the postings is not as any writer writes it")]
    Malformed {
        /// Which part.
        part: &'static str,
    },
    /// A format of a later release.
    #[error("directory format {found} is unknown: read it with a newer release")]
    Version {
        /// What it says it is.
        found: u8,
    },
    /// A list is longer than the format can say.
    #[error("{part} is too large for the format of postings: write smaller segments")]
    TooLarge {
        /// Which part.
        part: &'static str,
    },
}
