//! Who acts in a run: clients that want each operation once and check it through other
//! processes, and a power cut. Those who compact are in `upkeep`.

use std::collections::BTreeSet;
use std::time::Duration;

use ostraca_object::due;
use ostraca_object::key::Seq;
use ostraca_object::log::Freshness;
use ostraca_object::log::error::CommitError;
use ostraca_object::port::{Clock, CommitId};

use crate::dice::Dice;
use crate::registers::{PAIRS, operation};
use crate::upkeep;
use crate::world::{HORIZON_MS, Process, World, collection};

/// Operations of one client.
const OPERATIONS: u64 = 14;
/// How often a client asks for one operation.
const PATIENCE: u64 = 12;

/// Whoever writes the entry with a multiple of this number leaves a marker.
const MARK_EVERY: u64 = 6;

/// What a client asked for and was told.
#[derive(Debug, Default)]
pub struct Told {
    pub client: u64,
    pub asked: BTreeSet<u64>,
    pub acknowledged: Vec<(u64, Seq)>,
}

pub async fn wait(world: &World, dice: &mut Dice, most_ms: usize) {
    let millis = dice.below(most_ms) as u64;
    world.clock().sleep(Duration::from_millis(millis)).await;
}

/// Asks for its operations one after the other, each until it is acknowledged, and then
/// looks for it through another process.
pub async fn client(world: World, client: u64, mut dice: Dice) -> Told {
    let mut told = Told {
        client,
        ..Told::default()
    };
    for number in 0..OPERATIONS {
        let op = client << 32 | number;
        told.asked.insert(op);
        let most_ms = if dice.below(4) == 0 { 60_000 } else { 4_000 };
        wait(&world, &mut dice, most_ms).await;
        let pair = dice.roll() % PAIRS;
        for _ in 0..PATIENCE {
            let process = world.process(dice.below(8));
            let Some(seq) = ask(&world, &process, op, pair, &mut dice).await else {
                wait(&world, &mut dice, 3_000).await;
                continue;
            };
            told.acknowledged.push((op, seq));
            if seq.0.is_multiple_of(MARK_EVERY)
                && due::mark(&process.io(), &collection(), seq).await.is_ok()
            {
                world.marked(seq);
            }
            let reader = world.process(dice.below(8));
            look_for(&world, &reader, op).await;
            break;
        }
    }
    told
}

/// One request, which a client or its connection may give up on.
async fn ask(world: &World, process: &Process, op: u64, pair: u64, dice: &mut Dice) -> Option<Seq> {
    let io = process.io();
    let commit = process
        .log
        .commit(&io, CommitId(u128::from(op)), operation(op, pair));
    let patience = match dice.below(10) {
        0 => dice.below(200) as u64,
        _ => 10 * HORIZON_MS,
    };
    let deadline = world.clock().sleep(Duration::from_millis(patience));
    match futures::future::select(std::pin::pin!(commit), std::pin::pin!(deadline)).await {
        futures::future::Either::Left((Ok(committed), _)) => Some(committed.seq),
        futures::future::Either::Left((Err(error), _)) => {
            let expected = matches!(
                error,
                CommitError::Log(_) | CommitError::Unknown { .. } | CommitError::Contended { .. }
            );
            assert!(expected, "{op:x}: {error}");
            None
        }
        futures::future::Either::Right(_) => None,
    }
}

/// I-VISIBLE: what was acknowledged is seen by whoever begins to read now.
async fn look_for(world: &World, reader: &Process, op: u64) {
    // A read may fail; one that answers must see it.
    for _ in 0..PATIENCE {
        if reader
            .log
            .refresh(&reader.io(), Freshness::Strong)
            .await
            .is_ok()
        {
            let order = reader.log.read(|registers, _| {
                registers.check("a reader");
                registers.order()
            });
            assert!(order.contains(&op), "I-VISIBLE {op:x} is not in {order:?}");
            world.saw(order);
            upkeep::check_segments(reader).await;
            return;
        }
    }
}

/// Kills processes at random, for ever. Their tasks are dropped where they are by the
/// clients' own deadlines; what they sent may still arrive.
pub async fn crash(world: World, mut dice: Dice) {
    loop {
        wait(&world, &mut dice, 80_000).await;
        world.replace(dice.below(8));
    }
}
