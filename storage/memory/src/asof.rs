//! A moment that a read can be taken back to: a log position, or a time that is
//! resolved to the last position at or before it.

use ostraca_object::port::Timestamp;

/// The moment of a point-in-time read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AsOf {
    /// After the entry with this log position.
    Position(u64),
    /// After the last entry at or before this time.
    Time(Timestamp),
}
