//! From HTTP to the objects and back.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, Method, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use ostraca_object::port::native::SystemClock;
use ostraca_object::port::{Clock, Timestamp};
use percent_encoding::percent_decode_str;
use serde_json::Value;

use crate::bucket::{Condition, Object, Objects, Query, Refused};
use crate::stats::{Stats, add};
use crate::{chunked, xml};

/// How long each kind of request takes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Latency {
    pub(crate) put_ms: u64,
    pub(crate) get_ms: u64,
    pub(crate) list_ms: u64,
    pub(crate) delete_ms: u64,
}

#[derive(Debug)]
pub(crate) struct Server {
    objects: Objects,
    stats: Stats,
    latency: Latency,
}

impl Server {
    pub(crate) fn new(latency: Latency) -> Self {
        Self {
            objects: Objects::default(),
            stats: Stats::default(),
            latency,
        }
    }
}

pub(crate) async fn stats(State(server): State<Arc<Server>>) -> Json<Value> {
    Json(server.stats.read())
}

pub(crate) async fn reset(State(server): State<Arc<Server>>) -> StatusCode {
    server.stats.reset();
    StatusCode::NO_CONTENT
}

/// Any request of S3, by path-style names.
pub(crate) async fn serve(
    State(server): State<Arc<Server>>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let path = percent_decode_str(uri.path().trim_start_matches('/')).decode_utf8_lossy();
    let (bucket, key) = path.split_once('/').unwrap_or((path.as_ref(), ""));
    let query: BTreeMap<String, String> =
        form_urlencoded::parse(uri.query().unwrap_or_default().as_bytes())
            .into_owned()
            .collect();
    let (answer, wait_ms) = match (method.as_str(), key) {
        ("PUT" | "HEAD", "") => (StatusCode::OK.into_response(), 0),
        ("GET", "") => (server.list(bucket, &query), server.latency.list_ms),
        ("POST", "") if query.contains_key("delete") => {
            (server.delete_all(bucket, &body), server.latency.delete_ms)
        }
        ("PUT", _) => (server.put(&path, &headers, body), server.latency.put_ms),
        ("GET" | "HEAD", _) => (server.get(&path, &headers), server.latency.get_ms),
        ("DELETE", _) => {
            add(&server.stats.deletes, 1);
            server.objects.delete(&path);
            (
                StatusCode::NO_CONTENT.into_response(),
                server.latency.delete_ms,
            )
        }
        _ => (
            refusal(StatusCode::NOT_IMPLEMENTED, "NotImplemented", &path),
            0,
        ),
    };
    // All is decided by now; only the answer takes its time. Of the answer to HEAD,
    // hyper sends the headers alone.
    tokio::time::sleep(Duration::from_millis(wait_ms)).await;
    answer
}

impl Server {
    fn put(&self, path: &str, headers: &HeaderMap, body: Bytes) -> Response {
        add(&self.stats.puts, 1);
        add(&self.stats.bytes_in, body.len());
        let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
        let in_chunks = text("x-amz-decoded-content-length").is_some()
            || text("content-encoding").is_some_and(|encoding| encoding.contains("aws-chunked"));
        let content = if in_chunks {
            let Some(content) = chunked::decode(&body) else {
                return refusal(StatusCode::BAD_REQUEST, "IncompleteBody", path);
            };
            content
        } else {
            body
        };
        let condition = match (text("if-none-match"), text("if-match")) {
            (Some("*"), None) => Condition::Absent,
            (None, Some(etag)) => Condition::Etag(etag.to_owned()),
            (None, None) => Condition::None,
            _ => return refusal(StatusCode::NOT_IMPLEMENTED, "NotImplemented", path),
        };
        match self
            .objects
            .put(path, content, &condition, SystemClock.now())
        {
            Ok(etag) => (StatusCode::OK, [(header::ETAG, etag)]).into_response(),
            Err(refused) => {
                add(&self.stats.put_conflicts, 1);
                match refused {
                    Refused::Condition => {
                        refusal(StatusCode::PRECONDITION_FAILED, "PreconditionFailed", path)
                    }
                    Refused::Absent => refusal(StatusCode::NOT_FOUND, "NoSuchKey", path),
                }
            }
        }
    }

