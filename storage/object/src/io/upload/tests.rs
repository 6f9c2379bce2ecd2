use std::sync::Arc;

use object_store::ObjectStore;

use super::*;
use crate::decorator::count::{CountStore, Keep};
use crate::decorator::fault::{Fault, FaultStore, Rule};
use crate::io::Cost;
use crate::key::SegmentPart;
use crate::store::Store;
use crate::testing::*;

const PART: usize = 100_000;

fn rows() -> Key {
    Key::Segment(collection(), "s1".parse().unwrap(), SegmentPart::Rows)
}

fn content(length: usize) -> Bytes {
    (0..length)
        .map(|at| u8::try_from(at * 31 % 251).unwrap())
        .collect()
}

fn parted(objects: &Arc<dyn ObjectStore>) -> Arc<Store> {
    Arc::new(
        Arc::into_inner(store(objects))
            .unwrap()
            .with_part_bytes(PART),
    )
}

async fn upload_all(io: &Io, content: &Bytes, piece: usize) -> Result<u64, StoreError> {
    let mut upload = io.upload(rows());
    let mut rest = content.clone();
    while !rest.is_empty() {
        upload.write(rest.split_to(piece.min(rest.len()))).await?;
    }
    upload.finish().await
}

async fn stored(objects: &Arc<dyn ObjectStore>) -> Option<Bytes> {
    let answer = objects.get(&rows().path()).await.ok()?;
    Some(answer.bytes().await.unwrap())
}

#[tokio::test(start_paused = true)]
async fn what_is_written_piece_by_piece_is_one_object_of_equal_parts() {
    // Length, requests: one PUT, or a beginning, the parts and an end.
    for (length, puts) in [(0, 1), (10, 1), (PART, 1), (PART + 1, 4), (5 * PART, 7)] {
        for piece in [7_001, PART - 1, PART, 3 * PART] {
            let objects = memory();
            let counted = Arc::new(CountStore::new(Arc::clone(&objects), Keep::Counts));
            let line: Arc<dyn ObjectStore> = Arc::<CountStore>::clone(&counted);
            let io = Io::new(&parted(&line));
            let wanted = content(length);
            assert_eq!(
                upload_all(&io, &wanted, piece).await.unwrap(),
                length as u64
            );
            assert_eq!(stored(&objects).await, Some(wanted), "{length} by {piece}");
            let receipt = io.receipt();
            assert_eq!(
                (receipt.puts, receipt.bytes_written),
                (puts, length as u64),
                "{length} by {piece}"
            );
            let counts = counted.counts();
            assert_eq!(
                (counts.puts, counts.bytes_written),
                (puts, length as u64),
                "the store saw what the receipt says"
            );
        }
    }
}

#[tokio::test(start_paused = true)]
async fn no_more_parts_are_in_memory_than_allowed() {
    let slow = Rule::new(
        Fault::Delay {
            from_ms: 100,
            to_ms: 100,
        },
        &[Operation::Upload],
        1_000,
    );
    let objects: Arc<dyn ObjectStore> = Arc::new(FaultStore::new(
        memory(),
        VirtualClock::new(),
        1,
        vec![slow],
    ));
    let store = parted(&objects);
    let io = Io::new(&store);
    let mut upload = io.upload(rows());
    let before = store.clock().now();
    // Begun, three on their way, and one full.
    upload.write(content(4 * PART)).await.unwrap();
    assert_eq!(store.clock().now().millis_since(before), 100);
    // The fourth can go when the first three are there.
    upload.write(content(1)).await.unwrap();
    assert_eq!(store.clock().now().millis_since(before), 200);
    assert_eq!(upload.written(), 4 * PART as u64 + 1);
    upload.finish().await.unwrap();
    assert_eq!(store.clock().now().millis_since(before), 400);
}

#[tokio::test(start_paused = true)]
async fn an_upload_that_fails_leaves_nothing_and_says_so_ever_after() {
    // The beginning, each of the parts, the end.
    for spared in 0..5 {
        let objects = memory();
        let mut rules = vec![Rule::new(Fault::ErrorBefore, &[Operation::Upload], 1_000)];
        let line = FaultStore::new(Arc::clone(&objects), VirtualClock::new(), 1, Vec::new());
        let failing: Arc<dyn ObjectStore> = Arc::new(line.clone());
        let io = Io::new(&parted(&failing));
        let mut upload = io.upload(rows());
        let mut failed = None;
        for number in 0..4 {
            if number == spared {
                line.set_rules(std::mem::take(&mut rules));
            }
            if let Err(error) = upload.write(content(PART)).await {
                failed = Some(error);
                break;
            }
        }
        if let Some(error) = failed {
            assert!(matches!(error, StoreError::Unavailable { .. }), "{error}");
            let again = upload.write(content(1)).await.unwrap_err();
            assert_eq!(again.to_string(), error.to_string());
        } else if spared == 4 {
            line.set_rules(rules);
        }
        let error = upload.finish().await.unwrap_err();
        assert!(matches!(error, StoreError::Unavailable { .. }), "{error}");
        assert_eq!(stored(&objects).await, None, "{spared}");
        // Another begins afresh.
        line.set_rules(Vec::new());
        let wanted = content(3 * PART);
        upload_all(&io, &wanted, PART).await.unwrap();
        assert_eq!(stored(&objects).await, Some(wanted));
    }
}

/// The store has it; only the answer to the end was lost.
#[tokio::test(start_paused = true)]
async fn a_lost_answer_to_the_end_is_looked_up() {
    let objects = memory();
    let line = FaultStore::new(Arc::clone(&objects), VirtualClock::new(), 1, Vec::new());
    let failing: Arc<dyn ObjectStore> = Arc::new(line.clone());
    let io = Io::new(&parted(&failing));
    let mut upload = io.upload(rows());
    let wanted = content(PART + 1);
    upload.write(wanted.clone()).await.unwrap();
    upload.send_rest().await.unwrap();
    let lost = Rule::new(Fault::LostAnswer, &[Operation::Upload], 1_000);
    line.set_rules(vec![lost]);
    upload.end().await.unwrap();
    assert_eq!(stored(&objects).await, Some(wanted));
    assert_eq!(io.receipt().gets, 1);
}

#[tokio::test(start_paused = true)]
async fn an_abort_leaves_nothing() {
    let objects = memory();
    let io = Io::new(&parted(&objects));
    let mut upload = io.upload(rows());
    upload.write(content(2 * PART)).await.unwrap();
    upload.abort().await;
    assert_eq!(stored(&objects).await, None);
    let Cost { puts, deletes, .. } = io.receipt();
    assert_eq!((puts, deletes), (2, 1));
}
