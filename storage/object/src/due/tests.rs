use std::sync::Arc;

use object_store::{ObjectStore, ObjectStoreExt};

use super::*;
use crate::decorator::fault::{Fault, FaultStore, Rule};
use crate::decorator::retry::{RetryPolicy, RetryStore};
use crate::error::Operation;
use crate::io::Cost;
use crate::key::{CollectionId, TenantId};
use crate::testing::*;

fn of(tenant: &str) -> CollectionKey {
    CollectionKey::new(tenant.parse().unwrap(), CollectionId::memory())
}

#[tokio::test(start_paused = true)]
async fn a_marker_costs_one_put_and_one_that_is_there_costs_no_more() {
    let store = store(&memory());
    for _ in 0..2 {
        let io = Io::new(&store);
        mark(&io, &collection(), Seq(64)).await.unwrap();
        let Cost {
            steps, puts, gets, ..
        } = io.receipt();
        assert_eq!((steps, puts, gets), (1, 1, 0));
    }
    let due = list(&Io::new(&store)).await.unwrap();
    assert_eq!(due.len(), 1);
    assert_eq!(due[0].collection, collection());
    assert_eq!(due[0].markers, [Seq(64)]);
}

#[tokio::test(start_paused = true)]
async fn one_listing_finds_every_tenant_and_what_is_no_marker_is_left_out() {
    let objects = memory();
    let store = store(&objects);
    for number in 0..1_200 {
        let tenant: TenantId = format!("t{number}").parse().unwrap();
        mark(&Io::new(&store), &of(tenant.as_str()), Seq(64))
            .await
            .unwrap();
    }
    mark(&Io::new(&store), &of("t7"), Seq(128)).await.unwrap();
    for foreign in ["due/readme.txt", "due/t1:memory/readme.txt"] {
        objects.put(&foreign.into(), "x".into()).await.unwrap();
    }
    let io = Io::new(&store);
    let due = list(&io).await.unwrap();
    assert_eq!(due.len(), 1_200);
    assert!(due.is_sorted_by_key(|due| due.since));
    let seventh = due.iter().find(|due| due.collection == of("t7")).unwrap();
    assert_eq!(seventh.markers, [Seq(64), Seq(128)]);
    let Cost { steps, lists, .. } = io.receipt();
    assert_eq!((steps, lists), (1, 2), "two pages of a thousand names");
}

/// The job read the log at 100. While it worked, a writer left a marker at 128, and
/// before it, when the job had listed already, one at 64 for the second time.
#[tokio::test(start_paused = true)]
async fn a_marker_that_is_left_while_a_job_works_is_not_cleared_by_it() {
    let store = store(&memory());
    let io = Io::new(&store);
    mark(&io, &collection(), Seq(64)).await.unwrap();
    let jobs = [list(&io).await.unwrap(), list(&io).await.unwrap()];
    mark(&io, &collection(), Seq(64)).await.unwrap();
    mark(&io, &collection(), Seq(128)).await.unwrap();
    // Two jobs have the same work; it is done once, and both clear.
    for due in jobs {
        assert_eq!(clear(&io, &due[0], Seq(100)).await.unwrap(), 1);
    }
    let left = list(&io).await.unwrap();
    assert_eq!(left[0].markers, [Seq(128)]);
    // A job that lists it but has read the log before stops short of it.
    assert_eq!(clear(&io, &left[0], Seq(127)).await.unwrap(), 0);
    assert_eq!(list(&io).await.unwrap(), left);
    assert_eq!(clear(&io, &left[0], Seq(128)).await.unwrap(), 1);
    assert!(list(&io).await.unwrap().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_lost_answer_or_a_conflict_loses_no_marker() {
    for fault in [Fault::LostAnswer, Fault::ErrorBefore, Fault::EmptyConflict] {
        let objects = memory();
        let rule = Rule::new(fault, &[Operation::Create, Operation::Put], 1_000).at_most(2);
        let line: Arc<dyn ObjectStore> = Arc::new(FaultStore::new(
            Arc::clone(&objects),
            VirtualClock::new(),
            1,
            vec![rule],
        ));
        let line: Arc<dyn ObjectStore> = Arc::new(RetryStore::new(
            line,
            VirtualClock::new(),
            Arc::new(CountingIds::default()),
            RetryPolicy::default(),
        ));
        let marked = mark(&Io::new(&store(&line)), &collection(), Seq(64)).await;
        let there = list(&Io::new(&store(&objects))).await.unwrap().len() == 1;
        assert!(there || marked.is_err(), "{fault:?}: {marked:?}");
    }
}
