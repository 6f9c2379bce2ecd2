//! The domain's operations over a real log on an in-memory store, with time and
//! randomness from a seed. One file per group of operations.

#![expect(unreachable_pub, reason = "one test binary: its modules share helpers")]

mod changing;
mod embedding;
mod isolation;
mod listing;
mod recalling;
mod remembering;
mod support;
mod watching;
