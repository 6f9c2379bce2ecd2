//! What each process does next, as `storage/object/src/log` has it: `attempt`, `decide`,
//! `checkpoint` and `clean_up`.

use crate::protocol::{Protocol, Rule};
use crate::store::{Content, HALF, HORIZON, Time, follow};
use crate::world::{Answer, Attempt, Breach, Doomed, Message, Stage, World, Writer};

impl Protocol {
    pub fn commit_of(&self, compactor: u8, round: u8) -> u8 {
        100 + compactor * self.rounds + round
    }

    pub fn attempt<'a>(&self, world: &'a World, process: u8) -> Option<&'a Attempt> {
        match world.writers.get(usize::from(process)) {
            Some(Writer::Sent(attempt)) => Some(attempt),
            Some(_) => None,
            None => match &world.compactors[usize::from(process - self.writers)].stage {
                Stage::Sent { attempt, .. } => Some(attempt),
                _ => None,
            },
        }
    }

    pub fn attempt_mut<'a>(&self, world: &'a mut World, process: u8) -> Option<&'a mut Attempt> {
        match world.writers.get_mut(usize::from(process)) {
            Some(Writer::Sent(attempt)) => Some(attempt),
            Some(_) => None,
            None => match &mut world.compactors[usize::from(process - self.writers)].stage {
                Stage::Sent { attempt, .. } => Some(attempt),
                _ => None,
            },
        }
    }

    pub fn processes(&self) -> std::ops::Range<u8> {
        0..self.writers + self.compactors
    }

    /// A writer reads the log, and decides on what it read.
    pub fn decide(world: &mut World, process: u8) {
        let view = world.bucket.read();
        let content = Content::Rows(process);
        if view.knows(&content) {
            world.acknowledge(process);
            return;
        }
        let attempt = world.send(process, &view, content);
        world.writers[usize::from(process)] = Writer::Sent(attempt);
    }

    pub fn commit_checkpoint(&self, world: &mut World, index: u8) {
        let view = world.bucket.read();
        let compactor = world.compactors[usize::from(index)].clone();
        let Stage::Built { base } = compactor.stage else {
            return;
        };
        let id = self.commit_of(index, compactor.round);
        let rows = world.bucket.operations(base + 1, view.last);
        let mut checkpoint = follow(&view, id, id, rows, world.now);
        if self.horizon == Rule::Removed
            && let Some(newest) = &view.newest
        {
            checkpoint.floor = newest.seq;
        }
        if view.knows(&Content::Checkpoint(checkpoint.clone())) {
            world.next_round(index);
            return;
        }
        let newer = view.newest.as_ref().is_some_and(|newest| newest.seq > base);
        if newer && self.supersession == Rule::Kept {
            world.bucket.delete_segment(id);
            world.next_round(index);
            return;
        }
        let process = self.writers + index;
        let attempt = world.send(process, &view, Content::Checkpoint(checkpoint));
        world.compactors[usize::from(index)].stage = Stage::Sent { base, attempt };
    }

    /// A process takes the answer to its create.
    pub fn hear(&self, world: &mut World, process: u8) {
        let Some(attempt) = self.attempt(world, process).cloned() else {
            return;
        };
        let own = |world: &World| {
            world
                .bucket
                .get(attempt.seq)
                .map(|stored| stored.entry == attempt.entry)
        };
        let old = world.now.saturating_sub(attempt.view) > HALF;
        let outcome = match attempt.answer {
            Some(Answer::Created) => Some(true),
            _ => own(world),
        };
        match outcome {
            Some(true) if !old || self.fence == Rule::Removed => self.won(world, process, &attempt),
            Some(true) => {
                if world.bucket.read().knows(&attempt.entry.content) {
                    self.won(world, process, &attempt);
                } else {
                    self.again(world, process);
                }
            }
            Some(false) => self.again(world, process),
            // Nothing is there: it may be on its way.
            None if old && self.fence == Rule::Kept => self.again(world, process),
            None if attempt.sends > 1 => {}
            None => {
                let message = Message {
                    seq: attempt.seq,
                    entry: attempt.entry.clone(),
                    sender: process,
                };
                if let Some(attempt) = self.attempt_mut(world, process) {
                    attempt.sends += 1;
                    attempt.answer = None;
                }
                world.network.push(message);
            }
        }
    }

    fn won(&self, world: &mut World, process: u8, attempt: &Attempt) {
        let view = world.bucket.read();
        let known = view.knows(&attempt.entry.content);
        if attempt.seq < view.floor() && !known {
            world.broken.push(Breach::Floor);
        }
        match &attempt.entry.content {
            Content::Rows(_) => world.acknowledge(process),
            Content::Checkpoint(checkpoint) => {
                world.heads.push((attempt.seq, checkpoint.clone()));
                world.next_round(process - self.writers);
            }
        }
    }

    /// It did not come to be: decide anew.
    pub fn again(&self, world: &mut World, process: u8) {
        if let Some(writer) = world.writers.get_mut(usize::from(process)) {
            *writer = Writer::Idle;
        } else {
            let compactor = &mut world.compactors[usize::from(process - self.writers)];
            if let Stage::Sent { base, .. } = compactor.stage {
                compactor.stage = Stage::Built { base };
            }
        }
    }

    /// Clean-up chooses what to delete; it deletes later.
    pub fn look(&self, world: &mut World) {
        world.clean_ups += 1;
        let Some(newest) = world.bucket.read().newest else {
            return;
        };
        let checkpoint = &newest.checkpoint;
        world.doomed = (1..checkpoint.floor)
            .filter(|seq| world.bucket.get(*seq).is_some())
            .map(Doomed::Entry)
            .collect();
        let old = |time: Time| world.now.saturating_sub(time) > HORIZON;
        let superseded = |id: u8| checkpoint.superseded.iter().find(|(old, _)| *old == id);
        let unused = world.bucket.segments.iter().filter(|segment| {
            if segment.id == checkpoint.segment {
                return false;
            }
            match superseded(segment.id) {
                Some((_, since)) => old(since.unwrap_or(newest.at)),
                // A newer one may belong to a compaction that has not committed yet.
                None => {
                    old(segment.at) && (segment.at < newest.at || self.spare_new == Rule::Removed)
                }
            }
        });
        world
            .doomed
            .extend(unused.map(|segment| Doomed::Segment(segment.id)));
    }
}
