//! The terms of a query.
//!
//! A query is clamped rather than refused: agents paste whole conversations, and
//! what they ask stands at the end. Nothing in it is an operator.

use std::collections::BTreeMap;

use super::tokens::{Role, Side, tokens};

/// Longest query that is used whole, in bytes.
pub const MAX_QUERY_BYTES: usize = 32 * 1024;
/// Most distinct terms of a query that are used.
pub const MAX_QUERY_TERMS: usize = 4096;

/// The terms of a query.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct QueryTerms {
    /// The terms and how the query has them.
    pub terms: BTreeMap<String, QueryTerm>,
    /// Whether only the end of the query was used.
    pub clamped: bool,
}

/// How a query has a term.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueryTerm {
    /// Occurrences.
    pub count: u32,
    /// Where it stands first, in bytes of the part that was used.
    pub position: usize,
    /// What the user wrote there.
    pub written: String,
}

impl QueryTerms {
    /// Analyses a query. One of stop words only keeps them.
    pub fn of(text: &str) -> Self {
        let tail = tail_of(text);
        let mut clamped = tail.len() < text.len();
        let tokens = tokens(tail, Side::Query);
        let has_content = tokens.iter().any(|token| token.role != Role::Stop);
        let mut terms: BTreeMap<String, QueryTerm> = BTreeMap::new();
        for token in tokens.into_iter().rev() {
            if has_content && token.role == Role::Stop {
                continue;
            }
            let count = terms.get(&token.term).map_or(0, |term| term.count);
            if count == 0 && terms.len() == MAX_QUERY_TERMS {
                clamped = true;
                break;
            }
            let term = QueryTerm {
                count: count + 1,
                position: token.range.start,
                written: tail.get(token.range).unwrap_or_default().to_owned(),
            };
            terms.insert(token.term, term);
        }
        Self { terms, clamped }
    }
}

/// The last [`MAX_QUERY_BYTES`] of a text, from the start of a word on.
fn tail_of(text: &str) -> &str {
    let Some(from) = text
        .len()
        .checked_sub(MAX_QUERY_BYTES)
        .filter(|from| *from > 0)
    else {
        return text;
    };
    let start = (from..text.len())
        .find(|at| text.is_char_boundary(*at))
        .unwrap_or(text.len());
    let tail = text.get(start..).unwrap_or_default();
    match tail.find(char::is_whitespace) {
        Some(space) => tail.get(space..).unwrap_or(tail),
        None => tail,
    }
}
