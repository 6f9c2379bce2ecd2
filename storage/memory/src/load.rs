//! Bringing a view up to date, segments included: the rows that a checkpoint only refers
//! to are fetched beside the log's tail, in the same wave. It must not decide what a
//! checkpoint stands for; the catalogue says that.

use std::collections::BTreeMap;

use bytes::Bytes;
use ostraca_object::error::{Corrupt, StoreError};
use ostraca_object::io::{Io, Request, Response};
use ostraca_object::key::{CollectionKey, Key, SegmentId, SegmentPart, Seq};
use ostraca_object::log::refresh::Refresh;
use ostraca_object::log::{Freshness, Log};
use ostraca_search::segment::{Root, read_block};

use crate::catalogue::{Catalogue, SegmentInfo};
use crate::change;
use crate::error::{Error, ErrorKind, Result};
use crate::row::{self, Row};
use crate::view::View;

/// How often a view may move to other segments while their rows are fetched.
const ATTEMPTS: u32 = 8;
/// The name in the head of a segment's root.
const ROOT: &str = "root:";

/// The name under which a head carries a segment's root.
pub(crate) fn root_name(segment: &SegmentId) -> String {
    format!("{ROOT}{segment}")
}

/// What was fetched of segments, by name: root and rows.
type Fetched = BTreeMap<SegmentId, (Bytes, Bytes)>;

/// Brings the log up to date and the view to be whole.
pub(crate) async fn refresh(log: &Log<View>, io: &Io, freshness: Freshness) -> Result<Seq> {
    let mut fetched = Fetched::new();
    let mut asked = false;
    let mut refresh = log.start_refresh(io.clock().now(), freshness);
    while !refresh.is_done() {
        let mut requests = refresh.requests();
        let own = requests.len();
        // The head says what the tail is likely to stand on: no need to wait for the tail.
        let segments = if asked { Vec::new() } else { hinted(&refresh) };
        asked |= !segments.is_empty();
        requests.extend(wanted(log, &segments));
        let mut answers = io.wave(requests).await;
        let extra = answers.split_off(own.min(answers.len()));
        take(log, &segments, extra, &mut fetched).ok();
        refresh.feed(answers)?;
    }
    whole(log, io, fetched).await?;
    Ok(log.read(|_, seq| seq))
}

/// Brings what the view waits for, if it does.
pub(crate) async fn complete(log: &Log<View>, io: &Io) -> Result<()> {
    whole(log, io, Fetched::new()).await
}

async fn whole(log: &Log<View>, io: &Io, mut fetched: Fetched) -> Result<()> {
    for _ in 0..ATTEMPTS {
        let waiting = log.read(|view, _| (!view.is_whole()).then(|| view.catalogue().clone()));
        let Some(catalogue) = waiting else {
            return Ok(());
        };
        let missing: Vec<SegmentInfo> = catalogue
            .segments
            .iter()
            .filter(|segment| !fetched.contains_key(&segment.id))
            .cloned()
            .collect();
        let answers = io.wave(wanted(log, &missing)).await;
        match take(log, &missing, answers, &mut fetched) {
            Ok(()) => {}
            // Compacted away since: the log says by what.
            Err(StoreError::NotFound { .. }) => {
                log.refresh(io, Freshness::Strong).await?;
                continue;
            }
            Err(error) => return Err(error.into()),
        }
        let rows = rows(log.collection(), &catalogue.segments, &fetched)?;
        log.amend(|view| view.install(&catalogue, rows));
    }
    Err(Error::new(
        ErrorKind::Unavailable {
            retry_after: std::time::Duration::from_secs(1),
        },
        "the collection was compacted each time it was read; try again",
    ))
}

/// The rows of some segments.
pub(crate) async fn segments(
    log: &Log<View>,
    io: &Io,
    segments: &[SegmentInfo],
) -> Result<Vec<Row>> {
    let mut fetched = Fetched::new();
    let answers = io.wave(wanted(log, segments)).await;
    take(log, segments, answers, &mut fetched)?;
    rows(log.collection(), segments, &fetched)
}

