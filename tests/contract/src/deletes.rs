//! What is deleted is gone at once, and its name is free again.

use futures::TryStreamExt;
use object_store::{Error, ObjectStoreExt, PutMode};

use crate::Ground;
use crate::expect::{Failure, done, refused, same};

pub(crate) async fn what_is_deleted_is_gone(ground: Ground) -> Result<(), Failure> {
    let (gone, stays) = (ground.path("gone"), ground.path("stays"));
    for path in [&gone, &stays] {
        done("put", ground.store.put(path, "x".into()).await)?;
    }
    done("delete", ground.store.delete(&gone).await)?;
    let get = ground.store.get(&gone).await;
    refused("get", get, "NotFound", |error| {
        matches!(error, Error::NotFound { .. })
    })?;
    let metas = ground
        .store
        .list(Some(&ground.folder))
        .try_collect::<Vec<_>>()
        .await;
    let left: Vec<_> = done("list", metas)?
        .into_iter()
        .map(|meta| meta.location)
        .collect();
    same("what is left", &left, &vec![stays])
}

pub(crate) async fn deleting_what_is_missing_does_no_harm(ground: Ground) -> Result<(), Failure> {
    match ground.store.delete(&ground.path("missing")).await {
        // S3 does not tell; a folder does.
        Ok(()) | Err(Error::NotFound { .. }) => Ok(()),
        Err(error) => done("delete", Err(error)),
    }
}

pub(crate) async fn a_deleted_name_is_free_again(ground: Ground) -> Result<(), Failure> {
    let path = ground.path("again");
    for text in ["one", "two", "three"] {
        let create = ground
            .store
            .put_opts(&path, text.into(), PutMode::Create.into())
            .await;
        done("create", create)?;
        let answer = done("get", ground.store.get(&path).await)?;
        let got = done("body", answer.bytes().await)?;
        same("content", &&got[..], &text.as_bytes())?;
        done("delete", ground.store.delete(&path).await)?;
    }
    Ok(())
}
