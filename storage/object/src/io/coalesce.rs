//! Joins near ranges of one object into one request, because a request costs
//! more than the bytes of a small gap. Pure, and so apart from `Io`.

use std::collections::BTreeMap;
use std::ops::Range;

use bytes::Bytes;

use super::{Request, Response};
use crate::key::Key;

/// Ranges with the places of their answers.
type Parts = Vec<(usize, Range<u64>)>;

/// One request that goes out, with the places of the answers it gives.
pub(super) enum Fetch {
    /// Asked for as it is.
    One { index: usize, request: Request },
    /// Several ranges of one object, read as one.
    Span {
        key: Key,
        span: Range<u64>,
        parts: Parts,
    },
}

/// Which requests go out for what was asked.
pub(super) fn plan(requests: Vec<Request>, gap_bytes: u64) -> Vec<Fetch> {
    let mut fetches = Vec::with_capacity(requests.len());
    let mut ranges: BTreeMap<Key, Parts> = BTreeMap::new();
    for (index, request) in requests.into_iter().enumerate() {
        match request {
            Request::Range { key, range } => ranges.entry(key).or_default().push((index, range)),
            request => fetches.push(Fetch::One { index, request }),
        }
    }
    for (key, mut parts) in ranges {
        parts.sort_by_key(|(_, range)| (range.start, range.end));
        let mut current: Option<(Range<u64>, Parts)> = None;
        for (index, range) in parts {
            match &mut current {
                Some((span, members)) if range.start <= span.end.saturating_add(gap_bytes) => {
                    span.end = span.end.max(range.end);
                    members.push((index, range));
                }
                _ => {
                    if let Some((span, parts)) =
                        current.replace((range.clone(), vec![(index, range)]))
                    {
                        fetches.push(Fetch::Span {
                            key: key.clone(),
                            span,
                            parts,
                        });
                    }
                }
            }
        }
        if let Some((span, parts)) = current {
            fetches.push(Fetch::Span { key, span, parts });
        }
    }
    fetches
}

/// The part `range` of the bytes that begin at `start`; shorter where the object ends.
pub(super) fn cut(bytes: &Bytes, start: u64, range: &Range<u64>) -> Response {
    let offset = |at: u64| {
        usize::try_from(at.saturating_sub(start)).map_or(bytes.len(), |at| at.min(bytes.len()))
    };
    let from = offset(range.start);
    Response::Bytes(bytes.slice(from..offset(range.end).max(from)))
}
