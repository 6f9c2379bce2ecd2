//! The filter argument: a JSON object that the search engine's grammar reads.
//! Its schema is a plain object, because the grammar nests and a portable schema
//! cannot; what is wrong with a filter is said by the parser, never ignored.

use ostraca_memory::{Error, Filter};
use serde_json::{Map, Value};

/// The filter of the arguments, if there is one.
pub(super) fn filter(json: Option<Map<String, Value>>) -> Result<Option<Filter>, Error> {
    json.map(|json| {
        Filter::parse(&Value::Object(json))
            .map_err(|error| Error::invalid(error.path.clone(), error.reason.to_string()))
    })
    .transpose()
}
