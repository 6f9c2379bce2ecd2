//! The cases, by what they are about. Those named after a field report (`a13_…`)
//! hold the fault that users met, and its kind.

mod batches;
mod clients;
mod concurrency;
mod described;
mod duplicates;
mod embeddings;
mod filters;
mod ghosts;
mod identity;
mod pages;
mod processes;
mod protocol;
mod query;
mod rest;
mod text;
mod times;
mod tools;
mod updates;
mod urls;

use crate::case::Case;

/// Every case.
pub(crate) fn all() -> Vec<Case> {
    [
        described::cases(),
        rest::cases(),
        tools::cases(),
        protocol::cases(),
        identity::cases(),
        text::cases(),
        query::cases(),
        batches::cases(),
        duplicates::cases(),
        updates::cases(),
        ghosts::cases(),
        filters::cases(),
        concurrency::cases(),
        pages::cases(),
        times::cases(),
        embeddings::cases(),
        urls::cases(),
        clients::cases(),
        processes::cases(),
    ]
    .into_iter()
    .flatten()
    .collect()
}
