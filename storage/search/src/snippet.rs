//! Snippets: the part of a long content that shows why it was found.
//!
//! They are cut from the content and never rewritten, always between
//! characters. Choosing what to show is separate from ranking; nothing here
//! changes an order.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;

use crate::text::{Side, tokens};

/// How far an end of a window moves to fall between words, in bytes.
const WORD_REACH_BYTES: usize = 32;

/// A part of a content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snippet<'a> {
    /// The text, as it stands in the content.
    pub text: &'a str,
    /// Its place in the content, in bytes.
    pub range: Range<usize>,
}

/// The window of at most `max_bytes` that holds the most of the terms.
///
/// `terms` are words in any form, as a hit reports them. Where none occurs the window
/// starts at the hit's chunk, or at the beginning.
pub fn snippet<'a>(
    content: &'a str,
    terms: &[String],
    chunk: Option<(u32, u32)>,
    max_bytes: usize,
) -> Snippet<'a> {
    if content.len() <= max_bytes {
        return cut(content, 0..content.len());
    }
    let matches = matches(content, terms);
    let (from, to) = best_window(&matches, max_bytes).unwrap_or_else(|| {
        let start = chunk.map_or(0, |(start, _)| start as usize);
        (start, start)
    });
    // What is left of the window is divided around the matches, more of it after them
    // because a text is read forwards.
    let spare = max_bytes.saturating_sub(to - from);
    let before = if from == to { 0 } else { spare / 3 };
    let start = from
        .saturating_sub(before)
        .min(content.len().saturating_sub(max_bytes));
    let end = (start + max_bytes).min(content.len());
    let start = word_start(content, start, from.max(start));
    let end = word_end(content, end, to.min(end)).max(start);
    cut(content, start..end)
}

/// The longest beginning of a text that fits, cut between characters.
pub fn truncated(text: &str, max_bytes: usize) -> &str {
    text.get(..text.floor_char_boundary(max_bytes))
        .unwrap_or_default()
}

fn cut(content: &str, range: Range<usize>) -> Snippet<'_> {
    Snippet {
        text: content.get(range.clone()).unwrap_or_default(),
        range,
    }
}

/// Where terms occur: place and which of the terms.
fn matches(content: &str, terms: &[String]) -> Vec<(Range<usize>, usize)> {
    if terms.is_empty() {
        return Vec::new();
    }
    let numbers: BTreeMap<String, usize> = terms
        .iter()
        .enumerate()
        .flat_map(|(number, term)| {
            let analysed = tokens(term, Side::Query).into_iter();
            analysed.map(move |token| (token.term, number))
        })
        .collect();
    let mut matches: Vec<(Range<usize>, usize)> = tokens(content, Side::Document)
        .into_iter()
        .filter_map(|token| Some((token.range, *numbers.get(&token.term)?)))
        .collect();
    matches.sort_by_key(|(range, _)| (range.start, range.end));
    matches
}

/// The stretch of matches that fits and has the most distinct terms, then the most
/// matches, then stands first.
fn best_window(matches: &[(Range<usize>, usize)], max_bytes: usize) -> Option<(usize, usize)> {
    let mut inside: VecDeque<&(Range<usize>, usize)> = VecDeque::new();
    let mut counts: BTreeMap<usize, usize> = BTreeMap::new();
    let mut best: Option<((usize, usize), (usize, usize))> = None;
    for entry in matches.iter().filter(|(range, _)| range.len() <= max_bytes) {
        inside.push_back(entry);
        *counts.entry(entry.1).or_default() += 1;
        while let Some((first, term)) = inside.front() {
            if entry.0.end.saturating_sub(first.start) <= max_bytes {
                break;
            }
            if let Some(count) = counts.get_mut(term) {
                *count -= 1;
                if *count == 0 {
                    counts.remove(term);
                }
            }
            inside.pop_front();
        }
        let Some((first, _)) = inside.front() else {
            continue;
        };
        let worth = (counts.len(), inside.len());
        if best.is_none_or(|(highest, _)| worth > highest) {
            best = Some((worth, (first.start, entry.0.end.max(first.end))));
        }
    }
    best.map(|(_, window)| window)
}

/// The first place from `at` on that starts a word, not beyond `limit`.
fn word_start(content: &str, at: usize, limit: usize) -> usize {
    if at == 0 {
        return 0;
    }
    let at = content.ceil_char_boundary(at);
    let reach = content.floor_char_boundary(limit.min(at + WORD_REACH_BYTES));
    let space = content
        .get(at..reach)
        .and_then(|text| text.find(char::is_whitespace));
    let Some(space) = space else {
        return at;
    };
    let after = content.get(at + space..).unwrap_or_default();
    let start = content.len() - after.trim_start().len();
    if start <= limit { start } else { at }
}

/// The last place up to `at` that ends a word, not before `limit`.
fn word_end(content: &str, at: usize, limit: usize) -> usize {
    if at >= content.len() {
        return content.len();
    }
    let at = content.floor_char_boundary(at);
    let reach = content.ceil_char_boundary(limit.max(at.saturating_sub(WORD_REACH_BYTES)));
    let space = content
        .get(reach..at)
        .and_then(|text| text.rfind(char::is_whitespace));
    space.map_or(at, |space| reach + space)
}

#[cfg(test)]
mod tests;
