//! The one parameter that a path may carry, percent-decoded exactly once and after
//! the path was split, so that a key may hold a slash or a per cent sign (A31).

use axum::extract::{FromRequestParts, Path};
use http::request::Parts;
use ostraca_memory::Error;

use crate::error::ApiError;

/// The decoded parameter.
#[derive(Debug)]
pub(super) struct Segment(pub(super) String);

impl<S: Send + Sync> FromRequestParts<S> for Segment {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        match Path::<String>::from_request_parts(parts, state).await {
            Ok(Path(segment)) => Ok(Self(segment)),
            Err(_) => Err(ApiError(Error::invalid(
                "path",
                "is not UTF-8 once percent-decoded; encode it as UTF-8",
            ))),
        }
    }
}
