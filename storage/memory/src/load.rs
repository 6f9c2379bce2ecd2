//! Bringing a view up to date, with what its checkpoint only refers to: the rows of small
//! segments, the roots of large ones. They are fetched beside the log's tail, in the same
//! wave. It must not decide what a checkpoint stands for; the catalogue says that.

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;
use ostraca_object::error::{Corrupt, StoreError};
use ostraca_object::io::{Io, Request, Response};
use ostraca_object::key::{CollectionKey, Key, SegmentId, SegmentPart, Seq};
use ostraca_object::log::refresh::Refresh;
use ostraca_object::log::{Freshness, Log};
use ostraca_search::segment::{Root, read_block};

use crate::catalogue::{Catalogue, SegmentInfo, Split};
use crate::change;
use crate::error::{Error, ErrorKind, Result};
use crate::row::{self, Row};
use crate::speculation::Speculation;
use crate::view::View;

/// How often a view may move to other segments while their rows are fetched.
const ATTEMPTS: u32 = 8;
/// The name in the head of a segment's root.
const ROOT: &str = "root:";

type Answer = std::result::Result<Response, StoreError>;

/// The name under which a head carries a segment's root.
pub(crate) fn root_name(segment: &SegmentId) -> String {
    format!("{ROOT}{segment}")
}

/// What was fetched of segments, by name: root and rows.
type Fetched = BTreeMap<SegmentId, (Bytes, Bytes)>;

/// Brings the log up to date, and what its view needs to be asked.
pub(crate) async fn refresh(log: &Log<View>, io: &Io, freshness: Freshness) -> Result<Seq> {
    refresh_beside(log, io, freshness, None).await
}

/// The same, with the reads that a search is likely to need in the same waves.
pub(crate) async fn refresh_beside(
    log: &Log<View>,
    io: &Io,
    freshness: Freshness,
    mut speculation: Option<&mut Speculation<'_>>,
) -> Result<Seq> {
    let mut fetched = Fetched::new();
    let mut hint: Option<Split> = None;
    let mut asked = false;
    let mut refresh = log.start_refresh(io.clock().now(), freshness);
    let mut is_first = true;
    loop {
        if hint.is_none() {
            hint = hinted(&refresh);
        }
        let mut requests = refresh.requests();
        let own = requests.len();
        // The head says what the tail is likely to stand on: no need to wait for the tail.
        let segments = match &hint {
            Some(split) if !split.catalogue.is_large && !asked => {
                asked = true;
                split.catalogue.segments.clone()
            }
            _ => Vec::new(),
        };
        let rows = wanted(log, &segments);
        let count = rows.len();
        requests.extend(rows);
        let mut reads = Vec::new();
        if let Some(speculation) = &mut speculation {
            reads = speculation.likely(log, hint.as_ref(), is_first).await?;
            requests.extend(reads.iter().map(|read| request(log.collection(), read)));
        }
        if requests.is_empty() {
            break;
        }
        let mut answers = match &mut speculation {
            Some(speculation) if is_first => speculation.beside(io.wave(requests)).await,
            _ => io.wave(requests).await,
        };
        is_first = false;
        let mut extra = answers.split_off(own.min(answers.len()));
        let likely = extra.split_off(count.min(extra.len()));
        take(log, &segments, extra, &mut fetched).ok();
        if let Some(speculation) = &mut speculation {
            speculation.take(reads, likely);
        }
        if !refresh.is_done() {
            refresh.feed(answers)?;
        } else if own == 0 {
            break;
        }
    }
    bring(log, io, fetched).await?;
    Ok(log.read(|_, seq| seq))
}

/// Brings what the view waits for, if it does.
pub(crate) async fn complete(log: &Log<View>, io: &Io) -> Result<()> {
    bring(log, io, Fetched::new()).await
}

