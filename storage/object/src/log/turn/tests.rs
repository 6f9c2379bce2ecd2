use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use futures::future::join_all;

use super::*;
use crate::io::Io;
use crate::log::{Grouping, LogSettings};
use crate::port::CommitId;
use crate::testing::{VirtualClock, increment, log_with, memory, store};

#[tokio::test(start_paused = true)]
async fn commits_alone_do_not_race_each_other() {
    let store = store(&memory());
    let settings = LogSettings {
        grouping: Grouping::Alone,
        ..LogSettings::default()
    };
    let log = log_with(1, settings);
    let puts = join_all((0..50).map(|n| {
        let (log, io) = (&log, Io::new(&store));
        async move {
            log.commit(&io, CommitId(n), increment("n")).await.unwrap();
            io.receipt().puts
        }
    }))
    .await;
    assert_eq!(puts.iter().sum::<u64>(), 50, "one create for each commit");
}

#[tokio::test(start_paused = true)]
async fn turns_are_taken_one_at_a_time_and_in_order() {
    let (turns, clock) = (Turns::default(), VirtualClock::new());
    let (inside, order) = (AtomicU64::new(0), Mutex::new(Vec::new()));
    join_all((1..=20).map(|ticket| {
        let (turns, clock) = (&turns, Arc::clone(&clock));
        let (inside, order) = (&inside, &order);
        async move {
            let place = turns.wait(clock.as_ref(), ticket, || 10).await;
            assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0);
            order.lock().unwrap().push(ticket);
            clock.sleep(Duration::from_millis(30)).await;
            inside.fetch_sub(1, Ordering::SeqCst);
            drop(place);
        }
    }))
    .await;
    assert_eq!(*order.lock().unwrap(), (1..=20).collect::<Vec<u64>>());
}

#[tokio::test(start_paused = true)]
async fn who_is_cancelled_without_a_drop_holds_nobody_up_for_long() {
    let (turns, clock) = (Turns::default(), VirtualClock::new());
    // A cancelled request of a Worker is never polled again, and never dropped.
    std::mem::forget(turns.wait(clock.as_ref(), 1, || 10).await);
    turns.look(2, clock.now(), SILENT_WAITING_MS);
    let before = clock.now();
    drop(turns.wait(clock.as_ref(), 3, || 10).await);
    let took = clock.now().millis_since(before);
    assert!(
        (SILENT_WRITING_MS..SILENT_WRITING_MS + 500).contains(&took),
        "{took}"
    );
}

#[tokio::test(start_paused = true)]
async fn who_goes_away_in_line_leaves_no_gap() {
    let (turns, clock) = (Turns::default(), VirtualClock::new());
    let first = turns.wait(clock.as_ref(), 1, || 10).await;
    {
        let second = turns.wait(clock.as_ref(), 2, || 10);
        futures::pin_mut!(second);
        assert!(futures::poll!(second.as_mut()).is_pending());
    }
    drop(first);
    let before = clock.now();
    drop(turns.wait(clock.as_ref(), 3, || 10).await);
    assert_eq!(clock.now().millis_since(before), 0);
}
