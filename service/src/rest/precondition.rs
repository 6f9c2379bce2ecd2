//! `ETag` and `If-Match`: a memory's version as HTTP says it. The version in a body
//! or query (`expected_version`) means the same; this only translates.

use axum::Json;
use axum::response::{IntoResponse, Response};
use http::{HeaderMap, HeaderValue, StatusCode, header};
use ostraca_memory::{Error, ErrorKind};

use crate::error::{ApiError, ErrorBody};

/// What the description of the header says.
pub(super) const IF_MATCH: &str =
    "The ETag that the memory must still have, such as \"3\"; otherwise 412.";

/// The version that a request expects.
#[derive(Debug, Clone, Copy)]
pub(super) struct Precondition(Option<u64>);

impl Precondition {
    /// The version in `If-Match`, if there is one. `*` expects any.
    ///
    /// # Errors
    /// `Invalid` if it is not one strong tag of ours.
    pub(super) fn of(headers: &HeaderMap) -> Result<Self, Error> {
        let Some(value) = headers.get(header::IF_MATCH) else {
            return Ok(Self(None));
        };
        let text = value.to_str().unwrap_or_default().trim();
        if text == "*" {
            return Ok(Self(None));
        }
        text.strip_prefix('"')
            .and_then(|text| text.strip_suffix('"'))
            .and_then(|version| version.parse().ok())
            .map(|version| Self(Some(version)))
            .ok_or_else(|| Error::invalid("If-Match", "is not one ETag of a memory, such as \"3\""))
    }

    /// The expected version of a request, which may also state it itself.
    ///
    /// # Errors
    /// `Invalid` if the two differ.
    pub(super) fn merge(self, stated: &mut Option<u64>) -> Result<(), Error> {
        match (self.0, *stated) {
            (Some(header), Some(stated)) if header != stated => Err(Error::invalid(
                "expected_version",
                "differs from If-Match; give one of the two",
            )),
            (Some(header), _) => {
                *stated = Some(header);
                Ok(())
            }
            (None, _) => Ok(()),
        }
    }

    /// The answer to a failure: 412 where it was the header that failed.
    pub(super) fn refuse(self, error: Error) -> Response {
        let failed = self.0.is_some()
            && error.kind() == ErrorKind::Conflict
            && error.field() == Some("expected_version");
        if failed {
            (
                StatusCode::PRECONDITION_FAILED,
                Json(ErrorBody::from(&error)),
            )
                .into_response()
        } else {
            ApiError(error).into_response()
        }
    }
}

/// The tag of a version.
pub(super) fn tag(version: u64) -> Option<HeaderValue> {
    HeaderValue::try_from(format!("\"{version}\"")).ok()
}
