//! The bound on request bodies. A body is read whole, once, and never beyond the
//! limit, so no route can be made to hold more than that. It is read late, after the
//! caller is known.

use axum::body::Body;
use bytes::{Bytes, BytesMut};
use http::{HeaderMap, header};
use http_body_util::BodyExt;
use ostraca_memory::{Error, ErrorKind};

/// How far past the limit a body is still heard out. A client that is refused while it
/// sends sees a broken connection instead of the refusal.
const PATIENCE_BYTES: usize = 16 << 20;

/// Whether the request says itself that its body is over the limit.
pub(crate) fn declared_over(headers: &HeaderMap, limit: usize) -> bool {
    headers
        .get(header::CONTENT_LENGTH)
        .and_then(|length| length.to_str().ok())
        .and_then(|length| length.parse::<u64>().ok())
        .is_some_and(|length| usize::try_from(length).map_or(true, |length| length > limit))
}

/// The whole body. What comes past the limit is dropped as it comes.
///
/// # Errors
/// [`ErrorKind::TooLarge`] over the limit, [`ErrorKind::Invalid`] when it breaks off.
pub(crate) async fn read(mut body: Body, limit: usize) -> Result<Bytes, Error> {
    let mut kept = BytesMut::new();
    let mut seen = 0_usize;
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|error| {
            Error::new(
                ErrorKind::Invalid,
                "the request body broke off; send it again",
            )
            .with_source(error)
        })?;
        let Ok(data) = frame.into_data() else {
            continue;
        };
        seen = seen.saturating_add(data.len());
        if seen <= limit {
            kept.extend_from_slice(&data);
        } else if seen > limit.saturating_add(PATIENCE_BYTES) {
            break;
        }
    }
    if seen <= limit {
        Ok(kept.freeze())
    } else {
        Err(too_large(limit))
    }
}

/// The refusal of a body over the limit.
pub(crate) fn too_large(limit: usize) -> Error {
    Error::new(
        ErrorKind::TooLarge,
        format!(
            "the request body is larger than {limit} bytes; send fewer or smaller memories at once"
        ),
    )
}
