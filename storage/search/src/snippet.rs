//! Snippets: the part of a long content that shows why it was found.
