//! Where `scripts/setup` has put the tools that tests run. Tests ask here and nowhere
//! else, so that the cache folder can be moved by one variable.

use std::path::PathBuf;

/// The cache folder: `OSTRACA_CACHE`, or `~/.cache/ostraca`.
#[expect(
    clippy::disallowed_methods,
    reason = "the one place where tests read the environment for tools"
)]
pub fn cache() -> PathBuf {
    let home =
        || PathBuf::from(std::env::var_os("HOME").unwrap_or_default()).join(".cache/ostraca");
    std::env::var_os("OSTRACA_CACHE").map_or_else(home, PathBuf::from)
}

/// The Python that has the packages of `tests/requirements.txt`.
pub fn python() -> PathBuf {
    cache().join("python/bin/python")
}

/// The local binary that a benchmark measures: `OSTRACA_BIN`, as `make bench` sets it.
///
/// # Errors
/// A sentence with the way out if the variable is not set.
#[expect(
    clippy::disallowed_methods,
    reason = "the one place where tests read the environment for tools"
)]
pub fn ostraca() -> Result<PathBuf, &'static str> {
    std::env::var_os("OSTRACA_BIN")
        .map(PathBuf::from)
        .ok_or("OSTRACA_BIN is not set; run the benchmarks with `make bench`")
}
