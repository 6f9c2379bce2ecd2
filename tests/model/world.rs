//! The processes, what is on its way between them and the bucket, and what has ceased to
//! hold. How a process goes on is in `steps`.

use crate::store::{Bucket, Checkpoint, Content, Entry, Newest, Op, Seq, Time, View};

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Attempt {
    pub seq: Seq,
    pub view: Time,
    pub entry: Entry,
    pub sends: u8,
    pub answer: Option<Answer>,
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
    pub round: u8,
    pub stage: Stage,
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
    pub seq: Seq,
    pub entry: Entry,
    pub sender: u8,
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
    pub writers: Vec<Writer>,
    pub compactors: Vec<Compactor>,
    /// What clean-up has still to delete, as of its look.
    pub doomed: Vec<Doomed>,
    pub clean_ups: u8,
    /// Sorted.
    pub network: Vec<Message>,
    pub timeouts: u8,
    pub duplicates: u8,
    pub crashes: u8,
    pub acknowledged: Vec<Op>,
    /// Heads that were written, each of which a reader may get.
    pub heads: Vec<(Seq, Checkpoint)>,
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

impl World {
    /// The compactor goes on to its next checkpoint.
    pub fn next_round(&mut self, index: u8) {
        let compactor = &mut self.compactors[usize::from(index)];
        compactor.round += 1;
        compactor.stage = Stage::Idle;
    }

    pub fn send(&mut self, process: u8, view: &View, content: Content) -> Attempt {
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

    pub fn acknowledge(&mut self, writer: u8) {
        self.acknowledged.push(writer);
        self.acknowledged.sort_unstable();
        self.writers[usize::from(writer)] = Writer::Acknowledged;
    }

    /// Notes what does not hold any more, when readers saw `before` already.
    pub fn judge(&mut self, before: &View) {
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