    fn get(&self, path: &str, headers: &HeaderMap) -> Response {
        add(&self.stats.gets, 1);
        let Some(object) = self.objects.get(path) else {
            add(&self.stats.get_misses, 1);
            return refusal(StatusCode::NOT_FOUND, "NoSuchKey", path);
        };
        let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
        if text("if-match").is_some_and(|etag| etag != object.etag) {
            return refusal(StatusCode::PRECONDITION_FAILED, "PreconditionFailed", path);
        }
        if text("if-none-match").is_some_and(|etag| etag == object.etag) {
            return StatusCode::NOT_MODIFIED.into_response();
        }
        let common = |object: &Object| {
            [
                (header::ETAG, object.etag.clone()),
                (header::LAST_MODIFIED, http_time(object.modified)),
                (header::ACCEPT_RANGES, "bytes".to_owned()),
                (header::CONTENT_TYPE, "application/octet-stream".to_owned()),
            ]
        };
        let Some(wanted) = text("range") else {
            add(&self.stats.bytes_out, object.bytes.len());
            return (common(&object), object.bytes).into_response();
        };
        let length = object.bytes.len();
        let Some(range) = parse_range(wanted, length) else {
            return refusal(StatusCode::RANGE_NOT_SATISFIABLE, "InvalidRange", path);
        };
        let said = format!("bytes {}-{}/{length}", range.start, range.end - 1);
        add(&self.stats.bytes_out, range.len());
        (
            StatusCode::PARTIAL_CONTENT,
            common(&object),
            [(header::CONTENT_RANGE, said)],
            object.bytes.slice(range),
        )
            .into_response()
    }

    fn list(&self, bucket: &str, query: &BTreeMap<String, String>) -> Response {
        add(&self.stats.lists, 1);
        let text = |name: &str| query.get(name).cloned().unwrap_or_default();
        let token = text("continuation-token");
        let query = Query {
            prefix: text("prefix"),
            delimiter: text("delimiter"),
            after: if token.is_empty() {
                text("start-after")
            } else {
                token
            },
            most: text("max-keys").parse().unwrap_or(1_000),
        };
        let page = self.objects.list(bucket, &query);
        document(xml::listing(bucket, &query, &page))
    }

    fn delete_all(&self, bucket: &str, body: &[u8]) -> Response {
        let names = xml::names_to_delete(&String::from_utf8_lossy(body));
        add(&self.stats.deletes, names.len());
        for name in &names {
            self.objects.delete(&format!("{bucket}/{name}"));
        }
        document(xml::deleted(&names))
    }
}

fn document(text: String) -> Response {
    ([(header::CONTENT_TYPE, "application/xml")], text).into_response()
}

fn refusal(status: StatusCode, code: &str, path: &str) -> Response {
    (
        status,
        [(header::CONTENT_TYPE, "application/xml")],
        xml::error(code, path),
    )
        .into_response()
}

/// The bytes that a `Range` header means; none if there are none.
fn parse_range(text: &str, length: usize) -> Option<Range<usize>> {
    let (from, to) = text.strip_prefix("bytes=")?.split_once('-')?;
    let range = match (from, to) {
        ("", last) => length.saturating_sub(last.parse().ok()?)..length,
        (from, "") => from.parse().ok()?..length,
        (from, to) => {
            let to: usize = to.parse().ok()?;
            from.parse().ok()?..to.saturating_add(1).min(length)
        }
    };
    (range.start < range.end).then_some(range)
}

pub(crate) fn iso_time(time: Timestamp) -> String {
    jiff::Timestamp::from_millisecond(time.0)
        .unwrap_or_default()
        .strftime("%Y-%m-%dT%H:%M:%S.%3fZ")
        .to_string()
}

fn http_time(time: Timestamp) -> String {
    jiff::Timestamp::from_millisecond(time.0)
        .unwrap_or_default()
        .strftime("%a, %d %b %Y %H:%M:%S GMT")
        .to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_mean_what_http_says() {
        assert_eq!(parse_range("bytes=0-0", 10), Some(0..1));
        assert_eq!(parse_range("bytes=5-", 10), Some(5..10));
        assert_eq!(parse_range("bytes=-3", 10), Some(7..10));
        assert_eq!(parse_range("bytes=-30", 10), Some(0..10));
        assert_eq!(parse_range("bytes=8-20", 10), Some(8..10));
        assert_eq!(parse_range("bytes=10-12", 10), None);
        assert_eq!(parse_range("bytes=5-3", 10), None);
    }

    #[test]
    fn times_have_the_forms_of_http_and_s3() {
        let time = Timestamp(784_111_777_000);
        assert_eq!(http_time(time), "Sun, 06 Nov 1994 08:49:37 GMT");
        assert_eq!(iso_time(time), "1994-11-06T08:49:37.000Z");
    }
}
