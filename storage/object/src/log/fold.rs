//! What a domain derives from the log. It is a trait so that the log knows
//! nothing of records.

use arrow_schema::SchemaRef;

use super::entry::Entry;
use crate::error::Corrupt;

/// The state of a collection, as its entries make it.
///
/// Applying the same entries in the same order must give the same state.
pub trait Fold: Default + Send + Sync + 'static {
    /// What the decisions of one entry have agreed on so far, so that a later
    /// decision in the same entry sees the earlier ones. It starts as the default
    /// for each attempt. A decision that does not commit must leave it as it was.
    type Draft: Default + Send;

    /// The columns of an entry's rows in this version, without `seq`.
    fn schema() -> SchemaRef;

    /// Takes the next entry. An entry with a checkpoint stands for everything up
    /// to itself: its segments and its rows replace the state.
    ///
    /// # Errors
    ///
    /// The entry's rows do not follow any schema this version knows. The log then
    /// drops the whole state.
    fn apply(&mut self, entry: &Entry) -> Result<(), Corrupt>;
}
