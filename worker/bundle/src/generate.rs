//! Runs wasm-bindgen as a library and puts the shim beside its output. As a library its version
//! is that of the lock file, so it cannot differ from the one that compiled the module.

use std::fs;
use std::path::Path;

use wasm_bindgen_cli_support::Bindgen;

use crate::error::BundleError;

const SHIM: &str = include_str!("shim.js");

/// Names in the generated code that the shim uses. The two with underscores are no public
/// promise of wasm-bindgen or `worker`, so their absence has to be noticed at build time.
const NEEDED: [(&str, &str); 3] = [
    (
        "__wbg_reset_state",
        "this version of wasm-bindgen restarts modules in another way",
    ),
    (
        "__worker_init_state",
        "this version of `worker` reports panics in another way",
    ),
    ("export function fetch", "the Worker has no #[event(fetch)]"),
];

/// Replaces `out` by a fresh bundle of `wasm`.
pub(crate) fn bundle(wasm: &Path, out: &Path) -> Result<(), BundleError> {
    if out.try_exists().map_err(file("look at", out))? {
        fs::remove_dir_all(out).map_err(file("empty", out))?;
    }
    fs::create_dir_all(out).map_err(file("create", out))?;
    bindgen(wasm, out).map_err(|source| BundleError::Bindgen { source })?;

    let index = out.join("index.js");
    let generated = fs::read_to_string(&index).map_err(file("read", &index))?;
    for (name, remedy) in NEEDED {
        if !generated.contains(name) {
            return Err(BundleError::Missing { name, remedy });
        }
    }
    // workerd resolves a module import of wasm, but not yet the source phase of the proposal.
    fs::write(&index, generated.replace("import source ", "import "))
        .map_err(file("write", &index))?;
    let shim = out.join("shim.js");
    fs::write(&shim, SHIM).map_err(file("write", &shim))
}

fn bindgen(wasm: &Path, out: &Path) -> Result<(), anyhow::Error> {
    let mut bindgen = Bindgen::new();
    bindgen
        .input_path(wasm)
        .out_name("index")
        .typescript(false)
        // Names of functions are an eighth of the module, and a panic tells its file and line anyway.
        .remove_name_section(true)
        .remove_producers_section(true)
        .module(true)?
        .reset_state_function(true)
        .force_enable_abort_handler(true);
    bindgen.generate(out)
}

fn file<'path>(
    action: &'static str,
    path: &'path Path,
) -> impl Fn(std::io::Error) -> BundleError + 'path {
    move |source| BundleError::File {
        action,
        path: path.to_path_buf(),
        source,
    }
}
