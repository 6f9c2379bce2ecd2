use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use object_store::ObjectStore;

use super::*;
use crate::decorator::clocked::ClockedStore;
use crate::io::Cost;
use crate::key::SegmentPart;
use crate::log::checkpoint::NewCheckpoint;
use crate::log::commit::Decision;
use crate::port::CommitId;
use crate::store::Store;
use crate::testing::*;

/// A log on a bucket that shares its clock.
struct Ground {
    store: Arc<Store>,
    log: Log<Numbers>,
    commits: u128,
}

const MINUTE: u64 = 60;

impl Ground {
    fn new() -> Self {
        let clock = VirtualClock::new();
        let objects: Arc<dyn ObjectStore> = Arc::new(ClockedStore::new(
            memory(),
            Arc::<VirtualClock>::clone(&clock),
        ));
        Self {
            store: store_at(&objects, clock),
            log: log(1),
            commits: 0,
        }
    }

    async fn pass(&self, seconds: u64) {
        let pause = Duration::from_secs(seconds);
        self.store.clock().sleep(pause).await;
    }

    async fn write(&mut self) {
        self.commits += 1;
        put(&self.log, &Io::new(&self.store), self.commits, "x", 1).await;
    }

    async fn build(&self, segment: &str) {
        for part in [SegmentPart::Root, SegmentPart::Rows] {
            let key = Key::Segment(collection(), segment.parse().unwrap(), part);
            let bytes = Bytes::from_static(b"a segment");
            Io::new(&self.store)
                .one(Request::Put { key, bytes })
                .await
                .unwrap();
        }
    }

    async fn checkpoint(&mut self, base: Seq, segment: &str) {
        self.commits += 1;
        let new = NewCheckpoint {
            base,
            segments: vec![segment.to_owned()],
            attachments: Vec::new(),
        };
        let io = Io::new(&self.store);
        let id = CommitId(self.commits);
        let committed = self.log.checkpoint(&io, id, new, |_: &Numbers, _, _| {
            Ok::<_, Never>(Decision::Commit {
                rows: numbers([]),
                note: None,
                value: (),
            })
        });
        committed.await.unwrap();
    }

    async fn clean_up(&self) -> CleanedUp {
        self.log.clean_up(&Io::new(&self.store)).await.unwrap()
    }

    fn last(&self) -> Seq {
        self.log.read(|_, seq| seq)
    }

    async fn segments(&self) -> Vec<String> {
        let request = Request::List {
            prefix: Prefix::Segments(collection()),
            after: None,
        };
        let listed = Io::new(&self.store).one(request).await.unwrap();
        let mut names: Vec<String> = listed
            .into_listed()
            .into_iter()
            .filter_map(|listed| match listed.key {
                Key::Segment(_, segment, _) => Some(segment.to_string()),
                _ => None,
            })
            .collect();
        names.dedup();
        names
    }
}

#[tokio::test(start_paused = true)]
async fn a_superseded_segment_goes_after_the_horizon() {
    let mut ground = Ground::new();
    ground.write().await;
    ground.build("a").await;
    ground.checkpoint(Seq(1), "a").await;
    ground.build("b").await;
    let base = ground.last();
    ground.checkpoint(base, "b").await;
    ground.pass(59 * MINUTE).await;
    assert_eq!(ground.clean_up().await.segment_objects, 0);
    ground.pass(2 * MINUTE).await;
    assert_eq!(ground.clean_up().await.segment_objects, 2);
    assert_eq!(ground.segments().await, ["b"]);
}

/// It was held up between building its segment and committing, for longer than any
/// horizon, while clean-up ran: `tests/model` found this.
#[tokio::test(start_paused = true)]
async fn a_stalled_compaction_finds_its_segment_when_it_commits() {
    let mut ground = Ground::new();
    ground.write().await;
    ground.build("a").await;
    ground.checkpoint(Seq(1), "a").await;
    ground.write().await;
    let base = ground.last();
    ground.build("b").await;
    ground.pass(180 * MINUTE).await;
    assert_eq!(ground.clean_up().await.segment_objects, 0);
    ground.checkpoint(base, "b").await;
    assert_eq!(ground.segments().await, ["a", "b"]);
    let (_, newest) = ground.log.newest_checkpoint().unwrap();
    assert_eq!(newest.segments, ["b"]);
}

#[tokio::test(start_paused = true)]
async fn what_a_dead_compaction_left_goes_once_another_has_committed() {
    let mut ground = Ground::new();
    ground.write().await;
    ground.build("a").await;
    ground.checkpoint(Seq(1), "a").await;
    ground.pass(10 * MINUTE).await;
    ground.build("dead").await;
    ground.pass(120 * MINUTE).await;
    assert_eq!(ground.clean_up().await.segment_objects, 0);
    ground.write().await;
    let base = ground.last();
    ground.build("b").await;
    ground.checkpoint(base, "b").await;
    let io = Io::new(&ground.store);
    ground.log.clean_up(&io).await.unwrap();
    assert_eq!(ground.segments().await, ["a", "b"]);
    let Cost { deletes, .. } = io.receipt();
    assert_eq!(deletes, 2, "of the dead one");
}
