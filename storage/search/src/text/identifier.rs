//! Identifiers: one form for however their parts are joined, and the parts of camel
//! case.
//!
//! It is separate from cutting because it looks at one identifier and never at the
//! text around it.

use std::ops::Range;

use unicode_normalization::char::is_combining_mark;

use super::fold::fold;

/// Whether a character is part of a word.
pub(super) fn is_part(c: char) -> bool {
    c.is_alphanumeric() || is_combining_mark(c)
}

/// An identifier folded, without what joins its parts: `BENCH-100821`, `bench_100821`
/// and `Bench100821` are one. Between digits the joiner stays, because `1.5` is not 15.
pub(super) fn squash(text: &str) -> String {
    let folded = fold(text);
    let mut squashed = String::with_capacity(folded.len());
    let mut joiner: Option<char> = None;
    for c in folded.chars() {
        if !is_part(c) {
            joiner = joiner.or(Some(c));
            continue;
        }
        if let Some(joiner) = joiner.take() {
            let after_digit = squashed.chars().next_back().is_some_and(char::is_numeric);
            if after_digit && c.is_numeric() {
                squashed.push(joiner);
            }
        }
        squashed.push(c);
    }
    squashed
}

/// The words of camel case, none for a word that has no inner capital.
pub(super) fn camel_parts(word: &str) -> Vec<Range<usize>> {
    if !word.chars().skip(1).any(char::is_uppercase) {
        return Vec::new();
    }
    let chars: Vec<(usize, char)> = word
        .char_indices()
        .filter(|(_, c)| !is_combining_mark(*c))
        .collect();
    let mut starts = vec![0];
    for (index, pair) in chars.windows(2).enumerate() {
        let [(_, before), (at, c)] = *pair else {
            continue;
        };
        let next = chars.get(index + 2).map(|(_, next)| *next);
        let rises = before.is_lowercase() && c.is_uppercase();
        let ends_capitals =
            before.is_uppercase() && c.is_uppercase() && next.is_some_and(char::is_lowercase);
        if rises || ends_capitals {
            starts.push(at);
        }
    }
    if starts.len() == 1 {
        return Vec::new();
    }
    let ends = starts.iter().skip(1).copied().chain([word.len()]);
    starts
        .iter()
        .copied()
        .zip(ends)
        .map(|(start, end)| start..end)
        .collect()
}
