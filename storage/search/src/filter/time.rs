//! Instants in filters: RFC 3339 text to Unix milliseconds.
//!
//! Times are compared as instants whatever offset they were written with. A
//! date alone is midnight UTC; a time without an offset is refused, because its
//! instant is a guess.

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::Offset;

/// A text that is no instant.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{text}` is not an instant: write RFC 3339 with an offset, like 2026-07-25T02:00:00Z, or a date like 2026-07-25 for midnight UTC"
)]
pub struct TimeError {
    /// The text, cut if it is long.
    pub text: String,
}

/// The instant of an RFC 3339 text or of a date, in Unix milliseconds.
///
/// Fractions of a millisecond are cut off.
pub fn parse_instant(text: &str) -> Result<i64, TimeError> {
    find_instant(text.trim()).ok_or_else(|| TimeError {
        text: text.chars().take(64).collect(),
    })
}

fn find_instant(text: &str) -> Option<i64> {
    if text.len() == "2026-07-25".len() {
        let date: Date = text.parse().ok()?;
        let midnight = Offset::UTC.to_timestamp(date.to_datetime(jiff::civil::Time::midnight()));
        return midnight.ok().map(floor_ms);
    }
    // jiff accepts more than RFC 3339, such as a zone in brackets.
    let accepted = text.bytes().all(|b| {
        b.is_ascii_digit()
            || matches!(
                b,
                b'-' | b'+' | b':' | b'.' | b'T' | b't' | b'Z' | b'z' | b' '
            )
    });
    if !accepted {
        return None;
    }
    text.parse::<Timestamp>().ok().map(floor_ms)
}

fn floor_ms(instant: Timestamp) -> i64 {
    i64::try_from(instant.as_nanosecond().div_euclid(1_000_000)).unwrap_or(i64::MAX)
}
