//! `recall`: ranks memories for a query by words, by meaning, or both. The embedding
//! of the query and the reading of the log go on side by side; when the embedder
//! fails, the answer comes from the words and says so.

use std::collections::BTreeMap;
use std::sync::Arc;

use ostraca_object::error::StoreError;
use ostraca_object::io::Io;
use ostraca_object::key::Seq;
use ostraca_object::log::Freshness;
use ostraca_object::port::Timestamp;
use ostraca_search::segment::Replaced;
use ostraca_search::{
    Answer, Effort, Filter, Lane, Mode, Query, Record, Search, Snapshot, Step, Tail, VectorSource,
    VectorUnavailable, text,
};

use crate::asof::AsOf;
use crate::caller::Permission;
use crate::embed::EmbedError;
use crate::error::{Error, ErrorKind, Result};
use crate::excerpt::{Budget, Excerpt};
use crate::load;
use crate::ops::list::AROUND;
use crate::profile::Profile;
use crate::receipt::{Coverage, Receipt};
use crate::scope::{Reach, ScopeSelector};
use crate::selection::Selection;
use crate::session::Session;
use crate::speculation::{Asking, Moment, Speculation, boxed};
use crate::validate;
use crate::view::View;

/// What to look for.
#[derive(Debug, Clone, Default)]
pub struct RecallRequest {
    /// Words, always taken literally.
    pub query: Option<String>,
    /// A vector of the caller's own to compare with.
    pub vector: Option<Vec<f32>>,
    /// How to rank; hybrid where there are vectors, else by keywords, if absent.
    pub mode: Option<Mode>,
    /// Which scopes.
    pub scope: ScopeSelector,
    /// What memories must satisfy.
    pub filter: Option<Filter>,
    /// The kinds they may have; any if empty.
    pub kinds: Vec<String>,
    /// The first instant of `updated` that counts.
    pub since: Option<Timestamp>,
    /// The first instant of `updated` that no longer counts.
    pub until: Option<Timestamp>,
    /// The moment to look at; now if absent.
    pub as_of: Option<AsOf>,
    /// The least score; see [`ostraca_search::Query::min_score`].
    pub min_score: Option<f64>,
    /// Hits, 10 if absent, at most [`crate::Limits::recall_hits`].
    pub limit: Option<u32>,
    /// About how many tokens of a model's context the hits may take.
    pub max_tokens: Option<u32>,
    /// How fresh the answer must be.
    pub freshness: Freshness,
    /// How much of a large collection's vectors is read.
    pub effort: Effort,
}

/// What was found.
#[derive(Debug, Clone)]
pub struct RecallReply {
    /// The hits, best first.
    pub hits: Vec<RecallHit>,
    /// How many memories matched at all.
    pub matched: u64,
    /// Whether hits were left out for want of room.
    pub truncated: bool,
    /// How it was ranked.
    pub mode: Mode,
    /// What to try next, when nothing was found here but might be elsewhere.
    pub hint: Option<String>,
    /// What it was read from.
    pub receipt: Receipt,
}

/// One hit.
#[derive(Debug, Clone)]
pub struct RecallHit {
    /// The memory.
    pub record: Arc<Record>,
    /// What the hits are ordered by.
    pub score: f64,
    /// Its place by words.
    pub keyword: Option<Lane>,
    /// Its place by meaning.
    pub semantic: Option<Lane>,
    /// The query's terms that it holds, as they were analysed.
    pub terms: Vec<String>,
    /// The part of its content that shows best why it was found.
    pub excerpt: Excerpt,
}

const DEFAULT_LIMIT: u32 = 10;