/// A whole view of a large collection, made of everything there is, if its rows have no
/// more bytes than `limit`.
pub(crate) async fn copy(log: &Log<View>, io: &Io, limit: u64) -> Result<Arc<View>> {
    for _ in 0..ATTEMPTS {
        complete(log, io).await?;
        if let Some(copy) = log.read(|view, _| view.copy()) {
            return Ok(copy);
        }
        let catalogue = log.read(|view, _| view.catalogue().clone());
        let bytes: u64 = catalogue
            .segments
            .iter()
            .map(|segment| segment.row_bytes)
            .sum();
        if bytes > limit {
            return Err(Error::new(
                ErrorKind::TooLarge,
                format!(
                    "this asks for all of a collection of {bytes} bytes, of which this process may copy {limit}; use recall or get, or ask a process with more memory"
                ),
            ));
        }
        let rows = match segments(log, io, &catalogue.segments).await {
            Ok(rows) => rows,
            Err(error) if is_gone(&error) => {
                log.refresh(io, Freshness::Strong).await?;
                continue;
            }
            Err(error) => return Err(error),
        };
        let copy =
            log.read(|view, _| (*view.catalogue() == catalogue).then(|| Arc::new(view.with(rows))));
        if let Some(copy) = copy {
            log.amend(|view| view.keep(Arc::clone(&copy)));
            return Ok(copy);
        }
    }
    Err(restless())
}

