//! `recall` on the wire: a question and what narrows it; hits with their whole
//! explanation, so that a caller can see why each was found.

use ostraca_memory as domain;
use ostraca_memory::{Error, Lane as DomainLane, RecallHit, RecallRequest, SearchEffort};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::target::{Reach, selector};
use super::time::{AsOf, instant};
use super::{Arguments, Memory, Receipt, filter};

/// What to recall.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RecallArgs {
    /// What to look for, in plain words. Nothing in it is syntax.
    pub query: Option<String>,
    /// `hybrid` joins both. Absent: the best there is.
    pub mode: Option<Mode>,
    /// How closely to look by meaning.
    pub effort: Option<Effort>,
    /// A path such as `projects/atlas`. Absent: the root.
    pub scope: Option<String>,
    /// How far to look: `exact`, `inherited` (it and all above it; the default), `below` (it and all below) or `all`.
    pub reach: Option<Reach>,
    /// Which memories count, such as `{"op":"eq","field":"status","value":"open"}`; `and`, `or` and `not` combine.
    pub filter: Option<Map<String, Value>>,
    /// Only memories of these kinds.
    pub kinds: Option<Vec<String>>,
    /// Written at or after this time: RFC 3339, or a date.
    pub since: Option<String>,
    /// Only memories written before this time: RFC 3339, or a date.
    pub until: Option<String>,
    /// As of a log position from a receipt, or a time.
    pub as_of: Option<AsOf>,
    /// Leave out hits below this: a cosine in `semantic`, a BM25 score in `keyword`, and in `hybrid` 0 to 1, where 1 is first by words and by meaning.
    pub min_score: Option<f64>,
    /// How many hits at most; 10 if absent.
    #[schemars(range(min = 1, max = 100))]
    pub limit: Option<u32>,
    /// Roughly how many tokens of content the answer may hold.
    #[schemars(range(min = 1))]
    pub max_tokens: Option<u32>,
    /// The vector of the query, if the caller makes vectors itself.
    pub vector: Option<Vec<f32>>,
}

impl Arguments for RecallArgs {}

/// Which lanes a recall uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum Mode {
    /// Words and meaning, by their scores combined.
    Hybrid,
    /// Words alone.
    Keyword,
    /// Meaning alone.
    Semantic,
}

impl From<Mode> for domain::Mode {
    fn from(mode: Mode) -> Self {
        match mode {
            Mode::Hybrid => Self::Hybrid,
            Mode::Keyword => Self::Keyword,
            Mode::Semantic => Self::Semantic,
        }
    }
}

impl From<domain::Mode> for Mode {
    fn from(mode: domain::Mode) -> Self {
        match mode {
            domain::Mode::Hybrid => Self::Hybrid,
            domain::Mode::Keyword => Self::Keyword,
            domain::Mode::Semantic => Self::Semantic,
        }
    }
}

/// How much of a large collection a recall by meaning looks at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum Effort {
    /// Less than usual.
    Fast,
    /// The usual.
    Balanced,
    /// More than usual.
    Thorough,
    /// Everything.
    Exact,
}

impl From<Effort> for SearchEffort {
    fn from(effort: Effort) -> Self {
        match effort {
            Effort::Fast => Self::Fast,
            Effort::Balanced => Self::Balanced,
            Effort::Thorough => Self::Thorough,
            Effort::Exact => Self::Exact,
        }
    }
}

impl TryFrom<RecallArgs> for RecallRequest {
    type Error = Error;

    fn try_from(args: RecallArgs) -> Result<Self, Error> {
        Ok(Self {
            query: args.query,
            vector: args.vector,
            mode: args.mode.map(Into::into),
            effort: args.effort.map(Into::into).unwrap_or_default(),
            scope: selector(args.scope.as_deref(), args.reach, Reach::Inherited)?,
            filter: filter::filter(args.filter)?,
            kinds: args.kinds.unwrap_or_default(),
            since: instant("since", args.since)?,
            until: instant("until", args.until)?,
            as_of: args.as_of.map(AsOf::resolve).transpose()?,
            min_score: args.min_score,
            limit: args.limit,
            max_tokens: args.max_tokens,
            ..Self::default()
        })
    }
}

/// What was found.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct RecallReply {
    /// The best first.
    pub hits: Vec<Hit>,
    /// How many memories matched, shown or not.
    pub matched: u64,
    /// Whether matches were left out to keep to `limit`, `max_tokens` or the size of an answer.
    pub truncated: bool,
    /// The mode that was used.
    pub mode: Mode,
    /// What could make the next recall better.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// What it took.
    pub receipt: Receipt,
}

/// One memory that was found.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Hit {
    /// The memory.
    #[serde(flatten)]
    pub memory: Memory,
    /// What the hits are ordered by, and what `min_score` compares with: by the mode both scores combined, from 0 to 1, BM25, or cosine.
    pub score: f64,
    /// Why it was found.
    pub why: Why,
}

/// Why a memory was found.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Why {
    /// Where it stood among the matches by words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub keyword: Option<Lane>,
    /// Where it stood among the matches by meaning.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub semantic: Option<Lane>,
    /// The terms of the query that it holds.
    pub terms: Vec<String>,
}

/// A place in one lane.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Lane {
    /// Place, from 1.
    pub rank: u64,
    /// The lane's own score: BM25, or cosine similarity.
    pub score: f64,
}

impl From<DomainLane> for Lane {
    fn from(lane: DomainLane) -> Self {
        Self {
            rank: u64::try_from(lane.rank).unwrap_or(u64::MAX),
            score: lane.score,
        }
    }
}

impl From<RecallHit> for Hit {
    fn from(hit: RecallHit) -> Self {
        Self {
            memory: Memory::excerpt(&hit.record, hit.excerpt),
            score: hit.score,
            why: Why {
                keyword: hit.keyword.map(Into::into),
                semantic: hit.semantic.map(Into::into),
                terms: hit.terms,
            },
        }
    }
}

impl From<domain::RecallReply> for RecallReply {
    fn from(reply: domain::RecallReply) -> Self {
        Self {
            hits: reply.hits.into_iter().map(Into::into).collect(),
            matched: reply.matched,
            truncated: reply.truncated,
            mode: reply.mode.into(),
            hint: reply.hint,
            receipt: reply.receipt.into(),
        }
    }
}