/// The roots of segments that a head has carried, to be carried on.
pub(crate) fn roots(log: &Log<View>, segments: &[SegmentInfo]) -> Vec<(String, Bytes)> {
    segments
        .iter()
        .filter_map(|segment| {
            let name = root_name(&segment.id);
            let root = log.attachment(&name)?;
            Some((name, root))
        })
        .collect()
}

/// The segments of the checkpoint in the head.
fn hinted(refresh: &Refresh<'_, View>) -> Vec<SegmentInfo> {
    let Some(entry) = refresh.hinted() else {
        return Vec::new();
    };
    change::decode("the head", &entry.rows)
        .and_then(|changes| Catalogue::split("the head", &changes))
        .ok()
        .flatten()
        .map(|split| split.catalogue.segments)
        .unwrap_or_default()
}

/// Requests for the segments: the root, unless the head carried it, and the rows.
fn wanted(log: &Log<View>, segments: &[SegmentInfo]) -> Vec<Request> {
    let part = |segment: &SegmentInfo, part| Request::Get {
        key: Key::Segment(log.collection().clone(), segment.id.clone(), part),
    };
    segments
        .iter()
        .flat_map(|segment| {
            let root = log
                .attachment(&root_name(&segment.id))
                .is_none()
                .then(|| part(segment, SegmentPart::Root));
            root.into_iter().chain([part(segment, SegmentPart::Rows)])
        })
        .collect()
}

/// Takes the answers to [`wanted`], in their order.
fn take(
    log: &Log<View>,
    segments: &[SegmentInfo],
    answers: Vec<std::result::Result<Response, StoreError>>,
    fetched: &mut Fetched,
) -> std::result::Result<(), StoreError> {
    let mut answers = answers.into_iter();
    let mut next = || {
        let nothing = || StoreError::NotFound {
            key: "a segment".to_owned(),
        };
        answers.next().unwrap_or_else(|| Err(nothing()))
    };
    let mut failed = None;
    for segment in segments {
        let root = match log.attachment(&root_name(&segment.id)) {
            Some(root) => Ok(root),
            None => next().map(Response::into_bytes),
        };
        match (root, next()) {
            (Ok(root), Ok(rows)) => {
                fetched.insert(segment.id.clone(), (root, rows.into_bytes()));
            }
            (Err(error), _) | (_, Err(error)) => failed = Some(error),
        }
    }
    failed.map_or(Ok(()), Err)
}

/// The rows of segments that were fetched.
fn rows(
    collection: &CollectionKey,
    segments: &[SegmentInfo],
    fetched: &Fetched,
) -> Result<Vec<Row>> {
    let mut all = Vec::new();
    for segment in segments {
        if let Some((root, rows)) = fetched.get(&segment.id) {
            let root_key = key(collection, segment, SegmentPart::Root);
            let root = Root::decode(root, segment.root_bytes, segment.root_crc)
                .map_err(|error| Corrupt::caused(&root_key, "it cannot be read", error))?;
            all.extend(rows_of(
                &key(collection, segment, SegmentPart::Rows),
                &root,
                rows,
            )?);
        }
    }
    Ok(all)
}

/// The rows in a segment's file.
pub(crate) fn rows_of(key: &str, root: &Root, file: &Bytes) -> Result<Vec<Row>, Corrupt> {
    let mut rows = Vec::new();
    for block in &root.blocks {
        let start = usize::try_from(block.offset).unwrap_or(usize::MAX);
        let end = start.saturating_add(block.len as usize);
        if end > file.len() {
            return Err(Corrupt::new(key, "it is shorter than its root says"));
        }
        let batch = read_block(
            "a block of rows",
            &root.schema,
            *block,
            &file.slice(start..end),
        )
        .map_err(|error| Corrupt::caused(key, "a block cannot be read", error))?;
        rows.extend(row::decode(key, &batch)?);
    }
    Ok(rows)
}

fn key(collection: &CollectionKey, segment: &SegmentInfo, part: SegmentPart) -> String {
    Key::Segment(collection.clone(), segment.id.clone(), part).to_string()
}
