//! From HTTP to the objects and back.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use axum::body::{Bytes, HttpBody};
use axum::extract::State;
use axum::http::{HeaderMap, Method, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use ostraca_object::port::native::SystemClock;
use ostraca_object::port::{Clock, Timestamp};
use percent_encoding::percent_decode_str;
use tokio::time::Instant;

use crate::bucket::{Condition, Object, Objects, Query, Refused};
use crate::multipart::Uploads;
use crate::pace::{self, Pace};
use crate::record::{Kind, Record, Records};
use crate::stats::{Stats, add};
use crate::{chunked, xml};

#[derive(Debug)]
pub(crate) struct Server {
    objects: Objects,
    uploads: Uploads,
    begun: Instant,
    pub(crate) stats: Stats,
    pub(crate) records: Records,
    pub(crate) pace: Pace,
}

impl Server {
    pub(crate) fn new(asked: pace::Asked) -> Self {
        Self {
            objects: Objects::default(),
            uploads: Uploads::default(),
            begun: Instant::now(),
            stats: Stats::default(),
            records: Records::default(),
            pace: Pace::new(asked),
        }
    }
}

/// Any request of S3, by path-style names.
pub(crate) async fn serve(
    State(server): State<Arc<Server>>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let started = Instant::now();
    let path = percent_decode_str(uri.path().trim_start_matches('/')).decode_utf8_lossy();
    let (bucket, key) = path.split_once('/').unwrap_or((path.as_ref(), ""));
    let query: BTreeMap<String, String> =
        form_urlencoded::parse(uri.query().unwrap_or_default().as_bytes())
            .into_owned()
            .collect();
    let bytes_in = body.len() as u64;
    let (answer, kind) = match (method.as_str(), key) {
        ("PUT" | "HEAD", "") => (StatusCode::OK.into_response(), Kind::Other),
        ("GET", "") => (server.list(bucket, &query), Kind::List),
        ("POST", "") if query.contains_key("delete") => {
            (server.delete_all(bucket, &body), Kind::Delete)
        }
        ("PUT", _) if query.contains_key("uploadId") => {
            (server.put_part(&path, &query, &headers, body), Kind::Part)
        }
        ("PUT", _) => (server.put(&path, &headers, body), Kind::Put),
        ("POST", _) if query.contains_key("uploads") => (server.begin(&path), Kind::Upload),
        ("POST", _) if query.contains_key("uploadId") => (
            server.complete(&path, &query, &headers, &body),
            Kind::Upload,
        ),
        ("GET", _) => (server.get(&path, &headers), Kind::Get),
        ("HEAD", _) => (server.get(&path, &headers), Kind::Head),
        ("DELETE", _) => (server.delete(&path, &query), Kind::Delete),
        _ => (
            refusal(StatusCode::NOT_IMPLEMENTED, "NotImplemented", &path),
            Kind::Other,
        ),
    };
    // Of the answer to HEAD, hyper sends the headers alone.
    let bytes_out = match kind {
        Kind::Head => 0,
        _ => answer.body().size_hint().exact().unwrap_or(0),
    };
    if kind == Kind::Get && answer.status().is_success() {
        add(&server.stats.bytes_out, bytes_out);
    }
    // All is decided by now; only the answer takes its time.
    server.pace.wait(kind, started, bytes_in, bytes_out).await;
    server.records.add(Record {
        kind,
        key: match kind {
            Kind::List => format!("{bucket}/{}", query.get("prefix").map_or("", |it| it)),
            _ => path.into_owned(),
        },
        range: text(&headers, "range").map(str::to_owned),
        status: answer.status().as_u16(),
        bytes_in,
        bytes_out,
        start_us: server.since_begun(started),
        end_us: server.since_begun(Instant::now()),
    });
    answer
}

impl Server {
    fn since_begun(&self, at: Instant) -> u64 {
        u64::try_from(at.duration_since(self.begun).as_micros()).unwrap_or(u64::MAX)
    }

    fn put(&self, path: &str, headers: &HeaderMap, body: Bytes) -> Response {
        add(&self.stats.puts, 1);
        add(&self.stats.bytes_in, body.len() as u64);
        let Some(content) = content(headers, body) else {
            return refusal(StatusCode::BAD_REQUEST, "IncompleteBody", path);
        };
        match self.store(path, headers, content) {
            Ok(etag) => (StatusCode::OK, [(header::ETAG, etag)]).into_response(),
            Err(refused) => refused,
        }
    }

    /// Makes content the object's, if the conditions in the headers hold.
    #[expect(
        clippy::result_large_err,
        reason = "the error is the answer, and goes out as it is"
    )]
    fn store(&self, path: &str, headers: &HeaderMap, content: Bytes) -> Result<String, Response> {
        let condition = match (text(headers, "if-none-match"), text(headers, "if-match")) {
            (Some("*"), None) => Condition::Absent,
            (None, Some(etag)) => Condition::Etag(etag.to_owned()),
            (None, None) => Condition::None,
            _ => {
                return Err(refusal(StatusCode::NOT_IMPLEMENTED, "NotImplemented", path));
            }
        };
        self.objects
            .put(path, content, &condition, SystemClock.now())
            .map_err(|refused| {
                add(&self.stats.put_conflicts, 1);
                match refused {
                    Refused::Condition => {
                        refusal(StatusCode::PRECONDITION_FAILED, "PreconditionFailed", path)
                    }
                    Refused::Absent => refusal(StatusCode::NOT_FOUND, "NoSuchKey", path),
                }
            })
    }

    fn begin(&self, path: &str) -> Response {
        add(&self.stats.uploads, 1);
        document(xml::upload_begun(path, &self.uploads.begin(path)))
    }

    fn put_part(
        &self,
        path: &str,
        query: &BTreeMap<String, String>,
        headers: &HeaderMap,
        body: Bytes,
    ) -> Response {
        add(&self.stats.parts, 1);
        add(&self.stats.bytes_in, body.len() as u64);
        let Some(content) = content(headers, body) else {
            return refusal(StatusCode::BAD_REQUEST, "IncompleteBody", path);
        };
        let number = query.get("partNumber").and_then(|text| text.parse().ok());
        let (Some(id), Some(number)) = (query.get("uploadId"), number) else {
            return refusal(StatusCode::BAD_REQUEST, "InvalidArgument", path);
        };
        match self.uploads.part(path, id, number, content) {
            Some(etag) => (StatusCode::OK, [(header::ETAG, etag)]).into_response(),
            None => refusal(StatusCode::NOT_FOUND, "NoSuchUpload", path),
        }
    }

    fn complete(
        &self,
        path: &str,
        query: &BTreeMap<String, String>,
        headers: &HeaderMap,
        body: &[u8],
    ) -> Response {
        add(&self.stats.uploads, 1);
        let id = query.get("uploadId").map_or("", |id| id);
        let parts = xml::part_numbers(&String::from_utf8_lossy(body));
        let Some(content) = self.uploads.content(path, id, &parts) else {
            return refusal(StatusCode::BAD_REQUEST, "InvalidPart", path);
        };
        match self.store(path, headers, content) {
            Ok(etag) => {
                self.uploads.end(id);
                document(xml::upload_completed(path, &etag))
            }
            Err(refused) => refused,
        }
    }

    fn delete(&self, path: &str, query: &BTreeMap<String, String>) -> Response {
        add(&self.stats.deletes, 1);
        match query.get("uploadId") {
            Some(id) => self.uploads.end(id),
            None => self.objects.delete(path),
        }
        StatusCode::NO_CONTENT.into_response()
    }

    fn get(&self, path: &str, headers: &HeaderMap) -> Response {
        add(&self.stats.gets, 1);
        let Some(object) = self.objects.get(path) else {
            add(&self.stats.get_misses, 1);
            return refusal(StatusCode::NOT_FOUND, "NoSuchKey", path);
        };
        if text(headers, "if-match").is_some_and(|etag| etag != object.etag) {
            return refusal(StatusCode::PRECONDITION_FAILED, "PreconditionFailed", path);
        }
        if text(headers, "if-none-match").is_some_and(|etag| etag == object.etag) {
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
        let Some(wanted) = text(headers, "range") else {
            return (common(&object), object.bytes).into_response();
        };
        let length = object.bytes.len();
        let Some(range) = parse_range(wanted, length) else {
            return refusal(StatusCode::RANGE_NOT_SATISFIABLE, "InvalidRange", path);
        };
        let said = format!("bytes {}-{}/{length}", range.start, range.end - 1);
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
        add(&self.stats.deletes, names.len() as u64);
        for name in &names {
            self.objects.delete(&format!("{bucket}/{name}"));
        }
        document(xml::deleted(&names))
    }
}

fn text<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name).and_then(|value| value.to_str().ok())
}

/// What a body carries; none if its chunks are not well formed.
fn content(headers: &HeaderMap, body: Bytes) -> Option<Bytes> {
    let in_chunks = text(headers, "x-amz-decoded-content-length").is_some()
        || text(headers, "content-encoding").is_some_and(|it| it.contains("aws-chunked"));
    if in_chunks {
        chunked::decode(&body)
    } else {
        Some(body)
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
