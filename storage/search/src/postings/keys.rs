//! The terms of a record that are not words: the names it is looked up by, and the
//! values of its fields that filters ask for.
//!
//! Both sides stand here, what a record is filed under and what a question asks for, so
//! that they cannot differ. What has no term (floats, orders, patterns) is not answered
//! by lists at all, rather than nearly.

use super::hash::{Namespace, TermHash};
use crate::filter::{Field, Members, Test};
use crate::record::{Record, ScopePath, Status, Value};

/// The terms that a record is filed under, each once: its id, its key and its content
/// hash in their place; its realm, its scope and every scope above but the root; and the
/// values of its fields as [`of_test`] asks for them.
pub fn of_record(record: &Record) -> Vec<TermHash> {
    let mut terms = vec![
        id(&record.id),
        realm(&record.realm),
        scope(&record.scope),
        status(record.status),
    ];
    let place = (&*record.realm, &record.scope);
    terms.extend(record.key.as_ref().map(|name| key(place.0, place.1, name)));
    terms.extend(
        record
            .content_hash
            .map(|hash| content_hash(place.0, place.1, &hash)),
    );
    let scopes = std::iter::successors(Some(record.scope.clone()), ScopePath::parent);
    terms.extend(
        scopes
            .filter(|scope| !scope.is_root())
            .map(|scope| within(&scope)),
    );
    let texts = [
        (Field::Key, &record.key),
        (Field::Kind, &record.kind),
        (Field::Source, &record.source),
        (Field::Author, &record.author),
        (Field::Sensitivity, &record.sensitivity),
    ];
    for (field, text) in texts {
        terms.extend(text.as_ref().map(|text| value(&field, Scalar::Text(text))));
    }
    for (name, stored) in &record.metadata {
        let field = Field::Metadata(name.clone());
        match stored {
            Value::Strings(items) => {
                terms.extend(items.iter().map(|item| member(&field, Scalar::Text(item))));
            }
            Value::Ints(items) => {
                terms.extend(items.iter().map(|item| member(&field, Scalar::Int(*item))));
            }
            other => terms.extend(Scalar::of(other).map(|scalar| value(&field, scalar))),
        }
    }
    terms.sort_unstable();
    terms.dedup();
    terms
}

/// The terms whose lists together are exactly the rows that satisfy a test; `None` if
/// lists do not say.
pub fn of_test(field: &Field, test: &Test) -> Option<Vec<TermHash>> {
    match (field, test) {
        (Field::Id, Test::Eq(Value::String(wanted))) => Some(vec![id(wanted)]),
        (Field::Id, Test::In(Members::Strings(wanted))) => {
            Some(wanted.iter().map(|wanted| id(wanted)).collect())
        }
        (Field::Metadata(_), Test::Contains(wanted)) => {
            Some(vec![member(field, Scalar::of(wanted)?)])
        }
        (
            Field::Key
            | Field::Kind
            | Field::Scope
            | Field::Status
            | Field::Source
            | Field::Author
            | Field::Sensitivity
            | Field::Metadata(_),
            test,
        ) => of_values(field, test),
        _ => None,
    }
}

fn of_values(field: &Field, test: &Test) -> Option<Vec<TermHash>> {
    match test {
        Test::Eq(wanted) => Some(vec![value(field, Scalar::of(wanted)?)]),
        Test::In(Members::Strings(wanted)) => Some(
            wanted
                .iter()
                .map(|wanted| value(field, Scalar::Text(wanted)))
                .collect(),
        ),
        Test::In(Members::Ints(wanted)) => Some(
            wanted
                .iter()
                .map(|wanted| value(field, Scalar::Int(*wanted)))
                .collect(),
        ),
        _ => None,
    }
}

/// The record of an id.
pub fn id(id: &str) -> TermHash {
    TermHash::of(Namespace::Id, id.as_bytes())
}

/// The record of a key in its realm and scope.
pub fn key(realm: &str, scope: &ScopePath, key: &str) -> TermHash {
    let place = [realm.as_bytes(), scope.as_str().as_bytes(), key.as_bytes()];
    TermHash::of(Namespace::Key, &join(&place))
}

/// The records of a content in a realm and scope.
pub fn content_hash(realm: &str, scope: &ScopePath, hash: &[u8; 16]) -> TermHash {
    let place = [realm.as_bytes(), scope.as_str().as_bytes(), hash.as_slice()];
    TermHash::of(Namespace::ContentHash, &join(&place))
}

/// The records of a realm.
pub fn realm(realm: &str) -> TermHash {
    TermHash::of(Namespace::Realm, realm.as_bytes())
}

/// The records that lie in exactly this scope.
pub fn scope(scope: &ScopePath) -> TermHash {
    value(&Field::Scope, Scalar::Text(scope.as_str()))
}

/// The records in this scope or below it. The root has no list, as it would have every
/// row.
pub fn within(scope: &ScopePath) -> TermHash {
    TermHash::of(Namespace::Within, scope.as_str().as_bytes())
}

/// The records of a status.
pub fn status(status: Status) -> TermHash {
    value(&Field::Status, Scalar::Text(status.as_str()))
}

/// A value that has a term. Kinds are never converted, as filters do not.
#[derive(Debug, Clone, Copy)]
enum Scalar<'a> {
    Bool(bool),
    Int(i64),
    Text(&'a str),
}

impl<'a> Scalar<'a> {
    fn of(value: &'a Value) -> Option<Self> {
        match value {
            Value::Bool(value) => Some(Self::Bool(*value)),
            Value::Int(value) => Some(Self::Int(*value)),
            Value::String(value) => Some(Self::Text(value)),
            _ => None,
        }
    }

    fn push(self, out: &mut Vec<u8>) {
        match self {
            Self::Bool(value) => out.extend_from_slice(&[b'b', u8::from(value)]),
            Self::Int(value) => {
                out.push(b'i');
                out.extend_from_slice(&value.to_le_bytes());
            }
            Self::Text(value) => {
                out.push(b's');
                out.extend_from_slice(value.as_bytes());
            }
        }
    }
}

fn value(field: &Field, scalar: Scalar<'_>) -> TermHash {
    TermHash::of(Namespace::Value, &of_field(field, scalar))
}

fn member(field: &Field, scalar: Scalar<'_>) -> TermHash {
    TermHash::of(Namespace::Member, &of_field(field, scalar))
}

fn of_field(field: &Field, scalar: Scalar<'_>) -> Vec<u8> {
    // A metadata key may look like the name of an own field.
    let (owner, name) = match field {
        Field::Metadata(key) => (b"m", key.clone()),
        own => (b"r", own.to_string()),
    };
    let mut bytes = join(&[owner, name.as_bytes()]);
    scalar.push(&mut bytes);
    bytes
}

/// The parts behind each other, each after its length as a little-endian u32, so that
/// no two lists of parts give the same bytes.
fn join(parts: &[&[u8]]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for part in parts {
        let len = u32::try_from(part.len()).unwrap_or(u32::MAX);
        bytes.extend_from_slice(&len.to_le_bytes());
        bytes.extend_from_slice(part);
    }
    bytes
}
