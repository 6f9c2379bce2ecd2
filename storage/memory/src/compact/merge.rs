//! Merging rows: what of them stays, and in which order. It is a pure function, so that
//! compaction gives the same segment whoever runs it.

use std::collections::BTreeMap;

use ostraca_search::Status;

use crate::change::Event;
use crate::cursor::Place;
use crate::row::Row;

/// The rows of a segment.
#[derive(Debug, Default)]
pub(crate) struct Merged {
    /// The newest versions of what is not forgotten, scope by scope.
    pub(crate) live: Vec<Row>,
    /// Versions that others replaced, and what was forgotten or purged, in order.
    pub(crate) past: Vec<Row>,
}

impl Merged {
    /// How many rows there are.
    pub(crate) fn len(&self) -> usize {
        self.live.len() + self.past.len()
    }
}

/// What is known of a memory from all its rows.
#[derive(Debug, Clone, Copy)]
struct Memory {
    first: Place,
    last: Place,
    purged: Option<Place>,
}

/// Sorts rows of any order. Whatever was purged leaves nothing but the purge itself,
/// which older segments still have to be told of.
pub(crate) fn merge(rows: Vec<Row>) -> Merged {
    let mut memories: BTreeMap<String, Memory> = BTreeMap::new();
    for row in &rows {
        let purged = (row.change.event == Event::Purged).then_some(row.place);
        let memory = Memory {
            first: row.first,
            last: row.place,
            purged,
        };
        memories
            .entry(row.change.record.id.clone())
            .and_modify(|known| {
                known.first = known.first.min(memory.first);
                known.last = known.last.max(memory.last);
                known.purged = known.purged.max(purged);
            })
            .or_insert(memory);
    }
    let mut merged = Merged::default();
    for mut row in rows {
        let Some(memory) = memories.get(&row.change.record.id) else {
            continue;
        };
        if memory.purged.is_some_and(|purged| row.place < purged) {
            continue;
        }
        row.first = memory.first;
        // It names a row of a segment that may be gone by now.
        row.change.replaces = None;
        let is_live = row.place == memory.last
            && row.change.event != Event::Purged
            && row.change.record.status != Status::Deleted;
        if is_live {
            merged.live.push(row);
        } else {
            merged.past.push(row);
        }
    }
    merged.live.sort_by(|a, b| {
        let (x, y) = (&a.change.record, &b.change.record);
        (&x.realm, &x.scope, a.place).cmp(&(&y.realm, &y.scope, b.place))
    });
    merged.past.sort_by_key(|row| row.place);
    merged
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::row::tests::{purge, row};

    fn ids(rows: &[Row]) -> Vec<(u64, &str)> {
        rows.iter()
            .map(|row| (row.place.seq, row.change.record.id.as_str()))
            .collect()
    }

    #[test]
    fn newest_versions_are_live_and_older_ones_past() {
        let merged = merge(vec![row(3, "b"), row(1, "a"), row(2, "a")]);
        assert_eq!(ids(&merged.live), [(2, "a"), (3, "b")]);
        assert_eq!(ids(&merged.past), [(1, "a")]);
        assert_eq!(merged.live[0].first.seq, 1);
    }

    #[test]
    fn a_purge_leaves_itself_alone() {
        let merged = merge(vec![row(1, "a"), row(2, "a"), purge(3, "a"), row(4, "b")]);
        assert_eq!(ids(&merged.live), [(4, "b")]);
        assert_eq!(ids(&merged.past), [(3, "a")]);
    }

    #[test]
    fn what_is_forgotten_is_past() {
        let mut forgotten = row(2, "a");
        let mut record = (*forgotten.change.record).clone();
        record.status = Status::Deleted;
        forgotten.change.record = record.into();
        let merged = merge(vec![row(1, "a"), forgotten]);
        assert!(merged.live.is_empty());
        assert_eq!(ids(&merged.past), [(1, "a"), (2, "a")]);
    }
}
