//! Words for the `match` test: folded, neither stemmed nor stopped.
//!
//! They differ from search terms because a filter is exact: `match` finds the
//! word that was asked for, in any case and with or without accents.

use crate::text::{fold, is_spaceless};

/// The words of a text.
pub(super) fn tokens(text: &str) -> Vec<String> {
    let folded = fold(text);
    folded
        .split(|c: char| !c.is_alphanumeric())
        .filter(|token| !token.is_empty())
        .map(str::to_owned)
        .collect()
}

/// Whether every word of `query` occurs in the text. A word in a script written
/// without spaces occurs wherever its characters do.
pub(super) fn matches(query: &[String], text: &str) -> bool {
    if text.is_ascii() {
        let is_word = |wanted: &String| {
            text.split(|c: char| !c.is_ascii_alphanumeric())
                .any(|word| word.eq_ignore_ascii_case(wanted))
        };
        return query.iter().all(is_word);
    }
    let words = tokens(text);
    query.iter().all(|wanted| {
        let is_spaceless = wanted.chars().any(is_spaceless);
        words
            .iter()
            .any(|word| word == wanted || (is_spaceless && word.contains(wanted.as_str())))
    })
}
