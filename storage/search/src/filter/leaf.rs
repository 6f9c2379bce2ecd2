//! From an operator and what it compares with to a test.
//!
//! Here stands which kinds an operator takes and which of a record's own
//! fields it says something about; a test that could never hold is refused rather
//! than answered with nothing.

use std::collections::BTreeSet;

use serde_json::{Map, Value as JsonValue};

use super::error::{FilterError, FilterReason, json_type};
use super::parse::{LeafOp, Path};
use super::{
    Comparison, Field, FieldKind, Members, Operand, Pattern, Shape, Test, ValueSyntax, operand,
    parse_instant, tokens,
};
use crate::record::Value;

/// Reads the test of a leaf.
pub(super) fn test(
    op: LeafOp,
    field: &Field,
    json: &JsonValue,
    syntax: ValueSyntax,
    path: &Path,
) -> Result<Test, FilterError> {
    check_field(op, field, path)?;
    let value = || operand::value(json, syntax, path).map(|value| widen(field, value));
    match op {
        LeafOp::IsEmpty => Ok(Test::IsEmpty),
        LeafOp::IsNull => Ok(Test::IsNull),
        LeafOp::Eq => Ok(Test::Eq(comparable(field, value()?, path)?)),
        LeafOp::Ne => Ok(Test::Ne(comparable(field, value()?, path)?)),
        LeafOp::Compare(comparison) => order(op, comparison, field, value()?, path),
        LeafOp::In => members(op, field, value()?, path),
        LeafOp::Contains => match value()? {
            value @ (Value::String(_) | Value::Int(_) | Value::Float(_)) => {
                Ok(Test::Contains(value))
            }
            other => Err(wrong_kind(op, "a string, an int or a float", &other, path)),
        },
        LeafOp::Match => match value()? {
            Value::String(text) => Ok(Test::Match(tokens::tokens(&text))),
            other => Err(wrong_kind(op, "a string", &other, path)),
        },
        LeafOp::Regex => match value()? {
            Value::String(source) => Pattern::parse(&source)
                .map(Test::Regex)
                .map_err(|refused| path.error(refused)),
            other => Err(wrong_kind(op, "a string", &other, path)),
        },
        LeafOp::Time(comparison) => match value()? {
            Value::String(text) => parse_instant(&text)
                .map(|instant| Test::Time(comparison, instant))
                .map_err(|refused| path.error(refused)),
            other => Err(wrong_kind(op, "an RFC 3339 string", &other, path)),
        },
        LeafOp::GeoRadius | LeafOp::GeoBoundingBox | LeafOp::GeoPolygon => {
            shape(op, json, path).map(Test::Geo)
        }
    }
}

/// Refuses an operator that says nothing of one of a record's own fields.
fn check_field(op: LeafOp, field: &Field, path: &Path) -> Result<(), FilterError> {
    let kind = field.kind();
    let applies = match op {
        LeafOp::Match | LeafOp::Regex => matches!(kind, FieldKind::String | FieldKind::Any),
        LeafOp::Time(_) => matches!(kind, FieldKind::Time | FieldKind::Any),
        LeafOp::Contains | LeafOp::GeoRadius | LeafOp::GeoBoundingBox | LeafOp::GeoPolygon => {
            kind == FieldKind::Any
        }
        LeafOp::Eq
        | LeafOp::Ne
        | LeafOp::Compare(_)
        | LeafOp::In
        | LeafOp::IsEmpty
        | LeafOp::IsNull => true,
    };
    if applies {
        return Ok(());
    }
    Err(path.error(FilterReason::WrongField {
        op: op.name(),
        field: field.clone(),
        kind,
    }))
}

/// An own field that holds floats takes whole numbers as floats: JSON writes 1.0
/// as 1.
fn widen(field: &Field, value: Value) -> Value {
    match (field.kind(), value) {
        (FieldKind::Float, Value::Int(int)) => Value::Float(int as f64),
        (FieldKind::Float, Value::Ints(ints)) => {
            Value::Floats(ints.into_iter().map(|int| int as f64).collect())
        }
        (_, value) => value,
    }
}

/// Refuses a value that one of a record's own fields could never equal.
fn comparable(field: &Field, value: Value, path: &Path) -> Result<Value, FilterError> {
    let kind = field.kind();
    let possible = match kind {
        FieldKind::Any => true,
        FieldKind::String => matches!(value, Value::String(_) | Value::Strings(_)),
        FieldKind::Int | FieldKind::Time => matches!(value, Value::Int(_) | Value::Ints(_)),
        FieldKind::Float => matches!(value, Value::Float(_) | Value::Floats(_)),
    };
    if possible {
        return Ok(value);
    }
    let found = value.kind();
    Err(path.error(FilterReason::FieldValue {
        field: field.clone(),
        kind,
        found,
    }))
}

fn order(
    op: LeafOp,
    comparison: Comparison,
    field: &Field,
    value: Value,
    path: &Path,
) -> Result<Test, FilterError> {
    let is_number = matches!(value, Value::Int(_) | Value::Float(_));
    let possible = match field.kind() {
        FieldKind::Any => true,
        FieldKind::String => !is_number,
        FieldKind::Int | FieldKind::Float | FieldKind::Time => is_number,
    };
    if !possible {
        comparable(field, value.clone(), path)?;
    }
    let operand = match value {
        Value::Int(int) => Operand::Int(int),
        Value::Float(float) => Operand::Float(float),
        Value::String(text) => Operand::String(text),
        other => return Err(wrong_kind(op, "an int, a float or a string", &other, path)),
    };
    Ok(Test::Compare(comparison, operand))
}

