//! The index as a whole, on made-up clusters whose answers a scan of everything knows.

mod build;
mod contenders;
mod data;
mod estimate;
mod probe;
mod recall;
