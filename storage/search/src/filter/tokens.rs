//! Words for the `match` test: folded, neither stemmed nor stopped.
//!
//! They differ from search terms because a filter is exact: `match` finds the
//! word that was asked for, in any case and with or without accents.

use crate::text;

/// The words of a text.
pub(super) fn tokens(text: &str) -> Vec<String> {
    let folded = text::fold(text);
    folded
        .split(|c: char| !c.is_alphanumeric())
        .filter(|token| !token.is_empty())
        .map(str::to_owned)
        .collect()
}

/// Whether every word of `query` occurs in the text. A word in a script written
/// without spaces occurs wherever its characters do.
pub(super) fn matches(query: &[String], text: &str) -> bool {
    let words = tokens(text);
    query.iter().all(|wanted| {
        words.iter().any(|word| {
            word == wanted
                || (wanted.chars().any(text::is_spaceless) && word.contains(wanted.as_str()))
        })
    })
}
