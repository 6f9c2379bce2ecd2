use std::sync::Arc;

use arrow_array::builder::{Float32Builder, ListBuilder};
use arrow_array::{RecordBatch, StringArray};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use object_store::{ObjectStore, ObjectStoreExt};

use crate::error::Corrupt;
use crate::io::{Cost, Io};
use crate::key::{Key, Seq};
use crate::log::checkpoint::NewCheckpoint;
use crate::log::commit::Decision;
use crate::log::entry::Entry;
use crate::log::fold::Fold;
use crate::log::{Freshness, Log, LogSettings, carry, codec};
use crate::port::{CommitId, WriterId};
use crate::store::Store;
use crate::testing::*;

/// Records with a vector, as large as those of the domain, of which only the number of
/// each is kept.
#[derive(Debug, Default, PartialEq, Eq)]
struct Records(Vec<usize>);

fn record(dimensions: usize, text: usize) -> RecordBatch {
    let mut vector = ListBuilder::new(Float32Builder::new());
    vector.values().append_slice(&vec![0.5; dimensions]);
    vector.append(true);
    let columns: Vec<arrow_array::ArrayRef> = vec![
        Arc::new(StringArray::from(vec!["x".repeat(text)])),
        Arc::new(vector.finish()),
    ];
    RecordBatch::try_new(Records::schema(), columns).unwrap()
}

impl Fold for Records {
    type Draft = ();

    fn schema() -> SchemaRef {
        let item = Arc::new(Field::new("item", DataType::Float32, true));
        Arc::new(Schema::new(vec![
            Field::new("content", DataType::Utf8, false),
            Field::new("vector", DataType::List(item), false),
        ]))
    }

    fn apply(&mut self, entry: &Entry) -> Result<(), Corrupt> {
        if entry.header.checkpoint.is_some() {
            self.0.clear();
        }
        self.0.push(entry.rows.num_rows());
        Ok(())
    }
}

fn writer(name: u128) -> Log<Records> {
    Log::new(collection(), WriterId(name), LogSettings::default())
}

async fn write(log: &Log<Records>, store: &Arc<Store>, id: u128, rows: RecordBatch) -> Cost {
    let io = Io::new(store);
    let decide = move |_: &Records, (): &mut (), _| {
        Ok::<_, Never>(Decision::Commit {
            rows: rows.clone(),
            note: None,
            value: (),
        })
    };
    log.commit(&io, CommitId(id), decide).await.unwrap();
    io.receipt()
}

/// Entries that the object with this number holds.
async fn holds(objects: &Arc<dyn ObjectStore>, seq: u64) -> Vec<Arc<Entry>> {
    let key = Key::Log(collection(), Seq(seq));
    let answer = objects.get(&key.path()).await.unwrap();
    codec::decode(&key, answer.bytes().await.unwrap()).unwrap()
}

async fn held(objects: &Arc<dyn ObjectStore>, seq: u64) -> (u64, usize) {
    let entries = holds(objects, seq).await;
    (entries[0].seq.0, entries.len())
}

async fn cold(store: &Arc<Store>) -> (Log<Records>, Cost) {
    let io = Io::new(store);
    let reader = writer(77);
    reader.refresh(&io, Freshness::Strong).await.unwrap();
    (reader, io.receipt())
}

fn same(a: &Log<Records>, b: &Log<Records>) {
    a.read(|ours, last| b.read(|theirs, newest| assert_eq!((ours, last), (theirs, newest))));
}

/// Every process carries on where another stood, whatever it has read.
#[tokio::test(start_paused = true)]
async fn the_last_entry_of_a_large_block_repeats_it_whoever_writes_it() {
    let objects = memory();
    let store = store(&objects);
    let (mut a, b) = (writer(1), writer(2));
    for n in 1..=130 {
        if n == 64 {
            // It knows nothing and reads the log first.
            a = writer(3);
        }
        let log = if n % 7 == 0 { &b } else { &a };
        write(log, &store, n, record(384, 500)).await;
    }
    assert_eq!(held(&objects, 63).await, (49, 15));
    assert_eq!(held(&objects, 64).await, (1, 64));
    assert_eq!(held(&objects, 65).await, (65, 1));
    assert_eq!(held(&objects, 128).await, (65, 64));
    let (reader, cost) = cold(&store).await;
    same(&reader, &a);
    assert_eq!((cost.steps, cost.gets, cost.lists), (2, 4, 1));
}

#[tokio::test(start_paused = true)]
async fn a_large_entry_is_repeated_by_none_and_what_came_before_it_lies_with_it() {
    let objects = memory();
    let store = store(&objects);
    let a = writer(1);
    for n in 1..=64 {
        let text = if n == 40 { 200_000 } else { 500 };
        write(&a, &store, n, record(384, text)).await;
    }
    assert_eq!(held(&objects, 40).await, (33, 8));
    assert_eq!(held(&objects, 64).await, (41, 24));
    let (reader, cost) = cold(&store).await;
    same(&reader, &a);
    // The head, 16, 32, 40 and 64.
    assert_eq!((cost.steps, cost.gets), (2, 5));
}

