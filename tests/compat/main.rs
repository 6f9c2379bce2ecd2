//! Golden files: a bucket written by each released version of the formats is opened by
//! this one, and what this one writes is held byte for byte, so that a format changes
//! on purpose or not at all.
//!
//! `UPDATE_FIXTURES=1` writes the golden files anew. Do that only for a format that no
//! release has written; a released one gets a new version and a new folder.

#![allow(
    unreachable_pub,
    missing_debug_implementations,
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::clone_on_ref_ptr,
    clippy::print_stderr,
    clippy::redundant_closure_for_method_calls,
    clippy::duration_suboptimal_units,
    reason = "one test binary: its modules share helpers, and a failed test may panic"
)]

mod scenario;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use futures::TryStreamExt as _;
use object_store::memory::InMemory;
use object_store::{ObjectStore, ObjectStoreExt as _};

/// The golden buckets, oldest first: before and since there are segments.
const VERSIONS: [&str; 2] = ["bucket-v1", NEWEST];
/// What is written today.
const NEWEST: &str = "bucket-v2";

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures")
}

fn files_under(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    fn walk(folder: &Path, prefix: &str, files: &mut BTreeMap<String, Vec<u8>>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let entry = entry.unwrap();
            let name = format!("{prefix}{}", entry.file_name().to_str().unwrap());
            if entry.file_type().unwrap().is_dir() {
                walk(&entry.path(), &format!("{name}/"), files);
            } else {
                #[expect(clippy::disallowed_methods, reason = "golden files are files")]
                files.insert(name, std::fs::read(entry.path()).unwrap());
            }
        }
    }
    let mut files = BTreeMap::new();
    walk(folder, "", &mut files);
    files
}

async fn objects_of(store: &InMemory) -> BTreeMap<String, Vec<u8>> {
    let metas: Vec<_> = store.list(None).try_collect().await.unwrap();
    let mut objects = BTreeMap::new();
    for meta in metas {
        let bytes = store
            .get(&meta.location)
            .await
            .unwrap()
            .bytes()
            .await
            .unwrap();
        objects.insert(meta.location.to_string(), bytes.to_vec());
    }
    objects
}

#[tokio::test(start_paused = true)]
async fn what_is_written_is_the_golden_bucket_byte_for_byte() {
    let store = Arc::new(InMemory::new());
    scenario::write(&store).await;
    let written = objects_of(&store).await;
    let folder = fixtures().join(NEWEST);
    #[expect(
        clippy::disallowed_methods,
        reason = "golden files are files; the switch is a test's"
    )]
    if std::env::var("UPDATE_FIXTURES").is_ok() {
        let _ = std::fs::remove_dir_all(&folder);
        for (name, bytes) in &written {
            let path = folder.join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, bytes).unwrap();
        }
    }
    let golden = files_under(&folder);
    assert_eq!(
        written.keys().collect::<Vec<_>>(),
        golden.keys().collect::<Vec<_>>()
    );
    for (name, bytes) in &written {
        assert!(
            bytes == &golden[name],
            "{name} is written otherwise than in its golden file"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn every_golden_bucket_is_read_with_the_same_answers() {
    for version in VERSIONS {
        let store = Arc::new(InMemory::new());
        for (name, bytes) in files_under(&fixtures().join(version)) {
            store.put(&name.into(), bytes.into()).await.unwrap();
        }
        let mut answers = scenario::read(&store).await;
        if version != "bucket-v1" {
            answers["searched in place"] = scenario::read_large(&store).await;
        }
        insta::with_settings!({ snapshot_path => "../fixtures", prepend_module_to_snapshot => false }, {
            insta::assert_json_snapshot!(format!("{version}-answers"), answers);
        });
    }
}

#[test]
fn every_golden_object_opens_in_pyarrow() {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("compat/open_with_pyarrow.py");
    let python = ostraca_tests::tools::python();
    for version in VERSIONS {
        let output = Command::new(&python)
            .arg(&script)
            .arg(fixtures().join(version))
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(
            output.status.success(),
            "{said}\n{}",
            String::from_utf8_lossy(&output.stderr)
        );
        assert!(said.contains("a memory with a key"), "{said}");
    }
}
