//! Text analysis: one pipeline from text to terms, for what is stored and for
//! what is asked.
//!
//! The two sides share every fold and split, because a word that is analysed
//! twice in two ways is never found. User text is always literal: no character is an
//! operator here, and no input fails.

mod class;
mod fold;
mod identifier;
mod query;
mod stop;
mod terms;
mod tokens;
mod visible;

pub use class::is_blank;
pub(crate) use class::is_spaceless;
pub use fold::fold;
pub use query::{MAX_QUERY_BYTES, MAX_QUERY_TERMS, QueryTerm, QueryTerms};
pub use terms::DocumentTerms;
pub use tokens::{Role, Side, Token, tokens};

#[cfg(test)]
mod tests;
