//! Text analysis.
/// Folds.
pub fn fold(text: &str) -> String { text.to_lowercase() }
/// CJK.
pub fn is_spaceless(c: char) -> bool { !c.is_ascii() }
/// Whether a text has nothing that a reader could see.
pub fn is_blank(text: &str) -> bool { text.trim().is_empty() }
