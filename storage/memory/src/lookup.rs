//! Looking names up in the segments: which rows have them, and those rows. It asks only
//! for the buckets of lists and the blocks of rows that it needs, in two waves.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use bytes::Bytes;
use ostraca_object::error::Corrupt;
use ostraca_object::io::{Io, Request};
use ostraca_object::key::{CollectionKey, Key, SegmentPart};
use ostraca_search::postings::{Bucket, TermHash, keys};
use ostraca_search::segment::{Root, read_block};

use crate::catalogue::SegmentInfo;
use crate::change::Event;
use crate::error::Result;
use crate::known::{Held, Known, Name};
use crate::row::{self, Row};
use crate::view::Version;

/// A segment that can be asked.
pub(crate) struct Asked<'a> {
    pub(crate) info: &'a SegmentInfo,
    pub(crate) root: Arc<Root>,
}

impl Name {
    fn term(&self) -> TermHash {
        match self {
            Self::Id(id) => keys::id(id),
            Self::Key(realm, scope, key) => keys::key(realm, scope, key),
            Self::Hash(realm, scope, hash) => keys::content_hash(realm, scope, hash),
        }
    }

    /// Whether a row that the lists gave has the name: hashes may collide.
    fn is_of(&self, row: &Row) -> bool {
        let record = &row.change.record;
        match self {
            Self::Id(id) => record.id == *id,
            Self::Key(realm, scope, key) => {
                record.realm == *realm && record.scope == *scope && record.key.as_ref() == Some(key)
            }
            Self::Hash(realm, scope, hash) => {
                record.realm == *realm
                    && record.scope == *scope
                    && record.key.is_none()
                    && record.content_hash == Some(*hash)
            }
        }
    }
}

