//! The `OpenAPI` 3.1 document, made from the route table and from the schemas of the
//! wire types. It is separate from the handlers so that a description cannot be
//! written that no code stands behind.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::{HeaderValue, StatusCode, header};
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde_json::{Map, Value, json};

use crate::app::App;
use crate::error::ErrorBody;
use crate::rest::route::{Access, Route, Success, TextParameter};
use crate::rest::routes;
use crate::wire::portable;

/// Any JSON object: the document does not describe itself.
#[derive(JsonSchema)]
#[schemars(inline)]
struct OpenApiDocument {}

pub(crate) fn route() -> Route {
    Route::get("/v1/openapi.json", "openapi", serve)
        .summary("This document")
        .answers::<OpenApiDocument>(StatusCode::OK, "An OpenAPI 3.1 document.")
}

async fn serve(State(app): State<Arc<App>>) -> Response {
    let mut response = axum::Json(document(&app.version)).into_response();
    response.headers_mut().insert(
        header::CACHE_CONTROL,
        HeaderValue::from_static("public, max-age=3600"),
    );
    response
}

/// The document for one version of the software.
pub(crate) fn document(version: &str) -> Value {
    let mut schemas = Schemas::new();
    let mut paths = Map::new();
    let mut refusals = BTreeSet::new();
    for route in routes() {
        refusals.extend(route.refusals.iter().map(StatusCode::as_u16));
        let operation = operation(&route, &mut schemas);
        let item = paths.entry(route.path).or_insert_with(|| json!({}));
        if let Value::Object(item) = item {
            item.insert(route.method.to_owned(), Value::Object(operation));
        }
    }
    let error = schemas.output(SchemaGenerator::subschema_for::<ErrorBody>);
    let responses: Map<String, Value> = refusals
        .into_iter()
        .map(|status| (refusal_name(status), refusal(status, &error)))
        .collect();
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Ostraca",
            "version": version,
            "description": "Agent memory on object storage. Times are RFC 3339 in UTC; cursors are opaque and called `next_cursor`; every answer that reads carries a receipt.",
            "license": { "name": "Apache-2.0", "identifier": "Apache-2.0" },
        },
        "servers": [{ "url": "/" }],
        "security": [{ "key": [] }],
        "paths": paths,
        "components": {
            "securitySchemes": {
                "key": {
                    "type": "http",
                    "scheme": "bearer",
                    "description": "An API key. A server on loopback may take calls without one.",
                },
            },
            "responses": responses,
            "schemas": schemas.finish(),
        },
    })
}

fn operation(route: &Route, schemas: &mut Schemas) -> Map<String, Value> {
    let mut operation = Map::new();
    let mut put = |name: &str, value: Value| operation.insert(name.to_owned(), value);
    put("operationId", json!(route.operation));
    put("summary", json!(route.summary));
    put("parameters", json!(parameters(route)));
    match route.access {
        Access::Public => put("security", json!([])),
        Access::Scope(scope) => put("description", json!(format!("Needs the scope `{scope}`."))),
    };
    if let Some(schema) = route.body {
        let schema = schemas.input(schema);
        put(
            "requestBody",
            json!({ "required": true, "content": { "application/json": { "schema": schema } } }),
        );
    }
    put("responses", Value::Object(responses(route, schemas)));
    operation
}

fn parameters(route: &Route) -> Vec<Value> {
    let text = |place: &str, parameter: &TextParameter| {
        json!({
            "name": parameter.name,
            "in": place,
            "required": place == "path",
            "description": parameter.description,
            "schema": { "type": "string" },
        })
    };
    let path = route
        .path_parameter
        .iter()
        .map(|parameter| text("path", parameter));
    // OpenAPI reserves `Accept`; the media types of the answers say the same.
    let headers = route
        .headers
        .iter()
        .filter(|header| header.name != "Accept")
        .map(|parameter| text("header", parameter));
    let query = route.query.iter().flat_map(|shape| shape.parameters());
    path.chain(query.map(|(name, schema)| query_parameter(name, schema)))
        .chain(headers)
        .collect()
}

