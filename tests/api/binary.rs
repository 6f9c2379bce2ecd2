//! Where the local binary is. It is built first, so that a suite never passes on
//! yesterday's; `OSTRACA_BIN` names one that was built elsewhere.

use std::path::PathBuf;
use std::process::Command;

/// The path of the binary `ostraca`.
pub(crate) fn path() -> PathBuf {
    if let Some(given) = std::env::var_os("OSTRACA_BIN") {
        return PathBuf::from(given);
    }
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let built = Command::new(cargo)
        .args(["build", "--quiet", "-p", "ostraca"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .status()
        .expect("cargo runs");
    assert!(built.success(), "the binary does not build");
    // This test lies in target/<profile>/deps; cargo builds the binary beside it.
    let mut path = std::env::current_exe().unwrap();
    path.pop();
    path.pop();
    path.push(format!("ostraca{}", std::env::consts::EXE_SUFFIX));
    assert!(path.is_file(), "{} is not there", path.display());
    path
}