impl Session {
    /// Looks for memories.
    ///
    /// # Errors
    /// Invalid for a blank query, a vector of the wrong length or a moment in the
    /// future, Forbidden without `memories:read`, Unavailable if storage fails. A
    /// failing embedder is no error: see [`Receipt::degraded`].
    pub async fn recall(&self, request: RecallRequest) -> Result<RecallReply> {
        self.caller.require(Permission::Read)?;
        self.check_recall(&request)?;
        let io = self.db.io();
        let wants_vector = self.wants_vector(&request);
        let model = self.db.embedding_model();
        let asking = Asking {
            query: &|profile| self.query(profile, &request, wants_vector),
            admits: &|profile, embedded| admit(profile, model, embedded),
        };
        let text = request.query.as_deref().unwrap_or_default();
        let embedding = wants_vector.then(|| boxed(self.embed_query(text)));
        let moment = request.as_of.map_or(Moment::Now, |_| Moment::Past);
        let mut speculation = Speculation::new(asking, moment, embedding);
        load::refresh_beside(&self.log, &io, request.freshness, Some(&mut speculation)).await?;
        let embedded = speculation.embedded().await;
        let in_place = match moment {
            Moment::Now => {
                self.search_in_place(&io, &request, &mut speculation)
                    .await?
            }
            Moment::Past => None,
        };
        if let Some((answer, position, hint)) = in_place {
            return Ok(self.reply(&io, &request, answer, position, hint));
        }
        let look = |view: &View, newest: Seq| {
            let at = Self::position(view, newest, request.as_of)?;
            let profile = Profile::of(view);
            let query = (asking.query)(profile.as_ref());
            let embedded = embedded.map(|embedded| (asking.admits)(profile.as_ref(), embedded));
            let answer = if at == newest {
                run(query, view.tail(), embedded)?
            } else {
                run(query, &tail_at(view, at), embedded)?
            };
            let hint = self.hint(view, &request, &answer, at);
            Ok((answer, at, hint))
        };
        let (answer, position, hint) = self.see(&io, look).await?;
        Ok(self.reply(&io, &request, answer, position, hint))
    }

    /// Searches the segments in place; nothing if the collection is not so large.
    async fn search_in_place(
        &self,
        io: &Io,
        request: &RecallRequest,
        speculation: &mut Speculation<'_>,
    ) -> Result<Option<(Answer, Seq, Option<String>)>> {
        let embedded = speculation.embedded().await;
        loop {
            load::complete(&self.log, io).await?;
            let step = self.log.read(|view, newest| {
                let snapshot = view.snapshot()?;
                let search = speculation.search(Profile::of(view), embedded.clone());
                let step = search.step(&snapshot);
                let hint = match &step {
                    Ok(Step::Done(answer)) => self.hint_in_place(&snapshot, request, answer),
                    _ => None,
                };
                Some((step, newest, hint, view.catalogue().clone()))
            });
            let Some((step, newest, hint, catalogue)) = step else {
                return Ok(None);
            };
            let reads = match step? {
                Step::Done(answer) => return Ok(Some((answer, newest, hint))),
                Step::Need(reads) => reads,
            };
            let requests = reads
                .iter()
                .map(|read| load::request(self.log.collection(), read));
            let answers = io.wave(requests.collect()).await;
            let mut gone = None;
            for answer in &answers {
                match answer {
                    Ok(_) => {}
                    Err(error @ StoreError::NotFound { .. }) => gone = Some(error.clone()),
                    Err(error) => return Err(error.clone().into()),
                }
            }
            speculation.take(reads, answers);
            if let Some(error) = gone {
                load::expect_moved(&self.log, io, &catalogue, error.into()).await?;
            }
        }
    }

    fn check_recall(&self, request: &RecallRequest) -> Result<()> {
        let limits = self.limits();
        match (&request.query, &request.vector) {
            (None, None) => {
                return Err(Error::invalid(
                    "query",
                    "nothing to look for; give a query, or use list to see everything",
                ));
            }
            (Some(query), _) if text::is_blank(query) => {
                return Err(Error::invalid(
                    "query",
                    "the query is blank; say what to look for, or use list to see everything",
                ));
            }
            (Some(query), _) if query.trim() == "*" => {
                return Err(Error::invalid(
                    "query",
                    "* is no query; use list to see everything, or say what to look for",
                ));
            }
            (Some(query), _) if query.len() > limits.query_bytes => {
                return Err(Error::too_large(
                    "query",
                    format!(
                        "the query has {} bytes, the limit is {}",
                        query.len(),
                        limits.query_bytes
                    ),
                ));
            }
            (_, Some(vector)) => drop(validate::vector(limits, "vector", vector.clone())?),
            (Some(_), None) => {}
        }
        if request.query.is_none() && request.mode.is_some_and(|mode| mode != Mode::Semantic) {
            return Err(Error::invalid(
                "query",
                "this mode ranks by words; give a query, or use mode semantic with the vector",
            ));
        }
        if request.min_score.is_some_and(|score| !score.is_finite()) {
            return Err(Error::invalid(
                "min_score",
                "min_score is not a finite number",
            ));
        }
        if let (Some(since), Some(until)) = (request.since, request.until)
            && since >= until
        {
            return Err(Error::invalid("until", "until must lie after since"));
        }
        Ok(())
    }

