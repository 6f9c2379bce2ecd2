//! What is written is read: whole, in parts, and never half of one version.

use bytes::Bytes;
use futures::future::join_all;
use object_store::{Error, GetOptions, GetRange, ObjectStoreExt};

use crate::Ground;
use crate::expect::{Failure, done, refused, same};

/// More than any part size or buffer that a store is likely to use at once.
const LARGE_BYTES: usize = 5 * 1024 * 1024 + 7;

fn content(length: usize) -> Bytes {
    (0..length)
        .map(|at| u8::try_from(at * 31 % 251).unwrap_or(0))
        .collect()
}

async fn part(ground: &Ground, name: &str, range: GetRange) -> object_store::Result<Bytes> {
    let options = GetOptions {
        range: Some(range),
        ..GetOptions::default()
    };
    let answer = ground.store.get_opts(&ground.path(name), options).await?;
    answer.bytes().await
}

pub(crate) async fn what_is_put_is_read_back(ground: Ground) -> Result<(), Failure> {
    for length in [0, 1, 300 * 1024, LARGE_BYTES] {
        let path = ground.path(&length.to_string());
        let wanted = content(length);
        done("put", ground.store.put(&path, wanted.clone().into()).await)?;
        let answer = done("get", ground.store.get(&path).await)?;
        let got = done("body", answer.bytes().await)?;
        same(format!("length of {length}"), &got.len(), &length)?;
        same(format!("content of {length}"), &(got == wanted), &true)?;
    }
    Ok(())
}

pub(crate) async fn what_is_missing_is_not_found(ground: Ground) -> Result<(), Failure> {
    let path = ground.path("missing");
    let not_found = |error: &Error| matches!(error, Error::NotFound { .. });
    let get = ground.store.get(&path).await;
    refused("get", get, "NotFound", not_found)?;
    refused(
        "head",
        ground.store.head(&path).await,
        "NotFound",
        not_found,
    )?;
    let range = ground.store.get_range(&path, 0..4).await;
    refused("range", range, "NotFound", not_found)
}

pub(crate) async fn a_range_is_its_bytes(ground: Ground) -> Result<(), Failure> {
    let whole = content(1_000);
    let path = ground.path("object");
    done("put", ground.store.put(&path, whole.clone().into()).await)?;
    for range in [0..1, 0..1_000, 999..1_000, 10..20] {
        let got = done(
            format!("range {range:?}"),
            part(&ground, "object", GetRange::Bounded(range.clone())).await,
        )?;
        let (start, end) = (range.start, range.end);
        let wanted =
            whole.slice(usize::try_from(start).unwrap_or(0)..usize::try_from(end).unwrap_or(0));
        same(format!("range {range:?}"), &got, &wanted)?;
    }
    let got = done(
        "range over the end",
        part(&ground, "object", GetRange::Bounded(990..2_000)).await,
    )?;
    same("range over the end", &got, &whole.slice(990..))?;
    let got = done(
        "offset",
        part(&ground, "object", GetRange::Offset(995)).await,
    )?;
    same("offset", &got, &whole.slice(995..))
}

pub(crate) async fn a_suffix_is_the_end(ground: Ground) -> Result<(), Failure> {
    let whole = content(1_000);
    let path = ground.path("object");
    done("put", ground.store.put(&path, whole.clone().into()).await)?;
    for (length, from) in [(1, 999), (400, 600), (1_000, 0), (5_000, 0)] {
        let got = done(
            format!("suffix of {length}"),
            part(&ground, "object", GetRange::Suffix(length)).await,
        )?;
        same(format!("suffix of {length}"), &got, &whole.slice(from..))?;
    }
    Ok(())
}

pub(crate) async fn metadata_has_the_size(ground: Ground) -> Result<(), Failure> {
    let path = ground.path("object");
    done("put", ground.store.put(&path, content(1_234).into()).await)?;
    let meta = done("head", ground.store.head(&path).await)?;
    same("size", &meta.size, &1_234)?;
    same("location", &meta.location, &path)?;
    same(
        "a time after 2020",
        &(meta.last_modified.timestamp() > 1_577_836_800),
        &true,
    )
}

pub(crate) async fn an_overwrite_replaces_the_whole(ground: Ground) -> Result<(), Failure> {
    let path = ground.path("object");
    for length in [1_000, 10] {
        done("put", ground.store.put(&path, content(length).into()).await)?;
        let answer = done("get", ground.store.get(&path).await)?;
        let got = done("body", answer.bytes().await)?;
        same("length", &got.len(), &length)?;
    }
    Ok(())
}

pub(crate) async fn a_reader_sees_one_version_whole(ground: Ground) -> Result<(), Failure> {
    let path = ground.path("object");
    let version = |letter: u8| Bytes::from(vec![letter; 64 * 1024]);
    done("put", ground.store.put(&path, version(b'a').into()).await)?;
    for letter in b'b'..=b'f' {
        let write = async {
            let put = ground.store.put(&path, version(letter).into()).await;
            done("put", put).map(|_| ())
        };
        let reads = join_all((0..4).map(|_| async {
            let answer = done("get", ground.store.get(&path).await)?;
            done("body", answer.bytes().await)
        }));
        let (written, read) = futures::join!(write, reads);
        written?;
        for got in read {
            let got = got?;
            let first = got.first().copied();
            let whole = got.len() == 64 * 1024 && got.iter().all(|byte| Some(*byte) == first);
            same("one version, whole", &whole, &true)?;
        }
    }
    Ok(())
}
