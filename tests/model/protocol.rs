//! How much there is of everything, which step may come next, and what must hold after
//! each. What a step does is in `steps`.

use stateright::{Model, Property};

use crate::store::{Bucket, Created, Segment, Time, View};
use crate::world::{Answer, Breach, Compactor, Doomed, Stage, World, Writer};

/// A rule that can be taken away.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    Kept,
    Removed,
}

/// How much there is of everything. Small numbers go far: what they allow is explored whole.
#[derive(Clone, Debug)]
pub struct Protocol {
    pub writers: u8,
    pub compactors: u8,
    /// Checkpoints that each compactor tries to commit.
    pub rounds: u8,
    pub clean_ups: u8,
    pub last_tick: Time,
    /// Answers that do not come in time.
    pub timeouts: u8,
    /// Requests that arrive twice.
    pub duplicates: u8,
    pub crashes: u8,
    /// A writer with an old view looks before it acknowledges.
    pub fence: Rule,
    /// A checkpoint is refused if there is a newer one above its base.
    pub supersession: Rule,
    /// What was superseded stays for the horizon before its number is void.
    pub horizon: Rule,
    /// Clean-up spares unused segments that were written since the newest checkpoint.
    pub spare_new: Rule,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Action {
    Tick,
    Decide(u8),
    /// A create arrives, and may arrive once more.
    Arrive(usize, Again),
    Hear(u8),
    Timeout(u8),
    Crash(u8),
    ReadLog(u8),
    PutSegment(u8),
    CommitCheckpoint(u8),
    Look,
    Delete,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Again {
    No,
    Yes,
}

impl Model for Protocol {
    type State = World;
    type Action = Action;

    fn init_states(&self) -> Vec<World> {
        vec![World {
            now: 0,
            bucket: Bucket::default(),
            writers: vec![Writer::Idle; usize::from(self.writers)],
            compactors: vec![
                Compactor {
                    round: 0,
                    stage: Stage::Idle
                };
                usize::from(self.compactors)
            ],
            doomed: Vec::new(),
            clean_ups: 0,
            network: Vec::new(),
            timeouts: 0,
            duplicates: 0,
            crashes: 0,
            acknowledged: Vec::new(),
            heads: Vec::new(),
            broken: Vec::new(),
        }]
    }

    fn actions(&self, world: &World, actions: &mut Vec<Action>) {
        if !world.broken.is_empty() {
            return;
        }
        let view = world.bucket.read();
        let readable = view.missing.is_none();
        if world.now < self.last_tick {
            actions.push(Action::Tick);
        }
        for (index, writer) in (0..).zip(&world.writers) {
            if *writer == Writer::Idle && readable {
                actions.push(Action::Decide(index));
            }
            if matches!(writer, Writer::Sent(_)) && world.crashes < self.crashes {
                actions.push(Action::Crash(index));
            }
        }
        for (index, compactor) in (0..).zip(&world.compactors) {
            match &compactor.stage {
                Stage::Idle if compactor.round < self.rounds && readable && view.last > 0 => {
                    actions.push(Action::ReadLog(index));
                }
                Stage::Read { .. } => actions.push(Action::PutSegment(index)),
                Stage::Built { .. } if readable => actions.push(Action::CommitCheckpoint(index)),
                _ => {}
            }
        }
        for process in self.processes() {
            match self.attempt(world, process).map(|attempt| attempt.answer) {
                Some(Some(_)) if readable => actions.push(Action::Hear(process)),
                Some(None) if world.timeouts < self.timeouts => {
                    actions.push(Action::Timeout(process));
                }
                _ => {}
            }
        }
        for index in 0..world.network.len() {
            actions.push(Action::Arrive(index, Again::No));
            if world.duplicates < self.duplicates {
                actions.push(Action::Arrive(index, Again::Yes));
            }
        }
        if !world.doomed.is_empty() {
            actions.push(Action::Delete);
        } else if world.clean_ups < self.clean_ups && view.newest.is_some() {
            actions.push(Action::Look);
        }
    }

    fn next_state(&self, before: &World, action: Action) -> Option<World> {
        let mut world = before.clone();
        match action {
            Action::Tick => world.now += 1,
            Action::Decide(process) => Self::decide(&mut world, process),
            Action::Arrive(index, again) => {
                let message = match again {
                    Again::No => world.network.remove(index),
                    Again::Yes => {
                        world.duplicates += 1;
                        world.network[index].clone()
                    }
                };
                let created = world.bucket.create(message.seq, &message.entry, world.now);
                if let Some(attempt) = self.attempt_mut(&mut world, message.sender)
                    && attempt.answer.is_none()
                    && (attempt.seq, &attempt.entry) == (message.seq, &message.entry)
                {
                    attempt.answer = Some(match created {
                        Created::Now => Answer::Created,
                        Created::Exists => Answer::Exists,
                    });
                }
            }
            Action::Hear(process) => self.hear(&mut world, process),
            Action::Timeout(process) => {
                world.timeouts += 1;
                self.attempt_mut(&mut world, process)?.answer = Some(Answer::Never);
            }
            Action::Crash(process) => {
                world.crashes += 1;
                self.again(&mut world, process);
            }
            Action::ReadLog(index) => {
                let view = world.bucket.read();
                world.compactors[usize::from(index)].stage = Stage::Read {
                    base: view.last,
                    order: view.order,
                };
            }
            Action::PutSegment(index) => {
                let compactor = &mut world.compactors[usize::from(index)];
                let Stage::Read { base, order } = compactor.stage.clone() else {
                    return None;
                };
                compactor.stage = Stage::Built { base };
                let id = self.commit_of(index, compactor.round);
                let at = world.now;
                world.bucket.segments.push(Segment { id, order, at });
                world.bucket.segments.sort_by_key(|segment| segment.id);
            }
            Action::CommitCheckpoint(index) => self.commit_checkpoint(&mut world, index),
            Action::Look => self.look(&mut world),
            Action::Delete => match world.doomed.remove(0) {
                Doomed::Entry(seq) => world.bucket.delete_entry(seq),
                Doomed::Segment(id) => world.bucket.delete_segment(id),
            },
        }
        world.network.sort();
        if world.bucket != before.bucket {
            world.judge(&before.bucket.read());
        } else if world.acknowledged != before.acknowledged {
            world.judge(&View::default());
        }
        Some(world)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always("I-DURABLE", |_, world: &World| {
                !world.broken.contains(&Breach::Durable)
            }),
            Property::always("I-ORDER", |_, world: &World| {
                !world.broken.contains(&Breach::Order)
            }),
            Property::always("I-ONCE", |_, world: &World| {
                !world.broken.contains(&Breach::Once)
            }),
            Property::always("I-FLOOR", |_, world: &World| {
                !world.broken.contains(&Breach::Floor)
            }),
            // As no reader finds one missing, none starts from one for ever.
            Property::always("no live segment is deleted", |_, world: &World| {
                !world.broken.contains(&Breach::Segment)
            }),
            Property::always("no head misleads", |_, world: &World| {
                !world.broken.contains(&Breach::Head)
            }),
            // These show that the model does something at all.
            Property::sometimes("a number is free again", |model: &Self, world: &World| {
                model.clean_ups == 0 || world.bucket.log.first() == Some(&None)
            }),
            Property::sometimes("all is acknowledged", |model: &Self, world: &World| {
                world.acknowledged.len() == usize::from(model.writers)
            }),
        ]
    }
}
