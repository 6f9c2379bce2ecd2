//! One row of the route table: method, path and handler for the router; names,
//! parameters and schemas for the `OpenAPI` document.

use std::sync::Arc;

use axum::handler::Handler;
use axum::routing::{MethodFilter, MethodRouter, on};
use http::StatusCode;
use schemars::{JsonSchema, Schema, SchemaGenerator};

use super::query::QueryShape;
use crate::app::App;

/// Makes the schema of a body, its parts going to the generator's definitions.
pub(crate) type SchemaOf = fn(&mut SchemaGenerator) -> Schema;

/// Who may call a route.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    /// Anyone: it tells nothing about any tenant.
    Public,
    /// Whoever holds this scope.
    Scope(&'static str),
}

/// A parameter that is text: in the path, or a header.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TextParameter {
    pub(crate) name: &'static str,
    pub(crate) description: &'static str,
}

/// What a route answers when it succeeds.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Success {
    pub(crate) status: StatusCode,
    pub(crate) description: &'static str,
    pub(crate) media: &'static str,
    pub(crate) schema: SchemaOf,
}

/// One row of the table.
#[derive(Debug)]
pub(crate) struct Route {
    pub(crate) method: &'static str,
    pub(crate) path: &'static str,
    pub(crate) operation: &'static str,
    pub(crate) summary: &'static str,
    pub(crate) access: Access,
    pub(crate) path_parameter: Option<TextParameter>,
    pub(crate) query: Option<&'static QueryShape>,
    pub(crate) headers: Vec<TextParameter>,
    pub(crate) body: Option<SchemaOf>,
    pub(crate) successes: Vec<Success>,
    pub(crate) refusals: Vec<StatusCode>,
    pub(crate) handler: MethodRouter<Arc<App>>,
}

impl Route {
    /// A row for `GET`.
    pub(crate) fn get<H, T>(path: &'static str, operation: &'static str, handler: H) -> Self
    where
        H: Handler<T, Arc<App>>,
        T: 'static,
    {
        Self::new("get", MethodFilter::GET, path, operation, handler)
    }

    /// A row for `POST`.
    pub(crate) fn post<H, T>(path: &'static str, operation: &'static str, handler: H) -> Self
    where
        H: Handler<T, Arc<App>>,
        T: 'static,
    {
        Self::new("post", MethodFilter::POST, path, operation, handler)
    }

    /// A row for `PUT`.
    pub(crate) fn put<H, T>(path: &'static str, operation: &'static str, handler: H) -> Self
    where
        H: Handler<T, Arc<App>>,
        T: 'static,
    {
        Self::new("put", MethodFilter::PUT, path, operation, handler)
    }

    /// A row for `PATCH`.
    pub(crate) fn patch<H, T>(path: &'static str, operation: &'static str, handler: H) -> Self
    where
        H: Handler<T, Arc<App>>,
        T: 'static,
    {
        Self::new("patch", MethodFilter::PATCH, path, operation, handler)
    }

    /// A row for `DELETE`.
    pub(crate) fn delete<H, T>(path: &'static str, operation: &'static str, handler: H) -> Self
    where
        H: Handler<T, Arc<App>>,
        T: 'static,
    {
        Self::new("delete", MethodFilter::DELETE, path, operation, handler)
    }

    fn new<H, T>(
        method: &'static str,
        filter: MethodFilter,
        path: &'static str,
        operation: &'static str,
        handler: H,
    ) -> Self
    where
        H: Handler<T, Arc<App>>,
        T: 'static,
    {
        Self {
            method,
            path,
            operation,
            summary: "",
            access: Access::Public,
            path_parameter: None,
            query: None,
            headers: Vec::new(),
            body: None,
            successes: Vec::new(),
            refusals: Vec::new(),
            handler: on(filter, handler),
        }
    }

    /// What it does, in a line.
    pub(crate) fn summary(mut self, summary: &'static str) -> Self {
        self.summary = summary;
        self
    }

    /// The scope that it takes.
    pub(crate) fn scope(mut self, scope: &'static str) -> Self {
        self.access = Access::Scope(scope);
        self.refuses(&[
            StatusCode::UNAUTHORIZED,
            StatusCode::FORBIDDEN,
            StatusCode::TOO_MANY_REQUESTS,
            StatusCode::SERVICE_UNAVAILABLE,
        ])
    }

    /// The parameter in its path.
    pub(crate) fn path_parameter(mut self, name: &'static str, description: &'static str) -> Self {
        self.path_parameter = Some(TextParameter { name, description });
        self.refuses(&[StatusCode::BAD_REQUEST, StatusCode::NOT_FOUND])
    }

    /// The parameters in its query string.
    pub(crate) fn query(mut self, shape: &'static QueryShape) -> Self {
        self.query = Some(shape);
        self.refuses(&[StatusCode::BAD_REQUEST])
    }

    /// A header that it heeds.
    pub(crate) fn header(mut self, name: &'static str, description: &'static str) -> Self {
        self.headers.push(TextParameter { name, description });
        self
    }

    /// The arguments in its body.
    pub(crate) fn body<T: JsonSchema>(mut self) -> Self {
        self.body = Some(SchemaGenerator::subschema_for::<T>);
        self.refuses(&[
            StatusCode::BAD_REQUEST,
            StatusCode::PAYLOAD_TOO_LARGE,
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
        ])
    }

    /// A JSON answer.
    pub(crate) fn answers<T: JsonSchema>(
        self,
        status: StatusCode,
        description: &'static str,
    ) -> Self {
        self.answers_as::<T>(status, "application/json", description)
    }

    /// An answer of another media type.
    pub(crate) fn answers_as<T: JsonSchema>(
        mut self,
        status: StatusCode,
        media: &'static str,
        description: &'static str,
    ) -> Self {
        let schema: SchemaOf = SchemaGenerator::subschema_for::<T>;
        self.successes.push(Success {
            status,
            description,
            media,
            schema,
        });
        self
    }

    /// Ways in which it refuses.
    pub(crate) fn refuses(mut self, statuses: &[StatusCode]) -> Self {
        self.refusals.extend_from_slice(statuses);
        self
    }
}
