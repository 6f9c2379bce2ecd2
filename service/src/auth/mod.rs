//! From a request to a session: the bearer token, the caller it stands for, and the
//! refusal that tells a client where to get a better one. What a caller may do is
//! decided by the domain; here it is only found out who calls.

pub(crate) mod bearer;
pub(crate) mod challenge;
pub(crate) mod metadata;

use std::sync::Arc;

use axum::extract::FromRequestParts;
use axum::response::Response;
use http::HeaderMap;
use http::request::Parts;
use ostraca_memory::{Caller, Session};

use crate::app::{App, AuthMode};
use crate::auth::bearer::Bearer;
use crate::auth::challenge::Refusal;

/// The session of the caller whose token the headers carry.
///
/// # Errors
/// [`Refusal::Missing`] or [`Refusal::Invalid`] where the credential is at fault,
/// [`Refusal::Failed`] where it could not be looked up.
pub(crate) async fn session(app: &App, headers: &HeaderMap) -> Result<Session, Refusal> {
    let caller = match &app.auth {
        AuthMode::Open { tenant } => Caller::unrestricted(tenant.clone()),
        AuthMode::Keys => match bearer::token(headers) {
            Bearer::Absent => return Err(Refusal::Missing),
            Bearer::Malformed => return Err(Refusal::Invalid),
            Bearer::Token(token) => app
                .database
                .authenticate(token)
                .await
                .map_err(Refusal::from)?,
        },
    };
    Ok(app.database.session(caller))
}

/// The session of a request, for handlers that speak REST.
pub(crate) struct Authenticated(pub(crate) Session);

impl FromRequestParts<Arc<App>> for Authenticated {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self, Response> {
        match session(app, &parts.headers).await {
            Ok(session) => Ok(Self(session)),
            Err(refusal) => Err(refusal.respond(app, parts)),
        }
    }
}
