//! Filters from JSON, strictly: what is not understood is refused, with the
//! path to it.
//!
//! An unknown key or operator that is ignored turns a filter into "everything",
//! so nothing is ignored here. Depth and size are bounded before anything is
//! compiled.

use serde_json::{Map, Value as JsonValue};

use super::error::{FilterError, FilterReason, json_type};
use super::{Comparison, Field, Filter, Test, leaf};

/// How deep conditions may nest.
pub const MAX_DEPTH: usize = 32;
/// How many conditions a filter may have.
pub const MAX_NODES: usize = 10_000;

/// How a filter's values are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ValueSyntax {
    /// `{"kind": "int", "int": 1}` only.
    Tagged,
    /// A plain JSON scalar or array as well, its kind inferred.
    #[default]
    Plain,
}

impl Filter {
    /// Reads a filter whose values are tagged or plain.
    pub fn parse(json: &JsonValue) -> Result<Self, FilterError> {
        Self::parse_with(json, ValueSyntax::Plain)
    }

    /// Reads a filter whose values are written in the given syntax.
    pub fn parse_with(json: &JsonValue, syntax: ValueSyntax) -> Result<Self, FilterError> {
        let mut parser = Parser { syntax, nodes: 0 };
        parser.node(json, &Path::root())
    }
}

/// Where in the filter a condition stands.
#[derive(Debug)]
pub(super) struct Path {
    text: String,
    depth: usize,
}

impl Path {
    fn root() -> Self {
        Self {
            text: "filter".to_owned(),
            depth: 1,
        }
    }

    fn child(&self, step: &str) -> Self {
        Self {
            text: format!("{}.{step}", self.text),
            depth: self.depth + 1,
        }
    }

    fn element(&self, key: &str, index: usize) -> Self {
        self.child(&format!("{key}[{index}]"))
    }

    /// The error that something is wrong here.
    pub(super) fn error(&self, reason: impl Into<FilterReason>) -> FilterError {
        FilterError {
            path: self.text.clone(),
            reason: reason.into(),
        }
    }
}

struct Parser {
    syntax: ValueSyntax,
    nodes: usize,
}

impl Parser {
    fn node(&mut self, json: &JsonValue, path: &Path) -> Result<Filter, FilterError> {
        self.nodes += 1;
        if self.nodes > MAX_NODES {
            return Err(path.error(FilterReason::TooMany));
        }
        if path.depth > MAX_DEPTH {
            return Err(path.error(FilterReason::TooDeep));
        }
        let JsonValue::Object(node) = json else {
            return Err(path.error(FilterReason::NotAnObject {
                found: json_type(json),
            }));
        };
        let name = match node.get("op") {
            Some(JsonValue::String(name)) => name,
            Some(other) => {
                return Err(path.error(FilterReason::OpType {
                    found: json_type(other),
                }));
            }
            None => return Err(path.error(missing_op(node))),
        };
        let op = Op::parse(name)
            .ok_or_else(|| path.error(FilterReason::UnknownOp { op: name.clone() }))?;
        if let Some(key) = node
            .keys()
            .find(|key| *key != "op" && !op.keys().contains(&key.as_str()))
        {
            return Err(path.error(FilterReason::UnknownKey {
                key: key.clone(),
                op: op.name(),
                allowed: op.keys(),
            }));
        }
        match op {
            Op::And => Ok(Filter::And(self.children(node, op, path)?)),
            Op::Or => Ok(Filter::Or(self.children(node, op, path)?)),
            Op::Not => {
                let child = node
                    .get("not")
                    .ok_or_else(|| path.error(FilterReason::NoChild))?;
                Ok(Filter::Not(Box::new(self.node(child, &path.child("not"))?)))
            }
            Op::Leaf(op) => self.leaf(node, op, path),
        }
    }

    fn children(
        &mut self,
        node: &Map<String, JsonValue>,
        op: Op,
        path: &Path,
    ) -> Result<Vec<Filter>, FilterError> {
        let key = op.name();
        match node.get(key) {
            None => Ok(Vec::new()),
            Some(JsonValue::Array(children)) => children
                .iter()
                .enumerate()
                .map(|(index, child)| self.node(child, &path.element(key, index)))
                .collect(),
            Some(other) => Err(path.child(key).error(FilterReason::NotAnArray {
                found: json_type(other),
            })),
        }
    }

