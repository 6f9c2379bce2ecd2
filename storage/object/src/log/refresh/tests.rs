use std::time::Duration;

use object_store::{ObjectStore, ObjectStoreExt};

use super::*;
use crate::io::Io;
use crate::log::checkpoint::NewCheckpoint;
use crate::log::commit::Decision;
use crate::port::CommitId;
use crate::store::Store;
use crate::testing::*;

async fn filled(entries: u64) -> (Arc<dyn ObjectStore>, Arc<Store>, Log<Numbers>) {
    let objects = memory();
    let store = store(&objects);
    let writer = log(1);
    for n in 1..=entries {
        put(
            &writer,
            &Io::new(&store),
            u128::from(n),
            &format!("k{n}"),
            n,
        )
        .await;
    }
    (objects, store, writer)
}

async fn checkpoint(log: &Log<Numbers>, store: &Arc<Store>, id: u128) -> Seq {
    let new = NewCheckpoint {
        base: log.read(|_, seq| seq),
        ..NewCheckpoint::default()
    };
    let io = Io::new(store);
    let committed = log.checkpoint(&io, CommitId(id), new, |fold: &Numbers, _, _| {
        let rows = numbers(fold.0.iter().map(|(name, value)| (name.as_str(), *value)));
        Ok::<_, Never>(Decision::Commit {
            rows,
            note: None,
            value: (),
        })
    });
    committed.await.unwrap().seq
}

fn entry_key(seq: u64) -> Key {
    Key::Log(collection(), Seq(seq))
}

fn asked(refresh: &Refresh<'_, Numbers>) -> Vec<String> {
    refresh
        .requests()
        .into_iter()
        .map(|request| match request {
            Request::Get { key } => key.path().filename().unwrap().to_owned(),
            Request::List { after, .. } => {
                format!("list after {:?}", after.map(|k| k.to_string().len()))
            }
            other => format!("{other:?}"),
        })
        .collect()
}

fn same(reader: &Log<Numbers>, writer: &Log<Numbers>) {
    reader.read(|theirs, seq| {
        writer.read(|ours, newest| {
            assert_eq!(seq, newest);
            assert_eq!(theirs, ours);
        });
    });
}

#[tokio::test(start_paused = true)]
async fn a_warm_reader_takes_a_few_new_entries_in_two_steps() {
    let (_, store, writer) = filled(3).await;
    let reader = log(2);
    reader
        .refresh(&Io::new(&store), Freshness::Strong)
        .await
        .unwrap();
    for n in 4..=7 {
        put(&writer, &Io::new(&store), n, "more", 1).await;
    }
    let io = Io::new(&store);
    reader.refresh(&io, Freshness::Strong).await.unwrap();
    same(&reader, &writer);
    let receipt = io.receipt();
    assert_eq!((receipt.steps, receipt.gets, receipt.lists), (2, 6, 0));
}

#[tokio::test(start_paused = true)]
async fn a_warm_reader_that_is_far_behind_lists() {
    let (_, store, writer) = filled(3).await;
    let reader = log(2);
    reader
        .refresh(&Io::new(&store), Freshness::Strong)
        .await
        .unwrap();
    for n in 4..=60 {
        put(&writer, &Io::new(&store), n, "more", 1).await;
    }
    let io = Io::new(&store);
    reader.refresh(&io, Freshness::Strong).await.unwrap();
    same(&reader, &writer);
    let receipt = io.receipt();
    assert_eq!((receipt.steps, receipt.lists), (4, 1), "{receipt:?}");
}

/// In one wave, a later number may be read after and an earlier one before it was there.
#[tokio::test(start_paused = true)]
async fn a_hole_in_a_wave_is_filled_and_never_seen() {
    let (objects, store, writer) = filled(1).await;
    let reader = log(2);
    reader
        .refresh(&Io::new(&store), Freshness::Strong)
        .await
        .unwrap();
    for n in 2..=6 {
        // Over the carry budget, so that none repeats another.
        let name = "x".repeat(70_000);
        put(
            &writer,
            &Io::new(&store),
            n,
            &name,
            u64::try_from(n).unwrap(),
        )
        .await;
    }
    let mut refresh = reader.start_refresh(store.clock().now(), Freshness::Strong);
    let mut seen = false;
    while !refresh.is_done() {
        let requests = refresh.requests();
        let mut answers = Io::new(&store).wave(requests.clone()).await;
        for (request, answer) in requests.iter().zip(&mut answers) {
            if let Request::Get { key } = request
                && *key == entry_key(4)
                && !seen
            {
                seen = true;
                *answer = Err(StoreError::not_found(key));
            }
        }
        refresh.feed(answers).unwrap();
    }
    assert!(seen, "the hole was made");
    same(&reader, &writer);
    drop(objects);
}

