//! The stalled writer of the design, step by step: it decides on entry n, is held up, and
//! creates n + 1 when that number has been used, superseded and deleted. Its create
//! succeeds. I-FLOOR says that it must not be acknowledged there.

use std::sync::Arc;
use std::time::Duration;

use object_store::ObjectStore;
use object_store::memory::InMemory;
use ostraca_object::decorator::fault::{Fault, FaultStore, Rule};
use ostraca_object::error::Operation;
use ostraca_object::io::Io;
use ostraca_object::key::Seq;
use ostraca_object::log::checkpoint::NewCheckpoint;
use ostraca_object::log::commit::Decision;
use ostraca_object::log::{Freshness, Log, LogSettings};
use ostraca_object::port::simulated::{CountingIds, VirtualClock};
use ostraca_object::port::{Clock, CommitId, WriterId};
use ostraca_object::store::Store;

use crate::registers::{Never, Registers, operation};
use crate::world::{HORIZON_MS, collection, runtime};

const STALLED_MS: u64 = 3 * HORIZON_MS;
/// Far above any time in a run: a writer with this horizon has no fence.
const NO_FENCE_MS: u64 = 1 << 60;

struct Outcome {
    acknowledged: Seq,
    floor: Seq,
    /// How often the stalled operation is in the log that readers see.
    effects: usize,
}

fn process(
    objects: Arc<dyn ObjectStore>,
    clock: &Arc<VirtualClock>,
    writer: u128,
    horizon_ms: u64,
) -> (Log<Registers>, Arc<Store>) {
    let ids = Arc::new(CountingIds::default());
    let store = Store::new(objects, Arc::<VirtualClock>::clone(clock), ids)
        .with_request_timeout(2 * STALLED_MS);
    let settings = LogSettings {
        horizon_ms,
        commit_timeout_ms: 2 * STALLED_MS,
        ..LogSettings::default()
    };
    (
        Log::new(collection(), WriterId(writer), settings),
        Arc::new(store),
    )
}

async fn commit(log: &Log<Registers>, io: &Io, op: u64) -> Seq {
    let id = CommitId(u128::from(op));
    log.commit(io, id, operation(op, 0)).await.unwrap().seq
}

async fn checkpoint(log: &Log<Registers>, io: &Io, id: u128) {
    log.refresh(io, Freshness::Strong).await.unwrap();
    let new = NewCheckpoint {
        base: log.read(|_, seq| seq),
        ..NewCheckpoint::default()
    };
    log.checkpoint(io, CommitId(id), new, |registers: &Registers, _, _| {
        Ok::<_, Never>(Decision::Commit {
            rows: registers.snapshot(),
            note: None,
            value: (),
        })
    })
    .await
    .unwrap();
}

/// `fault` befalls the create of a writer with this horizon, while others go on.
async fn stalled_writer(fault: Fault, horizon_ms: u64) -> Outcome {
    const STALLED: u64 = 99;
    let clock = VirtualClock::new();
    let bucket: Arc<dyn ObjectStore> = Arc::new(InMemory::new());
    let stall = Rule::new(fault, &[Operation::Create], 1_000).at_most(1);
    let line = FaultStore::new(
        Arc::clone(&bucket),
        Arc::<VirtualClock>::clone(&clock),
        1,
        Vec::new(),
    );
    let (slow, slow_store) = process(Arc::new(line.clone()), &clock, 1, horizon_ms);
    let (quick, quick_store) = process(Arc::clone(&bucket), &clock, 2, HORIZON_MS);
    for op in 1..=3 {
        commit(&quick, &Io::new(&quick_store), op).await;
    }
    slow.refresh(&Io::new(&slow_store), Freshness::Strong)
        .await
        .unwrap();
    line.set_rules(vec![stall]);
    let slow_io = Io::new(&slow_store);
    let stalled = commit(&slow, &slow_io, STALLED);
    let others = async {
        let io = Io::new(&quick_store);
        clock.sleep(Duration::from_millis(10)).await;
        // Number 4, which the stalled writer wants, is used and superseded.
        for op in 4..=6 {
            commit(&quick, &io, op).await;
        }
        checkpoint(&quick, &io, 1 << 100).await;
        commit(&quick, &io, 7).await;
        clock.sleep(Duration::from_millis(HORIZON_MS + 1_000)).await;
        checkpoint(&quick, &io, 2 << 100).await;
        quick.clean_up(&io).await.unwrap();
    };
    let (acknowledged, ()) = futures::join!(stalled, others);
    let (cold, cold_store) = process(bucket, &clock, 3, HORIZON_MS);
    cold.refresh(&Io::new(&cold_store), Freshness::Strong)
        .await
        .unwrap();
    Outcome {
        acknowledged,
        floor: cold.newest_checkpoint().unwrap().1.floor,
        effects: cold.read(|registers, _| {
            registers.check("after the stall");
            registers
                .order()
                .iter()
                .filter(|op| **op == STALLED)
                .count()
        }),
    }
}

const HELD_UP: Fault = Fault::Delay {
    from_ms: STALLED_MS,
    to_ms: STALLED_MS,
};

#[test]
fn i_floor_a_stalled_writer_commits_again_above_the_floor() {
    let outcome = runtime().block_on(stalled_writer(HELD_UP, HORIZON_MS));
    assert!(outcome.floor > Seq(4), "the number had been deleted");
    assert!(outcome.acknowledged > outcome.floor, "I-FLOOR");
    assert_eq!(outcome.effects, 1, "I-DURABLE and I-ONCE");
}

/// Not a wish but the reason for the fence: without it the same run loses an
/// acknowledged operation.
#[test]
fn without_the_fence_the_stalled_writer_is_told_that_it_was_stored_and_it_was_not() {
    let outcome = runtime().block_on(stalled_writer(HELD_UP, NO_FENCE_MS));
    assert_eq!(outcome.acknowledged, Seq(4));
    assert!(outcome.acknowledged < outcome.floor);
    assert_eq!(outcome.effects, 0);
}

/// It was stored in time and only the answer was late: the checkpoint has it, and it
/// must not be stored twice.
#[test]
fn i_once_a_late_answer_to_what_a_checkpoint_has_is_no_reason_to_commit_again() {
    let late = Fault::SlowAnswer {
        from_ms: STALLED_MS / 2,
        to_ms: STALLED_MS / 2,
    };
    let outcome = runtime().block_on(stalled_writer(late, HORIZON_MS));
    assert_eq!(outcome.effects, 1);
}