async fn bring(log: &Log<View>, io: &Io, mut fetched: Fetched) -> Result<()> {
    for _ in 0..ATTEMPTS {
        bring_roots(log, io).await?;
        let waiting = log.read(|view, _| view.is_waiting().then(|| view.catalogue().clone()));
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
    Err(restless())
}

async fn bring_roots(log: &Log<View>, io: &Io) -> Result<()> {
    for _ in 0..ATTEMPTS {
        let missing = log.read(|view, _| view.rootless());
        if missing.is_empty() {
            return Ok(());
        }
        let (carried, missing): (Vec<_>, Vec<_>) = missing
            .into_iter()
            .map(|segment| (log.attachment(&root_name(&segment.id)), segment))
            .partition(|(root, _)| root.is_some());
        let requests = missing
            .iter()
            .map(|(_, segment)| root_request(log.collection(), segment));
        let answers = io.wave(requests.collect()).await;
        let mut roots = Vec::new();
        for (bytes, segment) in carried {
            roots.push((segment, bytes.unwrap_or_default()));
        }
        let mut is_gone = false;
        for ((_, segment), answer) in missing.into_iter().zip(answers) {
            match answer {
                Ok(response) => roots.push((segment, response.into_bytes())),
                Err(StoreError::NotFound { .. }) => is_gone = true,
                Err(error) => return Err(error.into()),
            }
        }
        let mut decoded = Vec::new();
        for (segment, bytes) in roots {
            let root = root_of(log.collection(), &segment, &bytes)?;
            decoded.push((segment.id, Arc::new(root)));
        }
        log.amend(|view| view.install_roots(decoded));
        if is_gone {
            log.refresh(io, Freshness::Strong).await?;
        }
    }
    Err(restless())
}

/// A segment's root in its bytes.
pub(crate) fn root_of(
    collection: &CollectionKey,
    segment: &SegmentInfo,
    bytes: &Bytes,
) -> Result<Root> {
    Root::decode(bytes, segment.root_bytes, segment.root_crc).map_err(|error| {
        let key = key(collection, segment, SegmentPart::Root);
        Error::from(Corrupt::caused(key, "it cannot be read", error))
    })
}

fn restless() -> Error {
    Error::new(
        ErrorKind::Unavailable {
            retry_after: std::time::Duration::from_secs(1),
        },
        "the collection was compacted each time it was read; try again",
    )
}

/// Reads the log anew because an object of a catalogue is not there: it was compacted away
/// since, and the log says by what. If it does not, the object is lost.
pub(crate) async fn expect_moved(
    log: &Log<View>,
    io: &Io,
    catalogue: &Catalogue,
    missing: Error,
) -> Result<()> {
    log.refresh(io, Freshness::Strong).await?;
    if log.read(|view, _| view.catalogue() == catalogue) {
        return Err(Error::new(
            ErrorKind::Corrupt,
            format!("an object of a segment is lost: {missing}"),
        )
        .with_source(missing));
    }
    Ok(())
}

/// Whether an error says that an object is not there.
pub(crate) fn is_gone(error: &Error) -> bool {
    use std::error::Error as _;
    error
        .source()
        .and_then(|source| source.downcast_ref::<StoreError>())
        .is_some_and(|error| matches!(error, StoreError::NotFound { .. }))
}

/// The request for what a search reads.
pub(crate) fn request(collection: &CollectionKey, read: &ostraca_search::Read) -> Request {
    let part = match read.part {
        ostraca_search::Part::Codes => SegmentPart::Codes,
        ostraca_search::Part::Postings => SegmentPart::Postings,
        ostraca_search::Part::Rows => SegmentPart::Rows,
    };
    Request::Range {
        key: Key::Segment(collection.clone(), read.segment.into(), part),
        range: read.range.clone(),
    }
}

/// The rows of some segments.
pub(crate) async fn segments(
    log: &Log<View>,
    io: &Io,
    segments: &[SegmentInfo],
) -> Result<Vec<Row>> {
    let read = whole_segments(log, io, segments).await?;
    Ok(read.into_iter().flat_map(|(_, rows)| rows).collect())
}

/// The roots and rows of some segments.
pub(crate) async fn whole_segments(
    log: &Log<View>,
    io: &Io,
    segments: &[SegmentInfo],
) -> Result<Vec<(Root, Vec<Row>)>> {
    let mut fetched = Fetched::new();
    let answers = io.wave(wanted(log, segments)).await;
    take(log, segments, answers, &mut fetched)?;
    decoded(log.collection(), segments, &fetched)
}

/// The roots of segments as a head carries them.
pub(crate) async fn roots(
    log: &Log<View>,
    io: &Io,
    segments: &[SegmentInfo],
) -> Result<Vec<(String, Bytes)>> {
    let mut roots = Vec::new();
    let mut missing = Vec::new();
    for segment in segments {
        let name = root_name(&segment.id);
        match log.attachment(&name) {
            Some(root) => roots.push((name, root)),
            None => missing.push((name, root_request(log.collection(), segment))),
        }
    }
    let (names, requests): (Vec<String>, Vec<Request>) = missing.into_iter().unzip();
    for (name, answer) in names.into_iter().zip(io.wave(requests).await) {
        roots.push((name, answer?.into_bytes()));
    }
    Ok(roots)
}

fn root_request(collection: &CollectionKey, segment: &SegmentInfo) -> Request {
    Request::Get {
        key: Key::Segment(collection.clone(), segment.id.clone(), SegmentPart::Root),
    }
}

/// The checkpoint in the head.
fn hinted(refresh: &Refresh<'_, View>) -> Option<Split> {
    let entry = refresh.hinted()?;
    change::decode("the head", &entry.rows)
        .and_then(|changes| Catalogue::split("the head", &changes))
        .ok()
        .flatten()
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
    answers: Vec<Answer>,
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
    let decoded = decoded(collection, segments, fetched)?;
    Ok(decoded.into_iter().flat_map(|(_, rows)| rows).collect())
}

/// The roots and rows of segments that were fetched.
fn decoded(
    collection: &CollectionKey,
    segments: &[SegmentInfo],
    fetched: &Fetched,
) -> Result<Vec<(Root, Vec<Row>)>> {
    let mut all = Vec::new();
    for segment in segments {
        if let Some((root, rows)) = fetched.get(&segment.id) {
            let root = root_of(collection, segment, root)?;
            let key = key(collection, segment, SegmentPart::Rows);
            let rows = rows_of(&key, &root, rows)?;
            all.push((root, rows));
        }
    }
    Ok(all)
}

/// The rows in a segment's file.
fn rows_of(key: &str, root: &Root, file: &Bytes) -> Result<Vec<Row>, Corrupt> {
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
