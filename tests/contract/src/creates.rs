//! Create-only, on which the log stands: of all who create a name one wins, and what it
//! wrote stays.

use bytes::Bytes;
use futures::future::join_all;
use object_store::path::Path;
use object_store::{Error, ObjectStoreExt, PutMode, PutPayload};

use crate::Ground;
use crate::expect::{Failure, done, refused, same};

/// Racers that a store meets when every process of a busy tenant writes.
const MANY: usize = 32;

async fn create(ground: &Ground, path: &Path, text: String) -> object_store::Result<()> {
    let payload = PutPayload::from(Bytes::from(text));
    let answer = ground
        .store
        .put_opts(path, payload, PutMode::Create.into())
        .await;
    answer.map(|_| ())
}

async fn content(ground: &Ground, path: &Path) -> Result<String, Failure> {
    let answer = done("get", ground.store.get(path).await)?;
    let bytes = done("body", answer.bytes().await)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn exists(error: &Error) -> bool {
    matches!(error, Error::AlreadyExists { .. })
}

async fn race(ground: &Ground, name: &str, racers: usize) -> Result<(), Failure> {
    let path = ground.path(name);
    let answers =
        join_all((0..racers).map(|racer| create(ground, &path, format!("racer {racer}")))).await;
    let mut winners = Vec::new();
    for (racer, answer) in answers.into_iter().enumerate() {
        match answer {
            Ok(()) => winners.push(format!("racer {racer}")),
            answer => refused(format!("racer {racer}"), answer, "AlreadyExists", exists)?,
        }
    }
    same(format!("winners of {racers}"), &winners.len(), &1)?;
    same("content", &vec![content(ground, &path).await?], &winners)
}

pub(crate) async fn a_second_create_is_refused(ground: Ground) -> Result<(), Failure> {
    let path = ground.path("object");
    done(
        "first create",
        create(&ground, &path, "first".to_owned()).await,
    )?;
    for _ in 0..3 {
        let second = create(&ground, &path, "second".to_owned()).await;
        refused("second create", second, "AlreadyExists", exists)?;
    }
    same(
        "content",
        &content(&ground, &path).await?,
        &"first".to_owned(),
    )
}

pub(crate) async fn a_create_does_not_touch_what_was_put(ground: Ground) -> Result<(), Failure> {
    let path = ground.path("object");
    done("put", ground.store.put(&path, "put".into()).await)?;
    let answer = create(&ground, &path, "created".to_owned()).await;
    refused("create", answer, "AlreadyExists", exists)?;
    same(
        "content",
        &content(&ground, &path).await?,
        &"put".to_owned(),
    )
}

pub(crate) async fn of_two_racing_creates_one_wins(ground: Ground) -> Result<(), Failure> {
    for round in 0..20 {
        race(&ground, &format!("round-{round}"), 2).await?;
    }
    Ok(())
}

pub(crate) async fn of_many_racing_creates_one_wins(ground: Ground) -> Result<(), Failure> {
    for round in 0..3 {
        race(&ground, &format!("round-{round}"), MANY).await?;
    }
    Ok(())
}

pub(crate) async fn creates_of_different_names_all_win(ground: Ground) -> Result<(), Failure> {
    let paths: Vec<Path> = (0..MANY)
        .map(|number| ground.path(&number.to_string()))
        .collect();
    let answers = join_all(
        paths
            .iter()
            .map(|path| create(&ground, path, path.to_string())),
    )
    .await;
    for (path, answer) in paths.iter().zip(answers) {
        done(format!("create {path}"), answer)?;
        same("content", &content(&ground, path).await?, &path.to_string())?;
    }
    Ok(())
}
