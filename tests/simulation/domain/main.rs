//! The domain's invariants over seeds, with storage that loses answers, delivers
//! twice or late, refuses and delays: two tenants, three processes each, every task
//! working on memories of its own and checking through the other processes.
//!
//! `SIM_SEEDS=count` widens the run and `SIM_SEED=n` replays one seed.

#![allow(
    unreachable_pub,
    missing_debug_implementations,
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::clone_on_ref_ptr,
    clippy::print_stderr,
    clippy::redundant_closure_for_method_calls,
    clippy::duration_suboptimal_units,
    reason = "one test binary: its modules share helpers, and a failed test may panic"
)]

mod dice;
mod world;

use std::collections::BTreeSet;
use std::sync::Arc;

use futures::future::join_all;
use ostraca_memory::*;

use crate::dice::Dice;
use crate::world::{Process, World};

/// Memories that a task has been told are stored, and what it has purged.
#[derive(Debug, Default)]
struct Ledger {
    tenant: String,
    /// Ids with the content that they must have.
    stored: Vec<(String, String)>,
    forgotten: Vec<String>,
    purged: Vec<(String, Vec<String>)>,
    batches: BTreeSet<String>,
}

#[test]
fn i_tenant_i_forget_i_once_i_durable_i_visible_i_atomic_hold_over_seeds() {
    for seed in dice::seeds(40) {
        eprintln!("seed {seed}");
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build()
            .unwrap();
        runtime.block_on(run(seed));
    }
}

async fn run(seed: u64) {
    let world = World::new(seed);
    let mut tasks = Vec::new();
    for tenant in ["acme", "globex"] {
        let processes: Vec<Process> = (0..3).map(|_| world.process(tenant)).collect();
        let processes = Arc::new(processes);
        for index in 0..processes.len() {
            let dice = Dice::new(seed ^ (index as u64 + 1) << 40 ^ (tenant.len() as u64) << 50);
            tasks.push(task(Arc::clone(&processes), index, tenant.to_owned(), dice));
        }
    }
    let ledgers = join_all(tasks).await;
    world.settle().await;
    for tenant in ["acme", "globex"] {
        let own: Vec<&Ledger> = ledgers
            .iter()
            .filter(|ledger| ledger.tenant == tenant)
            .collect();
        // A process that has seen nothing yet, on storage that works: what is left must be right.
        judge(seed, &world.calm_process(tenant), &own).await;
    }
}

async fn task(
    processes: Arc<Vec<Process>>,
    index: usize,
    tenant: String,
    mut dice: Dice,
) -> Ledger {
    let mut ledger = Ledger {
        tenant: tenant.clone(),
        ..Ledger::default()
    };
    let own = &processes[index];
    for step in 0..12 {
        let other = &processes[dice.below(processes.len())];
        let name = format!("{tenant} t{index} s{step}");
        match dice.below(6) {
            0 | 1 => {
                let content = format!("{name} fact");
                let id = own
                    .remember(std::slice::from_ref(&content), &name)
                    .await
                    .remove(0);
                assert_eq!(
                    other.content(&id).await.as_deref(),
                    Some(content.as_str()),
                    "I-VISIBLE {name}"
                );
                ledger.stored.push((id, content));
            }
            2 => {
                let contents: Vec<String> = (0..3).map(|n| format!("{name} batch {n}")).collect();
                let ids = own.remember(&contents, &name).await;
                ledger.batches.insert(format!("{name} batch"));
                ledger.stored.extend(ids.into_iter().zip(contents));
            }
            3 if !ledger.stored.is_empty() => {
                let at = dice.below(ledger.stored.len());
                let content = format!("{name} edited");
                own.update(&ledger.stored[at].0, &content, &name).await;
                assert_eq!(
                    other.content(&ledger.stored[at].0).await.as_deref(),
                    Some(content.as_str()),
                    "I-VISIBLE {name}"
                );
                let old = std::mem::replace(&mut ledger.stored[at].1, content);
                ledger
                    .batches
                    .retain(|batch| !old.starts_with(batch.as_str()));
            }
            4 if !ledger.stored.is_empty() => {
                let (id, content) = ledger.stored.swap_remove(dice.below(ledger.stored.len()));
                ledger
                    .batches
                    .retain(|batch| !content.starts_with(batch.as_str()));
                own.forget(&id, ForgetMode::Soft, &name).await;
                assert_eq!(other.content(&id).await, None, "I-VISIBLE {name}");
                ledger.forgotten.push(id);
            }
            5 if !ledger.stored.is_empty() => {
                let (id, content) = ledger.stored.swap_remove(dice.below(ledger.stored.len()));
                ledger
                    .batches
                    .retain(|batch| !content.starts_with(batch.as_str()));
                own.forget(&id, ForgetMode::Purge, &name).await;
                assert_eq!(other.content(&id).await, None, "I-FORGET {name}");
                ledger.purged.push((id, vec![content]));
            }
            _ => {
                let listed = other.listed().await;
                for content in &listed {
                    assert!(
                        content.starts_with(&tenant),
                        "I-TENANT: {tenant} sees {content:?}"
                    );
                }
                for batch in listed
                    .iter()
                    .filter_map(|content| content.split_once(" batch").map(|(name, _)| name))
                {
                    // Others may be forgetting theirs; a batch of this task's own is whole.
                    if ledger.batches.contains(&format!("{batch} batch")) {
                        let seen = listed
                            .iter()
                            .filter(|content| content.starts_with(&format!("{batch} batch")))
                            .count();
                        assert_eq!(seen, 3, "I-ATOMIC {batch}");
                    }
                }
            }
        }
    }
    ledger
}

async fn judge(seed: u64, process: &Process, ledgers: &[&Ledger]) {
    let listed = process.listed().await;
    let mut expected: Vec<&String> = ledgers
        .iter()
        .flat_map(|ledger| ledger.stored.iter().map(|(_, content)| content))
        .collect();
    let mut found: Vec<&String> = listed.iter().collect();
    expected.sort();
    found.sort();
    // Every call was repeated until it was acknowledged, so there is neither less
    // (I-DURABLE) nor more (I-ONCE) than what was acknowledged.
    assert_eq!(found, expected, "seed {seed}: I-DURABLE, I-ONCE");
    let newest = process.position().await;
    for ledger in ledgers {
        for id in &ledger.forgotten {
            assert_eq!(process.content(id).await, None, "seed {seed}");
        }
        for (id, contents) in &ledger.purged {
            assert!(
                process
                    .session
                    .history(HistoryRequest {
                        target: Reference::Id(id.clone()),
                        limit: None,
                        cursor: None,
                        freshness: Freshness::Strong
                    })
                    .await
                    .is_err(),
                "seed {seed}: I-FORGET history"
            );
            for content in contents {
                for position in (0..=newest).step_by(3) {
                    let past = process.recalled(content, Some(position)).await;
                    assert!(
                        !past.contains(content),
                        "seed {seed}: I-FORGET at {position}: {content}"
                    );
                }
            }
        }
    }
    let exported = process.exported().await;
    assert_eq!(exported.len(), listed.len(), "seed {seed}");
    assert!(
        exported
            .iter()
            .all(|content| content.starts_with(&ledgers[0].tenant)),
        "seed {seed}: I-TENANT"
    );
}