#[tokio::test(start_paused = true)]
async fn nothing_is_repeated_across_a_checkpoint() {
    let objects = memory();
    let store = store(&objects);
    let a = writer(1);
    for n in 1..=39 {
        write(&a, &store, n, record(384, 500)).await;
    }
    let new = NewCheckpoint {
        base: Seq(39),
        ..NewCheckpoint::default()
    };
    a.checkpoint(
        &Io::new(&store),
        CommitId(1_000),
        new,
        |_: &Records, (), _| {
            Ok::<_, Never>(Decision::Commit {
                rows: record(384, 0),
                note: None,
                value: (),
            })
        },
    )
    .await
    .unwrap();
    for n in 41..=64 {
        write(&a, &store, n, record(384, 500)).await;
    }
    assert_eq!(held(&objects, 40).await, (40, 1));
    assert_eq!(held(&objects, 64).await, (41, 24));
    let (reader, cost) = cold(&store).await;
    same(&reader, &a);
    assert_eq!((cost.steps, cost.gets), (2, 2), "the head and one object");
    // Without the head, one step more.
    let head = Key::Head(collection()).path();
    objects.delete(&head).await.unwrap();
    let (reader, cost) = cold(&store).await;
    same(&reader, &a);
    assert!(cost.steps <= 3, "{cost:?}");
}

/// As a log looks that was written before large blocks were repeated.
async fn forget_large_blocks(objects: &Arc<dyn ObjectStore>, entries: u64) {
    for seq in (1..=entries).filter(|seq| carry::ends_large_block(Seq(*seq))) {
        let first = carry::block_start(Seq(seq));
        let kept: Vec<_> = holds(objects, seq)
            .await
            .into_iter()
            .filter(|entry| entry.seq >= first)
            .collect();
        let key = Key::Log(collection(), Seq(seq));
        let bytes = codec::encode(&key, &Records::schema(), &kept).unwrap();
        objects.put(&key.path(), bytes.into()).await.unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn a_log_from_before_large_blocks_is_read_and_written_on() {
    let objects = memory();
    let store = store(&objects);
    let a = writer(1);
    for n in 1..=200 {
        write(&a, &store, n, record(384, 500)).await;
    }
    forget_large_blocks(&objects, 200).await;
    let (reader, cost) = cold(&store).await;
    same(&reader, &a);
    assert_eq!((cost.steps, cost.gets), (2, 14));
    for n in 201..=260 {
        write(&reader, &store, n, record(384, 500)).await;
    }
    assert_eq!(held(&objects, 256).await, (193, 64));
    let (again, cost) = cold(&store).await;
    same(&again, &reader);
    assert_eq!((cost.steps, cost.gets), (2, 1 + 12 + 2));
}

/// Its last entry is so large that the size of its object does not tell that it repeats
/// but one block.
#[tokio::test(start_paused = true)]
async fn what_a_listing_does_not_tell_costs_one_step_more() {
    let objects = memory();
    let store = store(&objects);
    let a = writer(1);
    for n in 1..=70 {
        let text = if n == 64 { 300_000 } else { 500 };
        write(&a, &store, n, record(384, text)).await;
    }
    forget_large_blocks(&objects, 70).await;
    let (reader, cost) = cold(&store).await;
    same(&reader, &a);
    // The head, 64 and 70, then 16, 32 and 48.
    assert_eq!((cost.steps, cost.gets), (3, 6));
}

/// What a tail costs to write and to read. The figures stand in `docs/adr/0011`.
#[tokio::test(start_paused = true)]
async fn a_tail_of_any_length_is_read_in_two_steps_and_few_requests() {
    for (dimensions, most_gets, most_bytes) in [
        (0, 8, 12_000),
        (384, 8, 30_000),
        (768, 8, 60_000),
        (1_536, 14, 65_000),
        (3_072, 24, 75_000),
    ] {
        let objects = memory();
        let store = store(&objects);
        let a = writer(1);
        let mut written = 0;
        let mut gets = Vec::new();
        for n in 1..=300 {
            written += write(&a, &store, n, record(dimensions, 500))
                .await
                .bytes_written;
            // The widest tails, and some others.
            if n % 16 == 15 || n % 37 == 0 || n == 200 {
                let (reader, cost) = cold(&store).await;
                same(&reader, &a);
                assert_eq!(cost.steps, 2, "{n}");
                gets.push((cost.gets, n, cost.bytes_read));
            }
        }
        let mean = written / 300;
        let worst = gets.iter().max().unwrap();
        let at_200 = gets.iter().find(|(_, n, _)| *n == 200).unwrap();
        eprintln!("{dimensions}-d: {mean} bytes an entry, at 200 {at_200:?}, worst {worst:?}");
        assert!(worst.0 <= most_gets, "{dimensions}: {worst:?}");
        assert!(mean <= most_bytes, "{dimensions}: {mean}");
    }
}