    fn wants_vector(&self, request: &RecallRequest) -> bool {
        request.vector.is_none()
            && request.query.is_some()
            && request.mode != Some(Mode::Keyword)
            && self.db.embedder().is_some()
    }

    fn overflows_window(&self, request: &RecallRequest) -> bool {
        let window = self.db.embedder().map(|embedder| embedder.window_bytes());
        let bytes = request.query.as_ref().map(String::len);
        self.wants_vector(request)
            && window
                .zip(bytes)
                .is_some_and(|(window, bytes)| bytes > window)
    }

    async fn embed_query(&self, query: &str) -> std::result::Result<Vec<f32>, VectorUnavailable> {
        use futures::future::{Either, select};
        let unavailable = |error: EmbedError| VectorUnavailable {
            reason: error.to_string(),
        };
        let Some(embedder) = self.db.embedder() else {
            return Err(VectorUnavailable {
                reason: "no embedding endpoint is configured".to_owned(),
            });
        };
        // Models read the first words and agents put the question last: keep the end.
        let texts = [tail_of(query, embedder.window_bytes()).to_owned()];
        let limit = self.limits().embedding_wait;
        match select(embedder.embed(&texts), self.db.clock().sleep(limit)).await {
            Either::Left((Ok(vectors), _)) => vectors
                .into_iter()
                .next()
                .ok_or_else(|| unavailable(EmbedError::Malformed("no vector".to_owned()))),
            Either::Left((Err(error), _)) => Err(unavailable(error)),
            Either::Right(((), _)) => Err(unavailable(EmbedError::TimedOut(limit))),
        }
    }

    fn query(&self, profile: Option<&Profile>, request: &RecallRequest, awaited: bool) -> Query {
        let profile = profile.map(Profile::name);
        let vector = match (&request.vector, awaited) {
            (Some(values), _) => VectorSource::Given {
                profile: profile.unwrap_or_else(|| format!("external/{}", values.len())),
                values: values.clone(),
            },
            (None, true) => VectorSource::Awaited {
                profile: profile.unwrap_or_default(),
            },
            (None, false) => VectorSource::None,
        };
        let mode = request.mode.unwrap_or(match (&request.query, &vector) {
            (None, _) => Mode::Semantic,
            (Some(_), VectorSource::None) => Mode::Keyword,
            (Some(_), _) => Mode::Hybrid,
        });
        let selection = Selection {
            scope: &request.scope,
            filter: request.filter.as_ref(),
            kinds: &request.kinds,
            since: request.since,
            until: request.until,
        };
        Query {
            text: request.query.clone(),
            mode,
            vector,
            limit: request
                .limit
                .unwrap_or(DEFAULT_LIMIT)
                .clamp(1, self.limits().recall_hits) as usize,
            min_score: request.min_score,
            effort: request.effort,
            ..selection.query(&self.caller.realm, self.db.now())
        }
    }

    /// Where the scope that was searched has nothing and others have, say so: an
    /// agent takes an empty answer for an empty memory.
    fn hint(
        &self,
        view: &View,
        request: &RecallRequest,
        answer: &Answer,
        at: Seq,
    ) -> Option<String> {
        if !answer.hits.is_empty() || request.scope.reach == Reach::All {
            return None;
        }
        let selector = request.scope.to_filter();
        let now = self.db.now();
        let mut elsewhere: BTreeMap<&str, u64> = BTreeMap::new();
        for version in view.records_at(at) {
            let record = &version.record;
            if record.realm == self.caller.realm
                && crate::draft::is_live(record, now)
                && !selector.admits(&record.scope)
            {
                *elsewhere.entry(record.scope.as_str()).or_default() += 1;
            }
        }
        let count: u64 = elsewhere.values().sum();
        (count > 0).then(|| {
            format!("nothing here, but {count} memories lie in {} other scopes; use scopes to see them, or reach \"all\" to search them", elsewhere.len())
        })
    }