fn members(op: LeafOp, field: &Field, value: Value, path: &Path) -> Result<Test, FilterError> {
    let members = match value {
        Value::Strings(items) if items.is_empty() => Members::Strings(BTreeSet::new()),
        value => match comparable(field, value, path)? {
            Value::Strings(items) => Members::Strings(items.into_iter().collect()),
            Value::Ints(items) => Members::Ints(items.into_iter().collect()),
            Value::Floats(mut items) => {
                items.retain(|item| !item.is_nan());
                // So that 0 and -0, which are equal, stand together.
                for item in &mut items {
                    *item += 0.0;
                }
                items.sort_by(f64::total_cmp);
                Members::Floats(items)
            }
            other => return Err(wrong_kind(op, "strings, ints or floats", &other, path)),
        },
    };
    Ok(Test::In(members))
}

fn wrong_kind(op: LeafOp, expected: &'static str, found: &Value, path: &Path) -> FilterError {
    path.error(FilterReason::WrongKind {
        op: op.name(),
        expected,
        found: found.kind(),
    })
}

fn shape(op: LeafOp, json: &JsonValue, path: &Path) -> Result<Shape, FilterError> {
    let JsonValue::Object(geo) = json else {
        let found = json_type(json);
        return Err(path.error(FilterReason::WrongKind {
            op: op.name(),
            expected: "an object",
            found,
        }));
    };
    match op {
        LeafOp::GeoRadius => {
            let [lat, lon, radius_m] = numbers(
                geo,
                ["center_lat", "center_lon", "radius_m"],
                "center_lat, center_lon, radius_m",
                path,
            )?;
            check_point(lat, lon, path)?;
            if radius_m <= 0.0 {
                return Err(path.error(FilterReason::Geo {
                    rule: "radius_m is greater than 0",
                }));
            }
            Ok(Shape::Radius { lat, lon, radius_m })
        }
        LeafOp::GeoBoundingBox => {
            let [min_lat, min_lon, max_lat, max_lon] = numbers(
                geo,
                ["min_lat", "min_lon", "max_lat", "max_lon"],
                "min_lat, min_lon, max_lat, max_lon",
                path,
            )?;
            check_point(min_lat, min_lon, path)?;
            check_point(max_lat, max_lon, path)?;
            if min_lat > max_lat || min_lon > max_lon {
                let rule =
                    "the minima are not above the maxima (a box does not cross the antimeridian)";
                return Err(path.error(FilterReason::Geo { rule }));
            }
            Ok(Shape::Bounds {
                min_lat,
                min_lon,
                max_lat,
                max_lon,
            })
        }
        _ => polygon(geo, path),
    }
}

fn polygon(geo: &Map<String, JsonValue>, path: &Path) -> Result<Shape, FilterError> {
    if let Some(key) = geo.keys().find(|key| *key != "polygon") {
        return Err(path.error(FilterReason::GeoKey {
            key: key.clone(),
            allowed: "polygon",
        }));
    }
    let rule = "polygon is an array [lat, lon, lat, lon, …] of an even length of at least 6";
    let refused = || path.error(FilterReason::Geo { rule });
    let degrees: Vec<f64> = geo
        .get("polygon")
        .and_then(JsonValue::as_array)
        .and_then(|items| items.iter().map(JsonValue::as_f64).collect())
        .ok_or_else(refused)?;
    if degrees.len() < 6 || !degrees.len().is_multiple_of(2) {
        return Err(refused());
    }
    let vertices: Vec<(f64, f64)> = degrees
        .chunks_exact(2)
        .filter_map(|pair| match pair {
            [lat, lon] => Some((*lat, *lon)),
            _ => None,
        })
        .collect();
    for (lat, lon) in &vertices {
        check_point(*lat, *lon, path)?;
    }
    Ok(Shape::Polygon(vertices))
}

fn numbers<const N: usize>(
    geo: &Map<String, JsonValue>,
    names: [&'static str; N],
    allowed: &'static str,
    path: &Path,
) -> Result<[f64; N], FilterError> {
    if let Some(key) = geo.keys().find(|key| !names.contains(&key.as_str())) {
        return Err(path.error(FilterReason::GeoKey {
            key: key.clone(),
            allowed,
        }));
    }
    let mut numbers = [0.0; N];
    for (number, name) in numbers.iter_mut().zip(names) {
        *number = geo.get(name).and_then(JsonValue::as_f64).ok_or_else(|| {
            path.error(FilterReason::SlotType {
                slot: name,
                expected: "a number",
            })
        })?;
    }
    Ok(numbers)
}

fn check_point(lat: f64, lon: f64, path: &Path) -> Result<(), FilterError> {
    if lat.abs() <= 90.0 && lon.abs() <= 180.0 {
        return Ok(());
    }
    let rule = "latitudes lie within -90..=90 and longitudes within -180..=180";
    Err(path.error(FilterReason::Geo { rule }))
}
