//! Whole numbers that JSON can write and 64 bits cannot hold. The parser would round
//! them to a float without a word, so they are looked for in the text itself and
//! refused; whoever means them sends a text.

use std::ops::Range;

use ostraca_memory::{Error, ErrorKind};

/// Refuses valid JSON that holds a whole number beyond 64 bits.
///
/// # Errors
/// [`ErrorKind::Invalid`], with the beginning of the number.
pub(crate) fn check(json: &[u8]) -> Result<(), Error> {
    let mut at = 0;
    while let Some(byte) = json.get(at) {
        match byte {
            b'"' => at = string_end(json, at + 1),
            b'-' | b'0'..=b'9' => {
                let number = number(json, at);
                at = number.end;
                let text = json
                    .get(number)
                    .and_then(|bytes| std::str::from_utf8(bytes).ok())
                    .unwrap_or_default();
                if text
                    .bytes()
                    .all(|byte| byte == b'-' || byte.is_ascii_digit())
                    && text.parse::<i64>().is_err()
                    && text.parse::<u64>().is_err()
                {
                    let start: String = text.chars().take(30).collect();
                    return Err(Error::new(
                        ErrorKind::Invalid,
                        format!(
                            "the whole number {start} has more than 64 bits and would lose digits; send it as a text"
                        ),
                    ));
                }
            }
            _ => at += 1,
        }
    }
    Ok(())
}

/// The byte after the string that starts before `at`.
fn string_end(json: &[u8], mut at: usize) -> usize {
    while let Some(byte) = json.get(at) {
        match byte {
            b'\\' => at += 2,
            b'"' => return at + 1,
            _ => at += 1,
        }
    }
    at
}

/// The bytes of the number that starts at `at`.
fn number(json: &[u8], at: usize) -> Range<usize> {
    let rest = json.get(at..).unwrap_or_default();
    let length = rest
        .iter()
        .take_while(|byte| matches!(byte, b'-' | b'+' | b'.' | b'e' | b'E' | b'0'..=b'9'))
        .count();
    at..at + length
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_numbers_beyond_64_bits_are_refused() {
        for json in [
            r#"{"a": 9223372036854775807, "b": -9223372036854775808, "c": 18446744073709551615}"#,
            r#"{"a": 1e300, "b": 123456789012345678901234.5, "c": 0, "d": -0, "e": [1,2,3]}"#,
            r#"{"a": "123456789012345678901234", "b\"18446744073709551616": "\\", "c": "\"18446744073709551616"}"#,
            "[]",
            "",
        ] {
            assert!(check(json.as_bytes()).is_ok(), "{json}");
        }
        for json in [
            r#"{"a": 18446744073709551616}"#,
            r#"{"a": -9223372036854775809}"#,
            r#"[{"a\\": [1, 100000000000000000000000000000000000000]}]"#,
        ] {
            let error = check(json.as_bytes()).expect_err(json);
            assert!(error.message().contains("send it as a text"), "{error}");
        }
    }
}