fn query_parameter(name: &str, schema: &Value) -> Value {
    let mut schema = schema.clone();
    let description = schema
        .as_object_mut()
        .and_then(|schema| schema.remove("description"));
    let (place, content) = if schema.get("type").is_some_and(|kind| kind == "object") {
        (
            "content",
            json!({ "application/json": { "schema": schema } }),
        )
    } else {
        ("schema", schema)
    };
    json!({ "name": name, "in": "query", "required": false, "description": description, place: content })
}

fn responses(route: &Route, schemas: &mut Schemas) -> Map<String, Value> {
    let mut successes: BTreeMap<&str, (&str, Map<String, Value>)> = BTreeMap::new();
    for Success {
        status,
        description,
        media,
        schema,
    } in &route.successes
    {
        let schema = schemas.output(*schema);
        let (_, content) = successes
            .entry(status.as_str())
            .or_insert_with(|| (description, Map::new()));
        content.insert((*media).to_owned(), json!({ "schema": schema }));
    }
    let successes = successes
        .into_iter()
        .map(|(status, (description, content))| {
            (
                status.to_owned(),
                json!({ "description": description, "content": content }),
            )
        });
    let refusals = route.refusals.iter().map(|status| {
        let reference = format!("#/components/responses/{}", refusal_name(status.as_u16()));
        (status.as_str().to_owned(), json!({ "$ref": reference }))
    });
    successes.chain(refusals).collect()
}

fn refusal_name(status: u16) -> String {
    let reason = StatusCode::from_u16(status)
        .ok()
        .and_then(|status| status.canonical_reason());
    reason.unwrap_or("Refused").replace(' ', "")
}

fn refusal(status: u16, error: &Value) -> Value {
    let description = match status {
        400 => "The request is wrong; `field` names the argument.",
        401 => "No key, or one that is not valid.",
        403 => "The key lacks the scope.",
        404 => "There is no such memory for this caller.",
        409 => "The state is not what the request expected; read again.",
        412 => "The memory no longer has the version of If-Match.",
        413 => "Something is larger than its limit.",
        415 => "The body is not declared as JSON.",
        429 => "Too many requests; wait as Retry-After says.",
        503 => "Storage did not answer; try again as Retry-After says.",
        _ => "Refused.",
    };
    json!({ "description": description, "content": { "application/json": { "schema": error } } })
}

/// The schemas that bodies refer to. What a type takes and what it gives may differ,
/// so each direction has its own generator.
struct Schemas {
    input: SchemaGenerator,
    output: SchemaGenerator,
}

impl Schemas {
    fn new() -> Self {
        let settings = || {
            SchemaSettings::draft2020_12().with(|settings| {
                settings.definitions_path = "/components/schemas".into();
                settings.meta_schema = None;
            })
        };
        Self {
            input: settings().for_deserialize().into_generator(),
            output: settings().for_serialize().into_generator(),
        }
    }

    fn input(&mut self, schema: impl FnOnce(&mut SchemaGenerator) -> Schema) -> Value {
        plain(schema(&mut self.input))
    }

    fn output(&mut self, schema: impl FnOnce(&mut SchemaGenerator) -> Schema) -> Value {
        plain(schema(&mut self.output))
    }

    fn finish(mut self) -> Map<String, Value> {
        let mut definitions = self.output.take_definitions(false);
        definitions.extend(self.input.take_definitions(false));
        definitions
            .into_iter()
            .map(|(name, schema)| {
                let schema = Schema::try_from(schema).map_or(Value::Bool(true), plain);
                (name, schema)
            })
            .collect()
    }
}

fn plain(mut schema: Schema) -> Value {
    portable(&mut schema);
    schema.to_value()
}

#[cfg(test)]
mod tests;
