//! The domain's operations over a real log on an in-memory store, with time and
//! randomness from a seed. One file per group of operations.

#![expect(
    unreachable_pub,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::clone_on_ref_ptr,
    clippy::needless_pass_by_value,
    clippy::duration_suboptimal_units,
    reason = "one test binary: its modules share helpers, and a failed test may panic"
)]

mod background;
mod budgets;
mod changing;
mod compacting;
mod embedding;
mod isolation;
mod listing;
mod recalling;
mod remembering;
mod support;
mod watching;
