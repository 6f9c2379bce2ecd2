use http::Uri;
use serde_json::{Value, json};

use super::query::QueryShape;
use crate::wire::{ForgetArgs, ListArgs, RecallArgs};

fn members(shape: &QueryShape, query: &str) -> Value {
    let uri: Uri = format!("/v1/x?{query}").parse().unwrap();
    shape.members(&uri).map(Value::Object).unwrap()
}

fn refusal(shape: &QueryShape, query: &str) -> (String, String) {
    let uri: Uri = format!("/v1/x?{query}").parse().unwrap();
    let error = shape.members(&uri).expect_err(query);
    (
        error.field().unwrap_or_default().to_owned(),
        error.message().to_owned(),
    )
}

#[test]
fn parameters_are_read_by_the_type_of_the_argument() {
    let shape = QueryShape::of::<RecallArgs>();
    let query = "query=a%2Bb+c&limit=5&min_score=0.5&kinds=fact&kinds=a%2Cb&filter=%7B%22op%22%3A%22and%22%7D&as_of=7";
    assert_eq!(
        members(&shape, query),
        json!({"query": "a+b c", "limit": 5, "min_score": 0.5, "kinds": ["fact", "a,b"], "filter": {"op": "and"}, "as_of": "7"})
    );
    let forget = QueryShape::only::<ForgetArgs>(&["purge"]);
    assert_eq!(members(&forget, "purge=true"), json!({"purge": true}));
    assert_eq!(members(&forget, ""), json!({}));
}

#[test]
fn a_wrong_parameter_is_named() {
    let shape = QueryShape::of::<ListArgs>();
    for (query, field) in [
        ("limit=ten", "limit"),
        ("limit=1.5", "limit"),
        ("limit=1&limit=2", "limit"),
        ("filter=1", "filter"),
        ("filter=%7B", "filter"),
        ("page=2", "page"),
        ("Limit=2", "Limit"),
    ] {
        assert_eq!(refusal(&shape, query).0, field, "{query}");
    }
    let forget = QueryShape::only::<ForgetArgs>(&["purge"]);
    assert_eq!(refusal(&forget, "purge").0, "purge");
    assert_eq!(refusal(&forget, "purge=1").0, "purge");
    assert_eq!(
        refusal(&forget, "ids=a").1,
        "is not a parameter here; the parameters are purge"
    );
}
