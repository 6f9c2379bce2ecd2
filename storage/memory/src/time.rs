//! Instants on the wire. Every surface reads and prints times through this file,
//! so that an offset is never lost and a day never starts in a zone of ours.

use jiff::fmt::temporal::DateTimePrinter;
use ostraca_object::port::Timestamp;
use ostraca_search::filter;

use crate::error::{Error, Result};

/// Reads an instant: RFC 3339 with an offset, or a date, which is its midnight in UTC.
///
/// # Errors
/// Invalid at `field` for anything else; a time without an offset is refused, as
/// its zone would be a guess, and so is a date that no calendar has.
pub fn parse_instant(field: &'static str, text: &str) -> Result<Timestamp> {
    filter::parse_instant(text)
        .map(Timestamp)
        .map_err(|error| Error::invalid(field, error.to_string()).with_source(error))
}

/// Always three decimals, so that printed instants sort as text.
const PRINTER: DateTimePrinter = DateTimePrinter::new().precision(Some(3));

/// Prints an instant as RFC 3339 in UTC with milliseconds, ending in `Z`.
pub fn format_instant(at: Timestamp) -> String {
    // Out of jiff's range (year 9999) only for a corrupt record; show the number then.
    jiff::Timestamp::from_millisecond(at.0).map_or_else(
        |_| at.0.to_string(),
        |instant| PRINTER.timestamp_to_string(&instant),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a28_offsets_are_instants_and_dates_are_utc() {
        let tokyo = parse_instant("since", "2026-07-25T11:00:00+09:00").unwrap();
        let utc = parse_instant("since", "2026-07-25T02:00:00Z").unwrap();
        assert_eq!(tokyo, utc);
        assert!(parse_instant("since", "2026-07-25").unwrap() < utc);
        assert_eq!(format_instant(tokyo), "2026-07-25T02:00:00.000Z");
    }

    #[test]
    fn a28_impossible_and_naive_times_are_refused() {
        for text in [
            "2026-02-30",
            "2026-07-25T02:00:00",
            "yesterday",
            "",
            "1785000000",
        ] {
            let error = parse_instant("since", text).unwrap_err();
            assert_eq!(error.field(), Some("since"), "{text}");
        }
    }
}
