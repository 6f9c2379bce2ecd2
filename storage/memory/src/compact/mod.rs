//! Compaction: folding the log's tail into segments, so that a reader that starts cold
//! reads an index and not the log. It may be run anywhere, twice at once, and be stopped
//! anywhere: until its checkpoint is in the log nothing refers to what it wrote, and
//! after that nothing is missing.

pub mod background;
mod build;
pub mod job;
mod merge;
mod plan;
mod readdress;
pub(crate) mod trigger;

use std::sync::Arc;

use bytes::Bytes;
use ostraca_object::error::StoreError;
use ostraca_object::io::{Io, Request};
use ostraca_object::key::{CollectionKey, Key, SegmentPart, Seq};
use ostraca_object::log::checkpoint::NewCheckpoint;
use ostraca_object::log::clean_up::CleanedUp;
use ostraca_object::log::commit::{At, Decision};
use ostraca_object::log::error::CommitError;
use ostraca_object::log::{Freshness, Log};
use ostraca_object::port::{CommitId, Timestamp};
use ostraca_object::probe::prove_create_only;
use ostraca_search::segment::Replaced;

use crate::catalogue::Catalogue;
use crate::change;
use crate::database::Database;
use crate::draft::Draft;
use crate::error::Result;
use crate::load;
use crate::profile::Profile;
use crate::receipt::Receipt;
use crate::row::Row;
use crate::session::{Halt, Session};
use crate::view::View;

use build::Purpose;
pub use plan::Effort;
use readdress::Readdress;

/// What a compaction did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Compacted {
    /// What came of it.
    pub outcome: CompactionOutcome,
    /// Changes that were folded into a segment for the first time.
    pub folded: u64,
    /// Rows that were written, those of merged segments included.
    pub rows: u64,
    /// Segments that the new one replaces.
    pub merged: u64,
    /// Segments there are now.
    pub segments: u64,
    /// What it took.
    pub receipt: Receipt,
}

/// What came of a compaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CompactionOutcome {
    /// There was nothing new.
    Nothing,
    /// A new checkpoint stands for everything up to its base.
    Committed,
    /// Another compaction was faster; what this one wrote is deleted again.
    Superseded,
}

/// What is there to be folded, at one moment.
struct Work {
    catalogue: Catalogue,
    recent: Vec<Row>,
    newest: Seq,
    profile: Option<String>,
}

impl Database {
    /// Folds what is new in a collection into segments.
    ///
    /// # Errors
    /// Unavailable if storage fails, Corrupt if a segment cannot be read. What was
    /// acknowledged is as safe as before; run it again.
    pub async fn compact(
        self: &Arc<Self>,
        collection: &CollectionKey,
        effort: Effort,
    ) -> Result<Compacted> {
        let log = self.log(collection);
        let io = self.io();
        log.refresh(&io, Freshness::Strong).await?;
        let Some(work) = work(&log, effort, self.now()) else {
            let (position, segments) =
                log.read(|view, seq| (seq, view.catalogue().segments.len() as u64));
            return Ok(Compacted {
                outcome: CompactionOutcome::Nothing,
                folded: 0,
                rows: 0,
                merged: 0,
                segments,
                receipt: Session::receipt(&io, position),
            });
        };
        prove_create_only(&io).await?;
        self.fold(&log, &io, work, effort).await
    }

    /// Deletes what no reader can need any more: entries below the floor, and segments
    /// that have been out of use for the horizon.
    ///
    /// # Errors
    /// Unavailable if storage fails; what was deleted until then stays deleted.
    pub async fn clean_up(self: &Arc<Self>, collection: &CollectionKey) -> Result<CleanedUp> {
        Ok(self.log(collection).clean_up(&self.io()).await?)
    }

