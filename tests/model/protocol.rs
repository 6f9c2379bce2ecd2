//! The processes and every step that one of them, the network or time may take next.

use stateright::{Model, Property};

use crate::store::{
    Bucket, Checkpoint, Content, Created, Entry, HALF, HORIZON, Newest, Op, Segment, Seq, Time,
    View, follow,
};

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
pub struct Attempt {
    seq: Seq,
    view: Time,
    entry: Entry,
    sends: u8,
    answer: Option<Answer>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Answer {
    Created,
    Exists,
    Never,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Writer {
    /// It will read the log and decide.
    Idle,
    Sent(Attempt),
    Acknowledged,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Compactor {
    round: u8,
    stage: Stage,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Stage {
    Idle,
    /// It has read the log up to the base.
    Read {
        base: Seq,
        order: Vec<Op>,
    },
    /// Its segment is in the store.
    Built {
        base: Seq,
    },
    Sent {
        base: Seq,
        attempt: Attempt,
    },
}

/// A create on its way.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Message {
    seq: Seq,
    entry: Entry,
    sender: u8,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Doomed {
    Entry(Seq),
    Segment(u8),
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct World {
    pub now: Time,
    pub bucket: Bucket,
    writers: Vec<Writer>,
    compactors: Vec<Compactor>,
    /// What clean-up has still to delete, as of its look.
    doomed: Vec<Doomed>,
    clean_ups: u8,
    /// Sorted.
    network: Vec<Message>,
    timeouts: u8,
    duplicates: u8,
    crashes: u8,
    pub acknowledged: Vec<Op>,
    /// Heads that were written, each of which a reader may get.
    heads: Vec<(Seq, Checkpoint)>,
    /// What has ceased to hold. Nothing goes on from there.
    pub broken: Vec<Breach>,
}

/// An invariant that does not hold any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Breach {
    Durable,
    /// A reader saw operations in an order that is not how the log begins now.
    Order,
    Once,
    Floor,
    /// A segment is gone that the newest checkpoint names.
    Segment,
    Head,
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

impl Protocol {
    fn commit_of(&self, compactor: u8, round: u8) -> u8 {
        100 + compactor * self.rounds + round
    }

    fn attempt<'a>(&self, world: &'a World, process: u8) -> Option<&'a Attempt> {
        match world.writers.get(usize::from(process)) {
            Some(Writer::Sent(attempt)) => Some(attempt),
            Some(_) => None,
            None => match &world.compactors[usize::from(process - self.writers)].stage {
                Stage::Sent { attempt, .. } => Some(attempt),
                _ => None,
            },
        }
    }

    fn attempt_mut<'a>(&self, world: &'a mut World, process: u8) -> Option<&'a mut Attempt> {
        match world.writers.get_mut(usize::from(process)) {
            Some(Writer::Sent(attempt)) => Some(attempt),
            Some(_) => None,
            None => match &mut world.compactors[usize::from(process - self.writers)].stage {
                Stage::Sent { attempt, .. } => Some(attempt),
                _ => None,
            },
        }
    }

    fn processes(&self) -> std::ops::Range<u8> {
        0..self.writers + self.compactors
    }

    /// A writer reads the log, and decides on what it read.
    fn decide(&self, world: &mut World, process: u8) {
        let view = world.bucket.read();
        let content = Content::Rows(process);
        if view.knows(&content) {
            world.acknowledge(process);
            return;
        }
        let attempt = world.send(process, &view, content);
        world.writers[usize::from(process)] = Writer::Sent(attempt);
    }

    fn commit_checkpoint(&self, world: &mut World, index: u8) {
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
            self.next_round(world, index);
            return;
        }
        let newer = view.newest.as_ref().is_some_and(|newest| newest.seq > base);
        if newer && self.supersession == Rule::Kept {
            world.bucket.delete_segment(id);
            self.next_round(world, index);
            return;
        }
        let process = self.writers + index;
        let attempt = world.send(process, &view, Content::Checkpoint(checkpoint));
        world.compactors[usize::from(index)].stage = Stage::Sent { base, attempt };
    }

    fn next_round(&self, world: &mut World, index: u8) {
        let compactor = &mut world.compactors[usize::from(index)];
        compactor.round += 1;
        compactor.stage = Stage::Idle;
    }

    /// A process takes the answer to its create.
    fn hear(&self, world: &mut World, process: u8) {
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
                self.next_round(world, process - self.writers);
            }
        }
    }

    /// It did not come to be: decide anew.
    fn again(&self, world: &mut World, process: u8) {
        match world.writers.get_mut(usize::from(process)) {
            Some(writer) => *writer = Writer::Idle,
            None => {
                let compactor = &mut world.compactors[usize::from(process - self.writers)];
                if let Stage::Sent { base, .. } = compactor.stage {
                    compactor.stage = Stage::Built { base };
                }
            }
        }
    }

    fn look(&self, world: &mut World) {
        world.clean_ups += 1;
        let Some(newest) = world.bucket.read().newest else {
            return;
        };
        let checkpoint = &newest.checkpoint;
        world.doomed = (1..checkpoint.floor)
            .filter(|seq| world.bucket.get(*seq).is_some())
            .map(Doomed::Entry)
            .collect();
        let in_use = |id: u8| {
            id == checkpoint.segment
                || checkpoint.superseded.iter().any(|(segment, time)| {
                    *segment == id && world.now.saturating_sub(time.unwrap_or(newest.at)) <= HORIZON
                })
        };
        let unused = world.bucket.segments.iter().filter(|segment| {
            world.now.saturating_sub(segment.at) > HORIZON
                && (segment.at < newest.at || self.spare_new == Rule::Removed)
                && !in_use(segment.id)
        });
        world
            .doomed
            .extend(unused.map(|segment| Doomed::Segment(segment.id)));
    }
}

impl World {
    fn send(&mut self, process: u8, view: &View, content: Content) -> Attempt {
        let attempt = Attempt {
            seq: view.last + 1,
            view: self.now,
            entry: Entry {
                time: self.now,
                content,
            },
            sends: 1,
            answer: None,
        };
        self.network.push(Message {
            seq: attempt.seq,
            entry: attempt.entry.clone(),
            sender: process,
        });
        attempt
    }

    fn acknowledge(&mut self, writer: u8) {
        self.acknowledged.push(writer);
        self.acknowledged.sort_unstable();
        self.writers[usize::from(writer)] = Writer::Acknowledged;
    }

    /// Notes what does not hold any more, when readers saw `before` already.
    fn judge(&mut self, before: &View) {
        let view = self.bucket.read();
        if view.missing.is_some() {
            self.broken.push(Breach::Segment);
            return;
        }
        if !self.acknowledged.iter().all(|op| view.order.contains(op)) {
            self.broken.push(Breach::Durable);
        }
        let mut distinct = view.order.clone();
        distinct.sort_unstable();
        distinct.dedup();
        if distinct.len() != view.order.len() {
            self.broken.push(Breach::Once);
        }
        if !view.order.starts_with(&before.order) {
            self.broken.push(Breach::Order);
        }
        // A head is used if it connects to the listing and no newer checkpoint follows.
        let misleads = |newest: &Newest| {
            self.heads.iter().any(|(seq, checkpoint)| {
                *seq >= newest.seq && (*seq, checkpoint) != (newest.seq, &newest.checkpoint)
            })
        };
        if view.newest.as_ref().is_some_and(misleads) {
            self.broken.push(Breach::Head);
        }
    }
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
            Action::Decide(process) => self.decide(&mut world, process),
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