    fn leaf(
        &self,
        node: &Map<String, JsonValue>,
        op: LeafOp,
        path: &Path,
    ) -> Result<Filter, FilterError> {
        let field = match node.get("field") {
            Some(JsonValue::String(name)) if !name.is_empty() => {
                Field::parse(name).ok_or_else(|| {
                    path.error(FilterReason::UnknownField {
                        field: name.clone(),
                    })
                })?
            }
            Some(JsonValue::String(_)) | None => {
                return Err(path.error(FilterReason::NoField { op: op.name() }));
            }
            Some(other) => {
                return Err(path.child("field").error(FilterReason::FieldType {
                    found: json_type(other),
                }));
            }
        };
        let slot = if op.is_geo() { "geo" } else { "value" };
        let operand = match (op.takes_operand(), node.get(slot)) {
            (false, _) => &JsonValue::Null,
            (true, Some(operand)) => operand,
            (true, None) => {
                return Err(path.error(FilterReason::NoOperand {
                    op: op.name(),
                    slot,
                }));
            }
        };
        let test: Test = leaf::test(op, &field, operand, self.syntax, &path.child(slot))?;
        Ok(Filter::Leaf { field, test })
    }
}

/// A bare `{"lang": "en"}` and the operator objects of other systems get a sentence
/// of their own: they are what agents write most.
fn missing_op(node: &Map<String, JsonValue>) -> FilterReason {
    match node.keys().next() {
        None => FilterReason::NoOp,
        Some(key) => FilterReason::NoOpBut { key: key.clone() },
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Op {
    And,
    Or,
    Not,
    Leaf(LeafOp),
}

impl Op {
    fn parse(name: &str) -> Option<Self> {
        match name {
            "and" => Some(Self::And),
            "or" => Some(Self::Or),
            "not" => Some(Self::Not),
            _ => LeafOp::ALL
                .into_iter()
                .find(|op| op.name() == name)
                .map(Self::Leaf),
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::And => "and",
            Self::Or => "or",
            Self::Not => "not",
            Self::Leaf(op) => op.name(),
        }
    }

    /// The keys that may stand beside `op`.
    fn keys(self) -> &'static [&'static str] {
        match self {
            Self::And => &["and"],
            Self::Or => &["or"],
            Self::Not => &["not"],
            Self::Leaf(op) if op.is_geo() => &["field", "geo"],
            Self::Leaf(op) if op.takes_operand() => &["field", "value"],
            Self::Leaf(_) => &["field"],
        }
    }
}

/// The operators that test a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LeafOp {
    Eq,
    Ne,
    Compare(Comparison),
    In,
    Contains,
    Match,
    Regex,
    IsEmpty,
    IsNull,
    Time(Comparison),
    GeoRadius,
    GeoBoundingBox,
    GeoPolygon,
}

impl LeafOp {
    pub(super) const ALL: [Self; 19] = [
        Self::Eq,
        Self::Ne,
        Self::Compare(Comparison::Gt),
        Self::Compare(Comparison::Gte),
        Self::Compare(Comparison::Lt),
        Self::Compare(Comparison::Lte),
        Self::In,
        Self::Contains,
        Self::Match,
        Self::Regex,
        Self::IsEmpty,
        Self::IsNull,
        Self::Time(Comparison::Gt),
        Self::Time(Comparison::Gte),
        Self::Time(Comparison::Lt),
        Self::Time(Comparison::Lte),
        Self::GeoRadius,
        Self::GeoBoundingBox,
        Self::GeoPolygon,
    ];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Eq => "eq",
            Self::Ne => "ne",
            Self::Compare(Comparison::Gt) => "gt",
            Self::Compare(Comparison::Gte) => "gte",
            Self::Compare(Comparison::Lt) => "lt",
            Self::Compare(Comparison::Lte) => "lte",
            Self::In => "in",
            Self::Contains => "contains",
            Self::Match => "match",
            Self::Regex => "regex",
            Self::IsEmpty => "is_empty",
            Self::IsNull => "is_null",
            Self::Time(Comparison::Gt) => "dt_gt",
            Self::Time(Comparison::Gte) => "dt_gte",
            Self::Time(Comparison::Lt) => "dt_lt",
            Self::Time(Comparison::Lte) => "dt_lte",
            Self::GeoRadius => "geo_radius",
            Self::GeoBoundingBox => "geo_bounding_box",
            Self::GeoPolygon => "geo_polygon",
        }
    }

    fn is_geo(self) -> bool {
        matches!(
            self,
            Self::GeoRadius | Self::GeoBoundingBox | Self::GeoPolygon
        )
    }

    fn takes_operand(self) -> bool {
        !matches!(self, Self::IsEmpty | Self::IsNull)
    }
}

/// The names of all operators, for an error message.
pub(super) fn op_names() -> String {
    let leaves = LeafOp::ALL.into_iter().map(LeafOp::name);
    ["and", "or", "not"]
        .into_iter()
        .chain(leaves)
        .collect::<Vec<_>>()
        .join(", ")
}
