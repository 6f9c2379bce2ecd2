//! The bound on request bodies. A body is read whole, once, and never beyond the
//! limit, so no route can be made to hold more than that. It is read late, after the
//! caller is known.

use axum::body::Body;
use bytes::Bytes;
use http::{HeaderMap, header};
use http_body_util::{BodyExt, LengthLimitError, Limited};
use ostraca_memory::{Error, ErrorKind};

/// Whether the request says itself that its body is over the limit.
pub(crate) fn declared_over(headers: &HeaderMap, limit: usize) -> bool {
    headers
        .get(header::CONTENT_LENGTH)
        .and_then(|length| length.to_str().ok())
        .and_then(|length| length.parse::<u64>().ok())
        .is_some_and(|length| usize::try_from(length).map_or(true, |length| length > limit))
}

/// The whole body.
///
/// # Errors
/// [`ErrorKind::TooLarge`] over the limit, [`ErrorKind::Invalid`] when it breaks off.
pub(crate) async fn read(body: Body, limit: usize) -> Result<Bytes, Error> {
    match Limited::new(body, limit).collect().await {
        Ok(body) => Ok(body.to_bytes()),
        Err(error) if error.is::<LengthLimitError>() => Err(too_large(limit)),
        Err(_) => Err(Error::new(
            ErrorKind::Invalid,
            "the request body broke off; send it again",
        )),
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
