//! Every state that a few processes can reach on one log: see `README.md` for what is
//! modelled and what is not.

#![expect(unreachable_pub, reason = "one test binary: its modules share types")]
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stderr,
    reason = "a broken model is a broken test"
)]

mod protocol;
mod steps;
mod store;
mod world;

use stateright::{Checker, HasDiscoveries, Model};

use crate::protocol::{Protocol, Rule};

/// Two processors, as the smallest machine that builds this has.
const THREADS: usize = 2;

const NOTHING: Protocol = Protocol {
    writers: 0,
    compactors: 0,
    rounds: 1,
    clean_ups: 0,
    last_tick: 0,
    timeouts: 0,
    duplicates: 0,
    crashes: 0,
    fence: Rule::Kept,
    supersession: Rule::Kept,
    horizon: Rule::Kept,
    spare_new: Rule::Kept,
};

/// All properties hold in all states.
fn holds(model: Protocol) {
    let name = format!("{model:?}");
    let checker = model
        .checker()
        .threads(THREADS)
        .finish_when(HasDiscoveries::AnyFailures)
        .spawn_bfs()
        .join();
    eprintln!(
        "{} states, {} deep: {name}",
        checker.unique_state_count(),
        checker.max_depth()
    );
    assert!(checker.is_done());
    checker.assert_properties();
}

/// The checker finds a state that breaks each of the properties.
fn breaks(model: Protocol, properties: &[&'static str]) {
    let name = format!("{model:?}");
    let checker = model
        .checker()
        .threads(THREADS)
        .finish_when(HasDiscoveries::AllOf(properties.iter().copied().collect()))
        .spawn_dfs()
        .join();
    eprintln!("{} states: {name}", checker.unique_state_count());
    for property in properties {
        let path = checker.discovery(property);
        let path = path.unwrap_or_else(|| panic!("{property} holds: {name}"));
        eprintln!("{property}: {:?}", path.into_actions());
    }
}

/// The stalled writer: another compacts and cleans up, and its number is free again.
const STALLED: Protocol = Protocol {
    writers: 2,
    compactors: 1,
    rounds: 2,
    clean_ups: 1,
    last_tick: 3,
    ..NOTHING
};

/// Two compactors of one log, of which each may be stalled anywhere.
const RIVALS: Protocol = Protocol {
    writers: 1,
    compactors: 2,
    clean_ups: 1,
    last_tick: 3,
    ..NOTHING
};

#[test]
fn writers_whose_requests_are_lost_late_or_doubled() {
    holds(Protocol {
        writers: 2,
        timeouts: 1,
        duplicates: 1,
        crashes: 1,
        last_tick: 2,
        ..NOTHING
    });
}

#[test]
fn three_writers() {
    holds(Protocol {
        writers: 3,
        timeouts: 1,
        ..NOTHING
    });
}

#[test]
fn a_stalled_writer() {
    holds(STALLED);
}

#[test]
fn rival_compactors() {
    holds(RIVALS);
}

#[test]
fn compaction_and_lost_late_or_doubled_requests() {
    holds(Protocol {
        writers: 1,
        compactors: 1,
        rounds: 2,
        clean_ups: 1,
        timeouts: 1,
        duplicates: 1,
        last_tick: 3,
        ..NOTHING
    });
}

#[test]
fn compaction_and_a_crash() {
    holds(Protocol {
        writers: 1,
        compactors: 1,
        rounds: 2,
        clean_ups: 1,
        crashes: 1,
        last_tick: 3,
        ..NOTHING
    });
}

#[test]
fn without_the_fence_a_stalled_writer_is_acknowledged_below_the_floor() {
    let fence = Rule::Removed;
    breaks(Protocol { fence, ..STALLED }, &["I-FLOOR", "I-DURABLE"]);
}

#[test]
fn without_the_horizon_a_number_is_void_too_soon() {
    let horizon = Rule::Removed;
    breaks(Protocol { horizon, ..STALLED }, &["I-DURABLE"]);
}

#[test]
fn without_supersession_rivals_lose_a_segment_in_use() {
    let supersession = Rule::Removed;
    breaks(
        Protocol {
            supersession,
            ..RIVALS
        },
        &["no live segment is deleted"],
    );
}

#[test]
fn without_sparing_new_segments_clean_up_deletes_that_of_a_stalled_compactor() {
    let spare_new = Rule::Removed;
    breaks(
        Protocol {
            spare_new,
            ..RIVALS
        },
        &["no live segment is deleted"],
    );
}
