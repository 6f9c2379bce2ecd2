//! The bucket and what a reader derives from it. A read is one look at the store.

/// A number in the log, from 1.
pub type Seq = u8;
/// An operation of a client, and the id of its commit.
pub type Op = u8;
/// Half horizons.
pub type Time = u8;

/// The horizon in ticks.
pub const HORIZON: Time = 2;
/// Half of it, after which a writer trusts nothing that it knew.
pub const HALF: Time = 1;

#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Content {
    /// One operation.
    Rows(Op),
    Checkpoint(Checkpoint),
}

/// An entry before it is in the store.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Entry {
    /// When it was decided on.
    pub time: Time,
    pub content: Content,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Checkpoint {
    /// Its commit.
    pub id: u8,
    pub floor: Seq,
    pub segment: u8,
    /// The operations after its base, which the segment does not have.
    pub rows: Vec<Op>,
    /// Checkpoints that may become the floor, and by when they were in the log.
    pub earlier: Vec<(Seq, Time)>,
    /// Segments that readers may still be reading, and since when at the latest.
    pub superseded: Vec<(u8, Option<Time>)>,
    /// The commits of checkpoints before it.
    pub recent: Vec<u8>,
}

/// An object of the log.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Stored {
    pub entry: Entry,
    /// When the store took it.
    pub at: Time,
}

/// A segment: all operations up to its base, in order.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Segment {
    pub id: u8,
    pub order: Vec<Op>,
    pub at: Time,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Bucket {
    /// By number, from 1.
    pub log: Vec<Option<Stored>>,
    pub segments: Vec<Segment>,
}

/// The newest checkpoint as a reader knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Newest {
    pub seq: Seq,
    pub checkpoint: Checkpoint,
    /// By when it was certainly in the log.
    pub stored_by: Time,
    /// When the store took it.
    pub at: Time,
}

/// What a reader that knows nothing derives.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct View {
    pub last: Seq,
    /// The operations in their order.
    pub order: Vec<Op>,
    pub newest: Option<Newest>,
    /// The newest checkpoint's segment, if it is gone.
    pub missing: Option<u8>,
}

impl Bucket {
    pub fn get(&self, seq: Seq) -> Option<&Stored> {
        self.log.get(usize::from(seq).checked_sub(1)?)?.as_ref()
    }

    /// Whether it was absent.
    pub fn create(&mut self, seq: Seq, entry: &Entry, at: Time) -> Created {
        let place = usize::from(seq) - 1;
        if self.log.len() <= place {
            self.log.resize(place + 1, None);
        }
        match &mut self.log[place] {
            Some(_) => Created::Exists,
            free => {
                *free = Some(Stored {
                    entry: entry.clone(),
                    at,
                });
                Created::Now
            }
        }
    }

    pub fn segment(&self, id: u8) -> Option<&Segment> {
        self.segments.iter().find(|segment| segment.id == id)
    }

    pub fn read(&self) -> View {
        let last = Seq::try_from(self.log.len()).unwrap();
        // What lies before a gap is void.
        let first = (1..=last)
            .rev()
            .take_while(|seq| self.get(*seq).is_some())
            .last()
            .unwrap_or(1);
        let newest = (first..=last).rev().find_map(|seq| {
            let stored = self.get(seq)?;
            let Content::Checkpoint(checkpoint) = &stored.entry.content else {
                return None;
            };
            let follower = self.get(seq + 1).map(|next| next.entry.time);
            Some(Newest {
                seq,
                checkpoint: checkpoint.clone(),
                stored_by: follower.unwrap_or(stored.at),
                at: stored.at,
            })
        });
        let (mut order, mut missing) = (Vec::new(), None);
        if let Some(newest) = &newest {
            match self.segment(newest.checkpoint.segment) {
                Some(segment) => order.extend(&segment.order),
                None => missing = Some(newest.checkpoint.segment),
            }
            order.extend(&newest.checkpoint.rows);
        }
        let after = newest.as_ref().map_or(first, |newest| newest.seq + 1);
        order.extend(self.operations(after, last));
        View {
            last,
            order,
            newest,
            missing,
        }
    }

    /// The operations of the entries from one to another.
    pub fn operations(&self, from: Seq, to: Seq) -> Vec<Op> {
        (from..=to)
            .filter_map(|seq| match self.get(seq)?.entry.content {
                Content::Rows(op) => Some(op),
                Content::Checkpoint(_) => None,
            })
            .collect()
    }

    pub fn delete_entry(&mut self, seq: Seq) {
        if let Some(place) = self.log.get_mut(usize::from(seq) - 1) {
            *place = None;
        }
    }

    pub fn delete_segment(&mut self, id: u8) {
        self.segments.retain(|segment| segment.id != id);
    }
}

/// What a create came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Created {
    Now,
    Exists,
}

impl View {
    pub fn floor(&self) -> Seq {
        self.newest
            .as_ref()
            .map_or(0, |newest| newest.checkpoint.floor)
    }

    /// Whether the commit of this entry is in the log.
    pub fn knows(&self, content: &Content) -> bool {
        match content {
            Content::Rows(op) => self.order.contains(op),
            Content::Checkpoint(checkpoint) => self.newest.as_ref().is_some_and(|newest| {
                newest.checkpoint.id == checkpoint.id
                    || newest.checkpoint.recent.contains(&checkpoint.id)
            }),
        }
    }
}

/// The checkpoint that follows `view`, decided on at `now`.
pub fn follow(view: &View, id: u8, segment: u8, rows: Vec<Op>, now: Time) -> Checkpoint {
    let mut next = Checkpoint {
        id,
        floor: view.floor(),
        segment,
        rows,
        earlier: Vec::new(),
        superseded: Vec::new(),
        recent: Vec::new(),
    };
    let Some(newest) = &view.newest else {
        return next;
    };
    let old = |time: Time| now.saturating_sub(time) > HORIZON;
    let before = &newest.checkpoint;
    next.earlier.clone_from(&before.earlier);
    next.earlier.push((newest.seq, newest.stored_by));
    if let Some((seq, _)) = next.earlier.iter().rev().find(|(_, time)| old(*time)) {
        next.floor = next.floor.max(*seq);
    }
    next.earlier.retain(|(_, time)| !old(*time));
    let dated = before
        .superseded
        .iter()
        .map(|(segment, time)| (*segment, time.or(Some(newest.stored_by))));
    next.superseded = dated
        .chain([(before.segment, None)])
        .filter(|(old, _)| *old != segment)
        .filter(|(_, time)| time.is_none_or(|time| !old(time)))
        .collect();
    next.recent.clone_from(&before.recent);
    next.recent.push(before.id);
    next
}
