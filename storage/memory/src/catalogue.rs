//! The catalogue of a collection: which segments stand for the log up to a base, and
//! what is known of each. It is a row of the checkpoint that made it, so whoever reads
//! the log knows it without another request; it holds no memory's content.

use ostraca_object::error::Corrupt;
use ostraca_object::key::{SegmentId, Seq};
use ostraca_object::port::Timestamp;
use ostraca_search::{Record, ScopePath};
use serde::{Deserialize, Serialize};

use crate::change::{Change, Event};
use crate::cursor::Place;
use crate::row::Row;

/// The segments of a collection.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Catalogue {
    /// The last entry that the segments stand for.
    pub(crate) base: Seq,
    /// The segments, oldest first; each stands for entries after those of the one before.
    pub(crate) segments: Vec<SegmentInfo>,
    /// Whether they are so much that processes search them in place instead of holding
    /// all they have. Once that is so it stays, as changes then say what they replace.
    #[serde(default)]
    pub(crate) is_large: bool,
}

/// What is known of a segment without reading it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SegmentInfo {
    /// Its name.
    pub(crate) id: SegmentId,
    /// Its rows.
    pub(crate) rows: u64,
    /// Of these, what a search for the present sees.
    pub(crate) live: u64,
    /// The first entry that it stands for.
    pub(crate) first: Seq,
    /// The last.
    pub(crate) last: Seq,
    /// Bytes of its root.
    pub(crate) root_bytes: u64,
    /// CRC-32 of its root.
    pub(crate) root_crc: u32,
    /// Bytes of its rows.
    pub(crate) row_bytes: u64,
    /// Bytes of its codes; 0 if it has none.
    pub(crate) code_bytes: u64,
    /// Bytes of its posting lists.
    pub(crate) posting_bytes: u64,
}

impl SegmentInfo {
    /// Bytes of all its objects.
    pub(crate) fn bytes(&self) -> u64 {
        self.root_bytes + self.row_bytes + self.code_bytes + self.posting_bytes
    }

    /// Its name as the number that it is.
    pub(crate) fn number(&self) -> u128 {
        u128::from_str_radix(self.id.as_str(), 16).unwrap_or_default()
    }
}

/// The catalogue as its row has it: with the places of the rows that follow it, which
/// the checkpoint repeats from entries before it.
#[derive(Debug, Serialize, Deserialize)]
struct Stored {
    #[serde(flatten)]
    catalogue: Catalogue,
    repeated: Vec<Repeated>,
}

/// `[seq, row, time_ms, first_seq, first_row]`
type Repeated = (u64, u32, Timestamp, u64, u32);

const NAME: &str = "catalogue";

impl Catalogue {
    /// The rows of a checkpoint: the catalogue, the settings as they are, and the changes
    /// that no segment has.
    ///
    /// # Errors
    /// [`Corrupt`] if the catalogue cannot be put into JSON.
    pub(crate) fn changes(
        &self,
        settings: Vec<Change>,
        rest: Vec<Row>,
    ) -> Result<Vec<Change>, Corrupt> {
        let stored = Stored {
            catalogue: self.clone(),
            repeated: rest
                .iter()
                .map(|row| {
                    let (place, first) = (row.place, row.first);
                    (place.seq, place.row, row.time, first.seq, first.row)
                })
                .collect(),
        };
        let value = serde_json::to_value(stored)
            .map_err(|error| Corrupt::caused("a new checkpoint", "the catalogue", error))?;
        let mut record = Record::new(NAME, ScopePath::root(), String::new(), 0);
        record.value = Some(value);
        let mut changes = vec![Change {
            event: Event::Catalogue,
            reason: None,
            record: record.into(),
            replaces: None,
        }];
        changes.extend(settings);
        changes.extend(rest.into_iter().map(|row| row.change));
        Ok(changes)
    }

    /// The catalogue of a checkpoint, its settings, and the changes that no segment has;
    /// nothing if there is no catalogue among the rows.
    ///
    /// # Errors
    /// [`Corrupt`] naming `key` if the catalogue does not fit the rows.
    pub(crate) fn split(key: &str, changes: &[Change]) -> Result<Option<Split>, Corrupt> {
        let Some((first, rest)) = changes.split_first() else {
            return Ok(None);
        };
        if first.event != Event::Catalogue {
            return Ok(None);
        }
        let value = first.record.value.as_ref();
        let stored = value
            .map(Stored::deserialize)
            .transpose()
            .map_err(|error| Corrupt::caused(key, "its catalogue cannot be read", error))?
            .ok_or_else(|| Corrupt::new(key, "its catalogue is empty"))?;
        let (settings, repeated): (Vec<&Change>, Vec<&Change>) = rest
            .iter()
            .partition(|change| change.event == Event::Setting);
        if repeated.len() != stored.repeated.len() {
            return Err(Corrupt::new(
                key,
                "its catalogue has other places than rows",
            ));
        }
        let rows = repeated.into_iter().zip(stored.repeated);
        Ok(Some(Split {
            catalogue: stored.catalogue,
            settings: settings.into_iter().cloned().collect(),
            rows: rows
                .map(|(change, (seq, row, time, first_seq, first_row))| Row {
                    place: Place { seq, row },
                    time,
                    first: Place {
                        seq: first_seq,
                        row: first_row,
                    },
                    change: change.clone(),
                })
                .collect(),
        }))
    }
}

/// A checkpoint's rows, sorted out.
#[derive(Debug)]
pub(crate) struct Split {
    pub(crate) catalogue: Catalogue,
    pub(crate) settings: Vec<Change>,
    pub(crate) rows: Vec<Row>,
}