    async fn fold(
        &self,
        log: &Arc<Log<View>>,
        io: &Io,
        work: Work,
        effort: Effort,
    ) -> Result<Compacted> {
        let Work {
            catalogue,
            recent,
            newest,
            profile,
        } = work;
        let folded = recent.len() as u64;
        let limit = self.whole_bytes();
        let is_large = catalogue.is_large || plan::bytes(&catalogue.segments, &recent) > limit;
        // Segments that were made to be read whole cannot be searched in place.
        let joined = if is_large == catalogue.is_large {
            plan::joined(&catalogue.segments, &recent, effort)
        } else {
            &catalogue.segments
        };
        let kept = catalogue.segments.len() - joined.len();
        let mut segments = catalogue.segments.get(..kept).unwrap_or_default().to_vec();
        let mut replaced = Replaced::default();
        for replaces in recent.iter().filter_map(|row| row.change.replaces.as_ref()) {
            replaced.add(replaces);
        }
        let mut rows = Vec::new();
        for (root, own) in load::whole_segments(log, io, joined).await? {
            for (segment, within) in root.replaced.segments() {
                replaced.add_all(segment, within);
            }
            rows.extend(own);
        }
        replaced.retain(|segment| segments.iter().any(|kept| kept.number() == segment));
        rows.extend(recent);
        let merged = merge::merge(rows);
        let first = joined
            .first()
            .map_or(catalogue.base.next(), |segment| segment.first);
        let mut attachments = load::roots(log, io, &segments).await?;
        let mut written = Vec::new();
        let mut readdress = Readdress::to(&segments);
        let rows = merged.len();
        if rows > 0 {
            let id = self.random().into();
            let purpose = if is_large {
                Purpose::Searching(profile, replaced)
            } else {
                Purpose::Reading
            };
            let built = build::build(id, merged, first, newest, purpose)?;
            written = self.store(log.collection(), io, &built).await?;
            attachments.push((load::root_name(&built.info.id), built.root));
            readdress.add(built.info.number(), built.live);
            segments.push(built.info);
        }
        let names = segments.iter().map(|segment| segment.id.to_string());
        let checkpoint = NewCheckpoint {
            base: newest,
            segments: names.collect(),
            attachments,
        };
        let next = Catalogue {
            base: newest,
            segments,
            is_large,
        };
        let count = next.segments.len() as u64;
        let committed = log
            .checkpoint(
                io,
                CommitId(self.random()),
                checkpoint,
                restate(next, readdress),
            )
            .await;
        let mut report = Compacted {
            outcome: CompactionOutcome::Committed,
            folded,
            rows: rows as u64,
            merged: joined.len() as u64,
            segments: count,
            receipt: Receipt::default(),
        };
        match committed {
            Ok(committed) => report.receipt = Session::receipt(io, committed.seq),
            Err(CommitError::Superseded { by }) => {
                discard(io, written).await?;
                report.outcome = CompactionOutcome::Superseded;
                report.receipt = Session::receipt(io, by);
            }
            Err(error) => return Err(error.into()),
        }
        Ok(report)
    }

    /// Stores a segment's objects and returns their names.
    async fn store(
        &self,
        collection: &CollectionKey,
        io: &Io,
        built: &build::Built,
    ) -> Result<Vec<Key>> {
        let key = |part| Key::Segment(collection.clone(), built.info.id.clone(), part);
        let parts = [
            (SegmentPart::Rows, Some(built.rows.clone())),
            (SegmentPart::Codes, built.codes.clone()),
            (SegmentPart::Postings, built.postings.clone()),
            (SegmentPart::Root, Some(built.root.clone())),
        ];
        let objects: Vec<(Key, Bytes)> = parts
            .into_iter()
            .filter_map(|(part, bytes)| Some((key(part), bytes?)))
            .collect();
        let keys = objects.iter().map(|(key, _)| key.clone()).collect();
        let requests = objects
            .into_iter()
            .map(|(key, bytes)| Request::Put { key, bytes })
            .collect();
        for answer in io.wave(requests).await {
            answer?;
        }
        Ok(keys)
    }
}

/// What there is to do, if there is anything.
fn work(log: &Log<View>, effort: Effort, now: Timestamp) -> Option<Work> {
    let newest_checkpoint = log.newest_checkpoint();
    let checkpoint = newest_checkpoint
        .as_ref()
        .map_or(Seq::ZERO, |(seq, _)| *seq);
    log.read(|view, newest| {
        let catalogue = view.catalogue();
        let is_current = newest == checkpoint && view.recent().is_empty();
        // Entries that the newest checkpoint superseded can only go once another one has
        // raised the floor: in a collection that nobody writes to, that is this one.
        let holds_back = newest_checkpoint.is_some_and(|(seq, checkpoint)| {
            let age = view.time_of(seq).map(|time| now.millis_since(time));
            effort == Effort::Major
                && checkpoint.floor < checkpoint.base
                && age.is_some_and(|age| age > log.settings().horizon_ms)
        });
        let is_due = !is_current || holds_back || plan::is_due(&catalogue.segments, effort);
        is_due.then(|| Work {
            catalogue: catalogue.clone(),
            recent: view.recent().to_vec(),
            newest,
            profile: Profile::of(view).map(|profile| profile.name()),
        })
    })
}

/// The rows of the checkpoint: its catalogue, the settings, and what was changed above
/// its base while it was built.
fn restate(
    next: Catalogue,
    readdress: Readdress,
) -> impl FnMut(&View, &mut Draft, At) -> Result<Decision<()>, Halt> + Send + 'static {
    move |view, _, _| {
        let rest = view.recent().iter();
        let rest = rest.filter(|row| row.place.seq > next.base.0).cloned();
        let rest = if next.is_large {
            readdress.apply(rest)
        } else {
            rest.collect()
        };
        let rows = next
            .changes(view.settings(), rest)
            .and_then(|changes| change::encode(&changes))
            .map_err(|corrupt| Halt::Refused(corrupt.into()))?;
        Ok(Decision::Commit {
            rows,
            note: None,
            value: (),
        })
    }
}

/// Deletes what nothing refers to.
async fn discard(io: &Io, keys: Vec<Key>) -> Result<(), StoreError> {
    let requests = keys.into_iter().map(|key| Request::Delete { key });
    for answer in io.wave(requests.collect()).await {
        answer?;
    }
    Ok(())
}
