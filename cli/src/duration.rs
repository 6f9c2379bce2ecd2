//! Durations as people write them in flags: `30s`, `12h`, `90d`. It is separate
//! because a day has 24 hours here whatever the calendar says.

use std::time::Duration;

/// A text that is no duration.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error(
    "{given:?} is not a duration: give a number and a unit up to weeks, such as 30s, 15m, 12h, 90d or 2w"
)]
pub(crate) struct DurationError {
    given: String,
}

/// Parses a positive duration.
pub(crate) fn parse(text: &str) -> Result<Duration, DurationError> {
    let refused = || DurationError {
        given: text.to_owned(),
    };
    let span: jiff::Span = text.trim().parse().map_err(|_| refused())?;
    let signed = span
        .to_duration(jiff::SpanRelativeTo::days_are_24_hours())
        .map_err(|_| refused())?;
    let duration = Duration::try_from(signed).map_err(|_| refused())?;
    if duration.is_zero() {
        Err(refused())
    } else {
        Ok(duration)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_up_to_weeks() {
        for (text, seconds) in [
            ("30s", 30),
            ("15m", 900),
            ("12h", 43_200),
            ("90d", 7_776_000),
            ("2w", 1_209_600),
            ("1d 12h", 129_600),
        ] {
            assert_eq!(parse(text), Ok(Duration::from_secs(seconds)), "{text}");
        }
        assert_eq!(parse("1500ms"), Ok(Duration::from_millis(1500)));
    }

    #[test]
    fn what_has_no_fixed_length_or_no_unit_is_refused() {
        for text in ["", "90", "d", "-3d", "0s", "2 months", "1y", "soon"] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