/// Looks names up and adds what is found to what is known.
pub(crate) async fn look_up(
    collection: &CollectionKey,
    io: &Io,
    segments: &[Asked<'_>],
    names: BTreeSet<Name>,
    known: &mut Known,
) -> Result<()> {
    let found = rows_with(collection, io, segments, &names).await?;
    let rows = fetch(collection, io, segments, &found).await?;
    for name in names {
        let mut held: Vec<(usize, u32, &Row)> = Vec::new();
        for (index, docs) in found.get(&name).into_iter().flatten() {
            held.extend(docs.iter().filter_map(|doc| {
                let row = rows.get(&(*index, *doc))?;
                name.is_of(row).then_some((*index, *doc, row))
            }));
        }
        held.sort_by_key(|(_, _, row)| row.place);
        match &name {
            Name::Id(id) => {
                // Whatever lies before a purge is gone.
                let purged = held
                    .iter()
                    .rposition(|(_, _, row)| row.change.event == Event::Purged);
                let from = purged.map_or(0, |purged| purged + 1);
                let versions = held.into_iter().skip(from);
                let versions = versions.map(|(index, doc, row)| holding(segments, index, doc, row));
                known.learn_versions(id.clone(), versions.collect());
            }
            Name::Key(..) | Name::Hash(..) => {
                let holder = held
                    .into_iter()
                    .map(|(index, doc, row)| holding(segments, index, doc, row))
                    .rfind(|held| held.at.is_some());
                known.learn_holder(name, holder);
            }
        }
    }
    Ok(())
}

/// Rows by name and segment.
type Found = BTreeMap<Name, Vec<(usize, Vec<u32>)>>;

/// Which rows have the names, by the segments' lists.
async fn rows_with(
    collection: &CollectionKey,
    io: &Io,
    segments: &[Asked<'_>],
    names: &BTreeSet<Name>,
) -> Result<Found> {
    let mut wanted = Vec::new();
    for (index, segment) in segments.iter().enumerate() {
        for name in names {
            if let Some(range) = segment.root.postings.locate(name.term()) {
                wanted.push((index, name, range));
            }
        }
    }
    let mut ranges: Vec<(usize, std::ops::Range<u64>)> = wanted
        .iter()
        .map(|(index, _, range)| (*index, range.clone()))
        .collect();
    // Many names may lie in one bucket.
    ranges.sort_by_key(|(index, range)| (*index, range.start));
    ranges.dedup();
    let buckets = get(collection, io, segments, SegmentPart::Postings, &ranges).await?;
    let mut found = Found::new();
    for (index, name, range) in wanted {
        let Some(bytes) = buckets.get(&(index, range.start)) else {
            continue;
        };
        let docs = Bucket::open(bytes)
            .and_then(|bucket| bucket.find(name.term()))
            .and_then(|list| list.map(|list| list.postings()).transpose())
            .map_err(|error| {
                let key = key(collection, segments, index, SegmentPart::Postings);
                Corrupt::caused(key, "a bucket cannot be read", error)
            })?;
        let docs: Vec<u32> = docs
            .into_iter()
            .flatten()
            .map(|posting| posting.doc)
            .collect();
        if !docs.is_empty() {
            found.entry(name.clone()).or_default().push((index, docs));
        }
    }
    Ok(found)
}

/// The rows themselves.
async fn fetch(
    collection: &CollectionKey,
    io: &Io,
    segments: &[Asked<'_>],
    found: &Found,
) -> Result<BTreeMap<(usize, u32), Row>> {
    let mut wanted: BTreeMap<(usize, usize), Vec<(u32, u32)>> = BTreeMap::new();
    for (index, docs) in found.values().flatten() {
        let Some(segment) = segments.get(*index) else {
            continue;
        };
        for doc in docs {
            if let Some((block, within)) = segment.root.block_of(*doc) {
                wanted
                    .entry((*index, block))
                    .or_default()
                    .push((*doc, within));
            }
        }
    }
    let block = |index: usize, block: usize| {
        let segment = segments.get(index)?;
        segment.root.blocks.get(block).copied()
    };
    let ranges: Vec<(usize, std::ops::Range<u64>)> = wanted
        .keys()
        .filter_map(|(index, number)| {
            let block = block(*index, *number)?;
            Some((*index, block.offset..block.offset + u64::from(block.len)))
        })
        .collect();
    let blocks = get(collection, io, segments, SegmentPart::Rows, &ranges).await?;
    let mut rows = BTreeMap::new();
    for ((index, number), docs) in wanted {
        let (Some(block), Some(segment)) = (block(index, number), segments.get(index)) else {
            continue;
        };
        let Some(bytes) = blocks.get(&(index, block.offset)) else {
            continue;
        };
        let key = key(collection, segments, index, SegmentPart::Rows);
        let batch = read_block("a block of rows", &segment.root.schema, block, bytes)
            .map_err(|error| Corrupt::caused(key.as_str(), "a block cannot be read", error))?;
        for (doc, within) in docs {
            let one = batch.slice(within as usize, 1);
            if let Some(row) = row::decode(&key, &one)?.pop() {
                rows.insert((index, doc), row);
            }
        }
    }
    Ok(rows)
}

/// Ranges of one part of the segments, by segment and first byte.
async fn get(
    collection: &CollectionKey,
    io: &Io,
    segments: &[Asked<'_>],
    part: SegmentPart,
    ranges: &[(usize, std::ops::Range<u64>)],
) -> Result<BTreeMap<(usize, u64), Bytes>> {
    let requests = ranges.iter().filter_map(|(index, range)| {
        Some(Request::Range {
            key: Key::Segment(
                collection.clone(),
                segments.get(*index)?.info.id.clone(),
                part,
            ),
            range: range.clone(),
        })
    });
    let answers = io.wave(requests.collect()).await;
    let mut got = BTreeMap::new();
    for ((index, range), answer) in ranges.iter().zip(answers) {
        got.insert((*index, range.start), answer?.into_bytes());
    }
    Ok(got)
}

fn holding(segments: &[Asked<'_>], index: usize, doc: u32, row: &Row) -> Held {
    let at = segments.get(index).and_then(|segment| {
        let id = segment.info.number();
        let is_live = u64::from(doc) < segment.root.statistics.live;
        let newer = segments.iter().skip(index + 1);
        let is_replaced = newer
            .into_iter()
            .any(|newer| newer.root.replaced.contains(id, doc));
        (is_live && !is_replaced).then_some((id, doc))
    });
    Held {
        version: Version::of(row.clone()),
        at,
    }
}

fn key(
    collection: &CollectionKey,
    segments: &[Asked<'_>],
    index: usize,
    part: SegmentPart,
) -> String {
    segments.get(index).map_or_else(String::new, |segment| {
        Key::Segment(collection.clone(), segment.info.id.clone(), part).to_string()
    })
}
