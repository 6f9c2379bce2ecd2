//! Listings: complete, current, and by whole segments of a path. Their order is not a
//! promise of every store, so whoever needs one sorts.

use std::collections::BTreeSet;

use futures::{StreamExt, TryStreamExt, stream};
use object_store::ObjectStoreExt;
use object_store::path::Path;

use crate::Ground;
use crate::expect::{Failure, done, same};

/// More than one page of S3, which has 1,000 names.
const MANY: usize = 1_005;

async fn put(ground: &Ground, name: &str) -> Result<(), Failure> {
    let path = ground.path(name);
    done("put", ground.store.put(&path, "x".into()).await).map(|_| ())
}

async fn listed(ground: &Ground, prefix: &Path) -> Result<Vec<String>, Failure> {
    let metas = done(
        "list",
        ground
            .store
            .list(Some(prefix))
            .try_collect::<Vec<_>>()
            .await,
    )?;
    let mut names: Vec<String> = metas.iter().map(|meta| meta.location.to_string()).collect();
    names.sort();
    Ok(names)
}

fn full(ground: &Ground, names: &[&str]) -> Vec<String> {
    let mut names: Vec<String> = names
        .iter()
        .map(|name| ground.path(name).to_string())
        .collect();
    names.sort();
    names
}

pub(crate) async fn a_prefix_is_a_whole_segment(ground: Ground) -> Result<(), Failure> {
    for name in ["a/1", "a/b/2", "ab/3", "a-1", "a.b"] {
        put(&ground, name).await?;
    }
    let got = listed(&ground, &ground.path("a")).await?;
    same("what lies under a", &got, &full(&ground, &["a/1", "a/b/2"]))?;
    let got = listed(&ground, &ground.path("absent")).await?;
    same("what lies under absent", &got, &Vec::new())
}

pub(crate) async fn a_listing_has_what_was_just_written(ground: Ground) -> Result<(), Failure> {
    let mut wanted = Vec::new();
    for number in 0..10 {
        let name = format!("{number:020}.arrow");
        put(&ground, &name).await?;
        wanted.push(ground.path(&name).to_string());
        let got = listed(&ground, &ground.folder).await?;
        same(format!("after write {number}"), &got, &wanted)?;
    }
    Ok(())
}

pub(crate) async fn a_listing_starts_after_a_name(ground: Ground) -> Result<(), Failure> {
    let name = |number: u64| format!("{number:020}.arrow");
    for number in 1..=20 {
        put(&ground, &name(number)).await?;
    }
    for after in [0, 7, 19, 20, 25] {
        let offset = ground.path(&name(after));
        let metas = ground
            .store
            .list_with_offset(Some(&ground.folder), &offset)
            .try_collect::<Vec<_>>()
            .await;
        let got: BTreeSet<String> = done("list", metas)?
            .into_iter()
            .map(|meta| meta.location.to_string())
            .collect();
        let wanted: BTreeSet<String> = (after + 1..=20)
            .map(|number| ground.path(&name(number)).to_string())
            .collect();
        same(format!("names after {after}"), &got, &wanted)?;
    }
    Ok(())
}

pub(crate) async fn a_long_listing_is_complete(ground: Ground) -> Result<(), Failure> {
    let names: Vec<String> = (0..MANY)
        .map(|number| format!("{number:020}.arrow"))
        .collect();
    let writes: Vec<_> = names.iter().map(|name| put(&ground, name)).collect();
    let mut writes = stream::iter(writes).buffer_unordered(16);
    while let Some(written) = writes.next().await {
        written?;
    }
    let got = listed(&ground, &ground.folder).await?;
    same("how many", &got.len(), &MANY)?;
    let wanted: Vec<String> = names
        .iter()
        .map(|name| ground.path(name).to_string())
        .collect();
    same("each once", &(got == wanted), &true)
}

pub(crate) async fn folders_are_listed_as_such(ground: Ground) -> Result<(), Failure> {
    for name in ["one/c/x", "two/c/y/z", "file"] {
        put(&ground, name).await?;
    }
    let found = done(
        "list",
        ground.store.list_with_delimiter(Some(&ground.folder)).await,
    )?;
    let folders: BTreeSet<String> = found.common_prefixes.iter().map(Path::to_string).collect();
    let wanted: BTreeSet<String> = full(&ground, &["one", "two"]).into_iter().collect();
    same("folders", &folders, &wanted)?;
    let files: Vec<String> = found
        .objects
        .iter()
        .map(|meta| meta.location.to_string())
        .collect();
    same("files", &files, &full(&ground, &["file"]))
}

pub(crate) async fn names_of_the_layout_come_back_unchanged(ground: Ground) -> Result<(), Failure> {
    let names = [
        "due/acme:memory/00000000000000000064.arrow",
        "t/a-1/c/_system/log/00000000000000000001.arrow",
        "t/a/c/memory/head.arrow",
        "t/a/c/x_y-z/seg/01jd-0/postings.arrow",
    ];
    for name in names {
        put(&ground, name).await?;
    }
    let got = listed(&ground, &ground.folder).await?;
    same("names", &got, &full(&ground, &names))
}
