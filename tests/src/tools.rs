//! Where `scripts/setup` has put the tools that tests run. Tests ask here and nowhere
//! else, so that the cache folder can be moved by one variable.

use std::path::PathBuf;

/// The cache folder: `OSTRACA_CACHE`, or `~/.cache/ostraca`.
#[expect(clippy::disallowed_methods, reason = "the one place where tests read the environment for tools")]
pub fn cache() -> PathBuf {
    let home = || PathBuf::from(std::env::var_os("HOME").unwrap_or_default()).join(".cache/ostraca");
    std::env::var_os("OSTRACA_CACHE").map_or_else(home, PathBuf::from)
}

/// The Python that has the packages of `tests/requirements.txt`.
pub fn python() -> PathBuf {
    cache().join("python/bin/python")
}
