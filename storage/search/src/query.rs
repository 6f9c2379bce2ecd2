//! The query: what is wanted, by whom it may be seen, and how it is ranked.
//!
//! It is plain data with the time in it, so that the same query over the same
//! records always has the same answer. Surfaces translate into it; nothing here
//! knows their argument names.

use crate::bm25::Bm25;
use crate::filter::Filter;
use crate::record::{Record, ScopePath, Status};

/// How many of its best records a lane contributes to fusion by default.
pub const DEFAULT_LANE_DEPTH: usize = 100;
/// How many hits a query returns by default.
pub const DEFAULT_LIMIT: usize = 10;

/// One query.
///
/// With neither text nor vector it lists what is visible, newest first.
#[derive(Debug, Clone)]
pub struct Query {
    /// What the user typed, always literal.
    pub text: Option<String>,
    /// Which lanes rank.
    pub mode: Mode,
    /// Where the query's vector comes from.
    pub vector: VectorSource,
    /// What records must satisfy.
    pub filter: Option<Filter>,
    /// Where records must lie.
    pub scope: ScopeFilter,
    /// The surface that records must belong to; `None` is any.
    pub realm: Option<String>,
    /// The statuses that are visible.
    pub statuses: Vec<Status>,
    /// The instant of the query, in Unix milliseconds; what has expired by
    /// then is invisible.
    pub now: i64,
    /// The time window that records must lie in.
    pub window: Option<Window>,
    /// The most hits to return.
    pub limit: usize,
    /// The least score of a hit: a cosine in semantic mode, a BM25 score in keyword
    /// mode, and in hybrid mode the fused score normalised to 0..=1
    /// ([`crate::fusion::fuse`]).
    pub min_score: Option<f64>,
    /// How many of its best records each lane contributes to fusion; a larger
    /// `limit` raises it.
    pub lane_depth: usize,
    /// The parameters of the keyword lane.
    pub bm25: Bm25,
    /// How much of the segments' vectors is read.
    pub effort: Effort,
    /// Of how few rows all are read and ranked exactly.
    pub few: Few,
}

impl Query {
    /// A query over everything active, without text, vector or filter.
    pub fn new(now: i64) -> Self {
        Self {
            text: None,
            mode: Mode::Hybrid,
            vector: VectorSource::None,
            filter: None,
            scope: ScopeFilter::All,
            realm: None,
            statuses: vec![Status::Active],
            now,
            window: None,
            limit: DEFAULT_LIMIT,
            min_score: None,
            lane_depth: DEFAULT_LANE_DEPTH,
            bm25: Bm25::default(),
            effort: Effort::default(),
            few: Few::default(),
        }
    }

    /// Whether the query's vector has to be fetched.
    pub fn awaits_vector(&self) -> bool {
        self.mode != Mode::Keyword && matches!(self.vector, VectorSource::Awaited { .. })
    }

    /// Whether the query may see a record at all, whatever it is ranked.
    pub fn admits(&self, record: &Record) -> bool {
        self.statuses.contains(&record.status)
            && record.expires.is_none_or(|expires| expires > self.now)
            && self
                .realm
                .as_ref()
                .is_none_or(|realm| *realm == record.realm)
            && self.scope.admits(&record.scope)
            && self
                .window
                .as_ref()
                .is_none_or(|window| window.admits(record))
            && self
                .filter
                .as_ref()
                .is_none_or(|filter| filter.evaluate(record))
    }
}

/// How much of the segments' vectors a search reads: it trades recall for bytes and
/// requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Effort {
    /// Half of the usual.
    Fast,
    /// The usual: at least 95 of 100 of the ten nearest are found.
    #[default]
    Balanced,
    /// Four times the usual.
    Thorough,
    /// All of them, and by meaning alone every row that may be a hit, as far as the errors of
    /// the codes tell: for ten hits 144 of 20,000 real vectors.
    Exact,
}

/// When the rows that a query may see are few: all of them are then read and ranked
/// exactly, instead of those that lists and codes promise most of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Few {
    /// At most so many rows.
    pub rows: u64,
    /// Or so many as lie in blocks of so many bytes.
    pub bytes: u64,
}

impl Default for Few {
    fn default() -> Self {
        Self {
            rows: 128,
            bytes: 3_000_000,
        }
    }
}

/// Which lanes rank.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Mode {
    /// Keyword and semantic, fused by what their scores are worth.
    #[default]
    Hybrid,
    /// BM25 alone.
    Keyword,
    /// Cosine alone.
    Semantic,
}

/// Where the query's vector comes from.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum VectorSource {
    /// There is none: no embedding is configured.
    #[default]
    None,
    /// It came with the query.
    Given {
        /// The embedding profile it belongs to.
        profile: String,
        /// The vector, of any length; normalising is done here.
        values: Vec<f32>,
    },
    /// It is computed from the text, and given to [`crate::step::Search::new`].
    Awaited {
        /// The embedding profile it will belong to.
        profile: String,
    },
}

/// Where records must lie.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum ScopeFilter {
    /// Anywhere.
    #[default]
    All,
    /// In this scope.
    Exact(ScopePath),
    /// In this scope or one of its ancestors.
    Inherited(ScopePath),
    /// In this scope or below it.
    Below(ScopePath),
}

impl ScopeFilter {
    /// Whether a scope lies where records must lie.
    pub fn admits(&self, scope: &ScopePath) -> bool {
        match self {
            Self::All => true,
            Self::Exact(path) => path == scope,
            Self::Inherited(path) => scope.contains(path),
            Self::Below(path) => path.contains(scope),
        }
    }
}

/// A time window over one of a record's instants: `since <= t < until`.
///
/// A record without the instant lies outside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Window {
    /// The instant that is compared.
    pub field: TimeField,
    /// First instant inside, in Unix milliseconds.
    pub since: Option<i64>,
    /// First instant after, in Unix milliseconds.
    pub until: Option<i64>,
}

impl Window {
    /// Whether the record's instant lies inside.
    pub fn admits(&self, record: &Record) -> bool {
        let instant = match &self.field {
            TimeField::Updated => Some(record.updated),
            TimeField::Created => Some(record.created),
            TimeField::Named(name) => record.timestamps.get(name).copied(),
        };
        instant.is_some_and(|instant| {
            self.since.is_none_or(|since| since <= instant)
                && self.until.is_none_or(|until| instant < until)
        })
    }
}

/// An instant of a record.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum TimeField {
    /// When this version was made.
    #[default]
    Updated,
    /// When the item was first made.
    Created,
    /// An entry of [`Record::timestamps`].
    Named(String),
}