#[tokio::test(start_paused = true)]
async fn a_listed_entry_that_is_gone_when_it_is_read_makes_the_reader_list_again() {
    let (_, store, writer) = filled(40).await;
    let reader = log(2);
    let mut refresh = reader.start_refresh(store.clock().now(), Freshness::Strong);
    let answers = Io::new(&store).wave(refresh.requests()).await;
    refresh.feed(answers).unwrap();
    let missing = refresh
        .requests()
        .iter()
        .map(|_| Err(StoreError::not_found(&entry_key(16))))
        .collect();
    refresh.feed(missing).unwrap();
    assert_eq!(
        asked(&refresh).len(),
        2,
        "the head and the listing once more"
    );
    while !refresh.is_done() {
        let answers = Io::new(&store).wave(refresh.requests()).await;
        refresh.feed(answers).unwrap();
    }
    same(&reader, &writer);
}

#[tokio::test(start_paused = true)]
async fn an_entry_that_stays_missing_is_reported_by_name() {
    let (objects, store, _) = filled(40).await;
    objects.delete(&entry_key(30).path()).await.unwrap();
    for seq in 31..=32 {
        objects.delete(&entry_key(seq).path()).await.unwrap();
    }
    let reader = log(2);
    let error = reader
        .refresh(&Io::new(&store), Freshness::Strong)
        .await
        .unwrap_err();
    assert!(
        error.to_string().contains("00000000000000000032"),
        "{error}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_head_that_lags_behind_costs_one_step() {
    let (objects, store, writer) = filled(20).await;
    checkpoint(&writer, &store, 100).await;
    let head = Key::Head(collection()).path();
    let old = objects.get(&head).await.unwrap().bytes().await.unwrap();
    put(&writer, &Io::new(&store), 101, "a", 1).await;
    checkpoint(&writer, &store, 102).await;
    put(&writer, &Io::new(&store), 103, "b", 1).await;
    for (content, steps) in [(None, 2), (Some(old), 3)] {
        if let Some(content) = content {
            objects.put(&head, content.into()).await.unwrap();
        }
        let reader = log(2);
        let io = Io::new(&store);
        reader.refresh(&io, Freshness::Strong).await.unwrap();
        same(&reader, &writer);
        assert_eq!(io.receipt().steps, steps);
    }
}

#[tokio::test(start_paused = true)]
async fn the_head_tells_what_to_read_with_the_tail() {
    let (_, store, writer) = filled(20).await;
    let seq = checkpoint(&writer, &store, 100).await;
    put(&writer, &Io::new(&store), 101, "a", 1).await;
    let reader = log(2);
    let mut refresh = reader.start_refresh(store.clock().now(), Freshness::Strong);
    assert_eq!(refresh.hint(), None);
    let answers = Io::new(&store).wave(refresh.requests()).await;
    refresh.feed(answers).unwrap();
    assert_eq!(refresh.hint().unwrap().0, seq);
    assert_eq!(asked(&refresh), ["00000000000000000022.arrow"]);
}

#[tokio::test(start_paused = true)]
async fn a_damaged_head_is_a_hint_less_and_no_error() {
    let (objects, store, writer) = filled(5).await;
    checkpoint(&writer, &store, 100).await;
    let head = Key::Head(collection()).path();
    objects.put(&head, "not arrow".into()).await.unwrap();
    let reader = log(2);
    reader
        .refresh(&Io::new(&store), Freshness::Strong)
        .await
        .unwrap();
    same(&reader, &writer);
}

#[tokio::test(start_paused = true)]
async fn a_state_older_than_half_the_horizon_does_not_trust_a_probe() {
    let (_, store, writer) = filled(3).await;
    let reader = log(2);
    reader
        .refresh(&Io::new(&store), Freshness::Strong)
        .await
        .unwrap();
    store.clock().sleep(Duration::from_secs(1_801)).await;
    let io = Io::new(&store);
    reader.refresh(&io, Freshness::Strong).await.unwrap();
    same(&reader, &writer);
    let receipt = io.receipt();
    assert_eq!((receipt.gets, receipt.lists), (0, 1), "{receipt:?}");
}
