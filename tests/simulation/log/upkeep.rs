//! Those who compact: each lists what is due, folds the log into a segment, commits it and
//! cleans up. They are held up at the worst places, and get in each other's way.

use ostraca_object::due::{self, Due};
use ostraca_object::error::StoreError;
use ostraca_object::io::Request;
use ostraca_object::key::{Key, SegmentId, SegmentPart, Seq};
use ostraca_object::log::Freshness;
use ostraca_object::log::checkpoint::NewCheckpoint;
use ostraca_object::log::commit::Decision;
use ostraca_object::log::error::CommitError;
use ostraca_object::port::CommitId;

use crate::actors::wait;
use crate::dice::Dice;
use crate::registers::{Never, Registers};
use crate::world::{HORIZON_MS, Process, World, collection};

/// How often a reader asks before it believes that a segment is gone.
const PATIENCE: u64 = 40;

/// Compacts for ever.
pub async fn compact(world: World, compactor: u64, mut dice: Dice) {
    for round in 0_u64.. {
        wait(&world, &mut dice, 50_000).await;
        let process = world.process(dice.below(8));
        let Ok(due) = due::list(&process.io()).await else {
            continue;
        };
        // Some jobs come without a marker, as by hand.
        if due.is_empty() && dice.below(3) > 0 {
            continue;
        }
        let segment: SegmentId = format!("c{compactor}-r{round}").parse().unwrap();
        let id = CommitId(u128::from(compactor) << 100 | u128::from(round));
        if let Some(base) = fold(&world, &process, &segment, id, &mut dice).await {
            clear(&process, due, base, &mut dice).await;
            let cleaner = world.process(dice.below(8));
            // It may fail half-way; the next one goes on.
            let _ = cleaner.log.clean_up(&cleaner.io()).await;
        }
    }
}

/// One segment for the whole log, and the checkpoint that says so. Its base, if it counts.
async fn fold(
    world: &World,
    process: &Process,
    segment: &SegmentId,
    id: CommitId,
    dice: &mut Dice,
) -> Option<Seq> {
    let io = process.io();
    process.log.refresh(&io, Freshness::Strong).await.ok()?;
    let (base, order) = process.log.read(|registers, seq| (seq, registers.order()));
    for part in [SegmentPart::Rows, SegmentPart::Root] {
        let bytes = content(&order).into();
        let key = Key::Segment(collection(), segment.clone(), part);
        io.one(Request::Put { key, bytes }).await.ok()?;
        let most_ms = if dice.below(6) == 0 {
            3 * usize::try_from(HORIZON_MS).unwrap()
        } else {
            2_000
        };
        wait(world, dice, most_ms).await;
    }
    let new = NewCheckpoint {
        base,
        segments: vec![segment.to_string()],
        attachments: Vec::new(),
    };
    let committed = process
        .log
        .checkpoint(&io, id, new, |registers: &Registers, _, _| {
            Ok::<_, Never>(Decision::Commit {
                rows: registers.snapshot(),
                note: None,
                value: (),
            })
        })
        .await;
    match committed {
        Ok(_) => Some(base),
        Err(CommitError::Superseded { .. }) => {
            for part in [SegmentPart::Root, SegmentPart::Rows] {
                let key = Key::Segment(collection(), segment.clone(), part);
                // What stays, clean-up deletes.
                let _ = io.one(Request::Delete { key }).await;
            }
            None
        }
        // It may count all the same: the segment must stay.
        Err(_) => None,
    }
}

/// Clears what it had found, or what it finds now: markers may have come meanwhile.
async fn clear(process: &Process, found: Vec<Due>, base: Seq, dice: &mut Dice) {
    let due = match dice.below(2) {
        0 => found,
        _ => due::list(&process.io()).await.unwrap_or(found),
    };
    for due in due {
        // What stays costs a look.
        let _ = due::clear(&process.io(), &due, base).await;
    }
}

/// A segment that stands for the operations in their order.
fn content(order: &[u64]) -> Vec<u8> {
    order.iter().flat_map(|op| op.to_le_bytes()).collect()
}

/// I-FOLD: what the newest checkpoint refers to is there, and is how the log begins.
pub async fn check_segments(reader: &Process) {
    let mut refused = 0;
    let Some((mut seq, mut checkpoint)) = reader.log.newest_checkpoint() else {
        return;
    };
    for _ in 0..PATIENCE {
        let requests = checkpoint.segments.iter().flat_map(|segment| {
            [SegmentPart::Root, SegmentPart::Rows].map(|part| Request::Get {
                key: Key::Segment(collection(), segment.parse().unwrap(), part),
            })
        });
        let answers = reader.io().wave(requests.collect()).await;
        let order = content(&reader.log.read(|registers, _| registers.order()));
        let mut missing = None;
        for answer in answers {
            match answer {
                Ok(response) => assert!(
                    order.starts_with(&response.into_bytes()),
                    "I-FOLD: the segment at {seq} is not how the log begins"
                ),
                Err(StoreError::NotFound { key }) => missing = Some(key),
                Err(_) => refused += 1,
            }
        }
        let Some(missing) = missing else {
            return;
        };
        // Held up for longer than the horizon: there must be a newer one.
        let refreshed = reader.log.refresh(&reader.io(), Freshness::Strong).await;
        let Some((now, newest)) = reader.log.newest_checkpoint() else {
            return;
        };
        if refreshed.is_ok() {
            assert!(
                now > seq,
                "the newest checkpoint, {seq}, refers to {missing}, which is gone"
            );
            (seq, checkpoint) = (now, newest);
        }
    }
    assert!(refused > 0, "no checkpoint was ever whole");
}

/// No marker is lost while what it asks for remains to be done.
pub async fn check_markers(calm: &Process, marked: &[Seq]) {
    let due = due::list(&calm.io()).await.unwrap();
    let left: Vec<Seq> = due.into_iter().flat_map(|due| due.markers).collect();
    let newest = calm.log.newest_checkpoint();
    let base = newest.map_or(Seq::ZERO, |(_, checkpoint)| checkpoint.base);
    for entry in marked {
        assert!(
            *entry <= base || left.contains(entry),
            "the marker of {entry} is lost: {left:?} are left, and {base} is the base"
        );
    }
}