    /// The same from what the segments' roots say, which do not count every memory.
    fn hint_in_place(
        &self,
        snapshot: &Snapshot<'_>,
        request: &RecallRequest,
        answer: &Answer,
    ) -> Option<String> {
        if !answer.hits.is_empty() || request.scope.reach == Reach::All {
            return None;
        }
        let selector = request.scope.to_filter();
        let is_elsewhere = snapshot.segments.iter().any(|segment| {
            let root = segment.root;
            let mut runs = root.runs.iter();
            let is_unknown = root.runs.is_empty() && root.statistics.live > 0;
            is_unknown
                || runs.any(|run| run.realm == self.caller.realm && !selector.admits(&run.scope))
        });
        is_elsewhere.then(|| {
            "nothing here, but there are memories in other scopes; use scopes to see them, or reach \"all\" to search them".to_owned()
        })
    }

    fn reply(
        &self,
        io: &Io,
        request: &RecallRequest,
        answer: Answer,
        position: Seq,
        hint: Option<String>,
    ) -> RecallReply {
        let mut budget = Budget::new(self.limits().reply_content_bytes, request.max_tokens);
        let asked = request.limit.unwrap_or(DEFAULT_LIMIT);
        let mut truncated =
            asked > self.limits().recall_hits && answer.matched > answer.hits.len() as u64;
        let mut hits = Vec::new();
        for hit in answer.hits {
            let excerpt = Excerpt::around(
                &hit.record.content,
                &hit.terms,
                hit.chunk,
                self.limits().excerpt_bytes,
            );
            if !budget.take(&excerpt.text, AROUND) {
                truncated = true;
                break;
            }
            let ostraca_search::Hit {
                record,
                score,
                keyword,
                semantic,
                terms,
                ..
            } = hit;
            hits.push(RecallHit {
                record,
                score,
                keyword,
                semantic,
                terms,
                excerpt,
            });
        }
        let mut receipt = Self::receipt(io, position);
        receipt.degraded = answer.degraded.iter().map(ToString::to_string).collect();
        if answer.query_clamped {
            receipt
                .degraded
                .push("the query is longer than a search reads; its end was used".to_owned());
        }
        if self.overflows_window(request) {
            receipt.degraded.push(
                "the query is longer than the embedding model reads; its end was compared by meaning".to_owned(),
            );
        }
        let ostraca_search::Coverage {
            records,
            embedded,
            pending,
            ..
        } = answer.coverage;
        receipt.coverage = Some(Coverage {
            records,
            embedded,
            pending,
        });
        RecallReply {
            hits,
            matched: answer.matched,
            truncated,
            mode: answer.mode,
            hint,
            receipt,
        }
    }
}

/// A query vector, if the collection's profile admits it.
fn admit(
    profile: Option<&Profile>,
    model: Option<&str>,
    embedded: std::result::Result<Vec<f32>, VectorUnavailable>,
) -> std::result::Result<Vec<f32>, VectorUnavailable> {
    let vector = embedded?;
    if let Some(profile) = profile {
        profile
            .admits(model.unwrap_or_default())
            .map_err(|reason| VectorUnavailable { reason })?;
        if profile.dimensions as usize != vector.len() {
            return Err(VectorUnavailable {
                reason: format!(
                    "expected {} dimensions from the embedding endpoint, got {}",
                    profile.dimensions,
                    vector.len()
                ),
            });
        }
    }
    Ok(vector)
}

/// Runs a query on a state that is all at hand.
fn run(
    query: Query,
    tail: &Tail,
    embedded: Option<std::result::Result<Vec<f32>, VectorUnavailable>>,
) -> Result<Answer> {
    let nothing = Replaced::default();
    let mut search = Search::new(query, embedded);
    match search.step(&Snapshot::of_tail(tail, &nothing))? {
        Step::Done(answer) => Ok(answer),
        Step::Need(_) => Err(Error::new(
            ErrorKind::Internal,
            "a search without segments asked for parts of some",
        )),
    }
}

/// The search index as it was at a position.
fn tail_at(view: &View, at: Seq) -> Tail {
    let mut tail = Tail::new();
    for version in view.records_at(at) {
        tail.upsert(Arc::clone(&version.record));
    }
    tail
}

/// The last bytes of a text, on a character boundary.
fn tail_of(text: &str, bytes: usize) -> &str {
    let mut start = text.len().saturating_sub(bytes);
    while !text.is_char_boundary(start) {
        start += 1;
    }
    text.get(start..).unwrap_or(text)
}
