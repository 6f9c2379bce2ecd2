//! Stores around stores: counting, retrying, caching and failing on purpose.
//! Each is one file and spells out every method, because a defaulted method
//! would slip past the wrapper.

#[cfg(any(test, feature = "simulated"))]
pub mod clocked;
pub mod count;
pub mod fault;
pub mod range_cache;
pub mod retry;

#[cfg(test)]
mod tests;

use object_store::{PutMode, PutOptions};

use crate::error::Operation;

/// What a write asks for: a conditional one must never be repeated blindly.
fn write_operation(options: &PutOptions) -> Operation {
    match options.mode {
        PutMode::Overwrite => Operation::Put,
        PutMode::Create | PutMode::Update(_) => Operation::Create,
    }
}

/// What a read asks for.
fn read_operation(options: &object_store::GetOptions) -> Operation {
    match options.range {
        None => Operation::Get,
        Some(_) => Operation::Range,
    }
}
