//! The log's invariants over seeds: processes that crash, retry and stall write one log
//! on storage that loses answers, delivers twice or late, refuses and delays, while rival
//! and stalled compactors fold it into segments, and clean-up deletes what nobody needs.
//!
//! `SIM_SEEDS=count` widens the run and `SIM_SEED=n` replays one seed.

#![expect(unreachable_pub, reason = "one test binary: its modules share helpers")]
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "a broken helper is a broken test"
)]

mod actors;
#[path = "../domain/dice.rs"]
mod dice;
mod floor;
mod registers;
mod upkeep;
mod world;

use std::collections::BTreeSet;

use futures::future::join_all;
use ostraca_object::log::Freshness;

use crate::actors::Told;
use crate::dice::Dice;
use crate::world::World;

/// Clients, spread over the processes.
const CLIENTS: u64 = 6;
const COMPACTORS: u64 = 2;

#[test]
fn i_durable_i_visible_i_order_i_atomic_i_once_i_fold_i_floor_hold_over_seeds() {
    for seed in dice::seeds(100) {
        eprintln!("seed {seed}");
        world::runtime().block_on(run(seed));
    }
}

async fn run(seed: u64) {
    let world = World::new(seed);
    // More than one, as an alarm may go off while the last job is at work still.
    let compactors = (1..=COMPACTORS).map(|compactor| {
        let dice = Dice::new(seed ^ 0xdead ^ compactor << 16);
        tokio::spawn(upkeep::compact(world.clone(), compactor, dice))
    });
    let compactors: Vec<_> = compactors.collect();
    let crashes = tokio::spawn(actors::crash(world.clone(), Dice::new(seed ^ 0xbeef)));
    let clients = (0..CLIENTS).map(|client| {
        let dice = Dice::new(seed ^ (client + 1) << 32);
        tokio::spawn(actors::client(world.clone(), client, dice))
    });
    let told: Vec<Told> = join_all(clients)
        .await
        .into_iter()
        .map(|told| told.unwrap_or_else(|error| panic!("SIM_SEED={seed}: {error}")))
        .collect();
    crashes.abort();
    for compactor in compactors {
        if compactor.is_finished() {
            // It goes on for ever, unless it found a breach.
            compactor.await.unwrap();
        } else {
            compactor.abort();
        }
    }
    // What is still under way arrives, even from the dead.
    world.settle().await;
    judge(seed, &world, &told).await;
}

/// What a process that knows nothing reads from storage that works.
async fn judge(seed: u64, world: &World, told: &[Told]) {
    let calm = world.calm();
    let last = calm
        .log
        .refresh(&calm.io(), Freshness::Strong)
        .await
        .unwrap();
    upkeep::check_segments(&calm).await;
    upkeep::check_markers(&calm, &world.markers()).await;
    calm.log.read(|registers, _| {
        let order = registers.order();
        let distinct: BTreeSet<u64> = order.iter().copied().collect();
        assert_eq!(order.len(), distinct.len(), "I-ONCE seed {seed}: {order:?}");
        for told in told {
            for (op, seq) in &told.acknowledged {
                assert!(
                    distinct.contains(op),
                    "I-DURABLE seed {seed}: {op:x} of {seq}"
                );
                assert!(
                    *seq <= last,
                    "I-ORDER seed {seed}: {op:x} at {seq} after {last}"
                );
            }
            for op in &distinct {
                let asked = told.client != op >> 32 || told.asked.contains(op);
                assert!(asked, "seed {seed}: nobody asked for {op:x}");
            }
        }
        registers.check(&format!("seed {seed}"));
        for view in world.views() {
            assert!(
                order.starts_with(&view),
                "I-ORDER seed {seed}: a reader saw {view:?}, the log says {order:?}"
            );
        }
    });
}
