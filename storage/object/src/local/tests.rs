use futures::TryStreamExt;
use object_store::{ObjectStoreExt, PutMode, PutPayload};

use super::*;

fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("ostraca-{}-{name}", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder);
    folder
}

fn path(name: &str) -> object_store::path::Path {
    object_store::path::Path::from(name)
}

#[tokio::test]
async fn a_folder_with_a_name_of_many_scripts_works() {
    let folder = folder("Käse 記憶 #1 %41");
    let store = open(&folder).unwrap();
    let name = path("t/acme/c/memory/log/00000000000000000001.arrow");
    store
        .put(&name, PutPayload::from_static(b"x"))
        .await
        .unwrap();
    let reopened = open(&folder).unwrap();
    let names: Vec<_> = reopened.list(None).try_collect().await.unwrap();
    assert_eq!(names.len(), 1);
    assert_eq!(names[0].location, name);
    assert!(
        folder.join("t/acme/c/memory/log").is_dir(),
        "it lies where it was asked to"
    );
    std::fs::remove_dir_all(&folder).unwrap();
}

#[tokio::test]
async fn what_a_crash_leaves_behind_is_not_listed_and_blocks_nothing() {
    let folder = folder("crash");
    let store = open(&folder).unwrap();
    let name = path("log/1.arrow");
    std::fs::create_dir_all(folder.join("log")).unwrap();
    // A process died after it wrote the file and before it linked it.
    std::fs::File::create(folder.join("log/1.arrow#1")).unwrap();
    let names: Vec<_> = store.list(None).try_collect().await.unwrap();
    assert_eq!(names, []);
    store
        .put_opts(&name, PutPayload::from_static(b"x"), PutMode::Create.into())
        .await
        .unwrap();
    let again = store
        .put_opts(&name, PutPayload::from_static(b"y"), PutMode::Create.into())
        .await;
    assert!(matches!(
        again,
        Err(object_store::Error::AlreadyExists { .. })
    ));
    assert_eq!(
        &store.get(&name).await.unwrap().bytes().await.unwrap()[..],
        b"x"
    );
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn a_file_in_the_way_is_named() {
    let file = folder("file");
    std::fs::File::create(&file).unwrap();
    let error = open(&file).unwrap_err();
    assert!(error.to_string().contains("ostraca-"), "{error}");
    std::fs::remove_file(&file).unwrap();
}
