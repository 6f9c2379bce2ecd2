use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::document;
use crate::rest::routes;

const COPY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/openapi.json");

/// The copy in `docs/` is what people and generators read, so it may not lag behind.
#[test]
#[expect(
    clippy::disallowed_methods,
    reason = "the switch that rewrites the copy is a variable"
)]
fn the_committed_document_is_current() {
    let mut text = serde_json::to_string_pretty(&document(env!("CARGO_PKG_VERSION"))).unwrap();
    text.push('\n');
    if std::env::var_os("OSTRACA_WRITE_OPENAPI").is_some() {
        std::fs::write(COPY, &text).unwrap();
    }
    let copy = std::fs::read_to_string(COPY).unwrap();
    assert!(
        copy == text,
        "docs/openapi.json is not current; run this test with OSTRACA_WRITE_OPENAPI=1"
    );
}

#[test]
fn every_route_is_described_once() {
    let mut operations = BTreeSet::new();
    let mut seen = BTreeSet::new();
    for route in routes() {
        assert!(
            operations.insert(route.operation),
            "{} is named twice",
            route.operation
        );
        assert!(
            seen.insert((route.path, route.method)),
            "{} {} stands twice",
            route.method,
            route.path
        );
        assert!(
            !route.summary.is_empty() && !route.successes.is_empty(),
            "{}",
            route.operation
        );
        assert_eq!(
            route.path.contains('{'),
            route.path_parameter.is_some(),
            "{}",
            route.operation
        );
    }
    let document = document("0");
    let described: usize = document["paths"]
        .as_object()
        .unwrap()
        .values()
        .map(|item| item.as_object().unwrap().len())
        .sum();
    assert_eq!(described, seen.len());
}

#[test]
fn every_reference_leads_somewhere() {
    let document = document("0");
    let mut references = BTreeMap::new();
    collect("#", &document, &mut references);
    assert!(references.len() > 20);
    for (place, reference) in references {
        let pointer = reference
            .strip_prefix('#')
            .unwrap_or_else(|| panic!("{place}: {reference}"));
        assert!(
            document.pointer(pointer).is_some(),
            "{place}: {reference} leads nowhere"
        );
    }
}

fn collect(place: &str, value: &Value, references: &mut BTreeMap<String, String>) {
    match value {
        Value::Object(object) => {
            for (name, value) in object {
                if let ("$ref", Value::String(reference)) = (name.as_str(), value) {
                    references.insert(place.to_owned(), reference.clone());
                }
                collect(&format!("{place}/{name}"), value, references);
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                collect(&format!("{place}/{index}"), item, references);
            }
        }
        _ => {}
    }
}
