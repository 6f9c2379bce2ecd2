//! A search beside a refresh: while the log is brought up to date, what the search is
//! likely to read is fetched in the same waves, judged by the state that is known or by
//! the checkpoint in the head. The answer is taken from the state that comes of it, so a
//! wrong guess costs bytes and never truth.

use std::collections::BTreeMap;
use std::sync::Arc;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use ostraca_object::error::StoreError;
use ostraca_object::io::Response;
use ostraca_object::key::SegmentId;
use ostraca_object::log::Log;
use ostraca_search::segment::{Replaced, Root};
use ostraca_search::{Query, Read, Search, SegmentRef, Snapshot, Step, Tail, VectorUnavailable};

use crate::catalogue::Split;
use crate::error::Result;
use crate::load::{root_name, root_of};
use crate::profile::Profile;
use crate::view::View;

/// What embedding the query came to.
pub(crate) type Embedded = std::result::Result<Vec<f32>, VectorUnavailable>;

/// How a query follows from the collection's embedding profile.
#[derive(Clone, Copy)]
pub(crate) struct Asking<'a> {
    /// The query.
    pub(crate) query: &'a (dyn Fn(Option<&Profile>) -> Query + Send + Sync),
    /// Its vector, if the profile admits it.
    pub(crate) admits: &'a (dyn Fn(Option<&Profile>, Embedded) -> Embedded + Send + Sync),
}

/// What a search is asked of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Moment {
    /// The newest state.
    Now,
    /// An earlier one, of which nothing can be guessed.
    Past,
}

/// A search that has not been answered yet.
pub(crate) struct Speculation<'a> {
    asking: Asking<'a>,
    moment: Moment,
    embedding: Option<BoxFuture<'a, Embedded>>,
    embedded: Option<Embedded>,
    search: Option<(Option<Profile>, Search)>,
    roots: BTreeMap<SegmentId, Arc<Root>>,
}

impl<'a> Speculation<'a> {
    /// A search whose query is being embedded, if it has to be.
    pub(crate) fn new(
        asking: Asking<'a>,
        moment: Moment,
        embedding: Option<BoxFuture<'a, Embedded>>,
    ) -> Self {
        Self {
            asking,
            moment,
            embedding,
            embedded: None,
            search: None,
            roots: BTreeMap::new(),
        }
    }

    /// Waits for a wave, and for the query's vector meanwhile.
    pub(crate) async fn beside<T>(&mut self, wave: impl Future<Output = T>) -> T {
        match self.embedding.take() {
            Some(embedding) => {
                let (answers, embedded) = futures::join!(wave, embedding);
                self.embedded = Some(embedded);
                answers
            }
            None => wave.await,
        }
    }

    /// The query's vector, once it has been waited for.
    pub(crate) async fn embedded(&mut self) -> Option<Embedded> {
        if let Some(embedding) = self.embedding.take() {
            self.embedded = Some(embedding.await);
        }
        self.embedded.clone()
    }

    /// What the search is likely to read next.
    pub(crate) async fn likely(
        &mut self,
        log: &Log<View>,
        hint: Option<&Split>,
        is_first: bool,
    ) -> Result<Vec<Read>> {
        let is_known = log.read(|view, _| view.is_above() && view.snapshot().is_some());
        let is_hinted = hint.is_some_and(|split| split.catalogue.is_large);
        if self.moment == Moment::Past || (!is_known && !is_hinted) {
            return Ok(Vec::new());
        }
        // Nothing can be guessed of the first wave of a cold process, which leaves time.
        if !is_first || is_known {
            self.embedded().await;
        }
        let embedded = self.embedded.clone();
        if is_known {
            return Ok(log.read(|view, _| {
                let profile = Profile::of(view);
                let snapshot = view.snapshot();
                self.step(profile, embedded, snapshot.as_ref())
            }));
        }
        let Some(split) = hint else {
            return Ok(Vec::new());
        };
        for segment in &split.catalogue.segments {
            if !self.roots.contains_key(&segment.id)
                && let Some(bytes) = log.attachment(&root_name(&segment.id))
            {
                let root = root_of(log.collection(), segment, &bytes)?;
                self.roots.insert(segment.id.clone(), Arc::new(root));
            }
        }
        let (tail, nothing) = (Tail::new(), Replaced::default());
        let roots = std::mem::take(&mut self.roots);
        let segments: Option<Vec<SegmentRef<'_>>> = split
            .catalogue
            .segments
            .iter()
            .map(|segment| {
                Some(SegmentRef {
                    id: segment.number(),
                    root: roots.get(&segment.id)?,
                })
            })
            .collect();
        let snapshot = segments.map(|segments| Snapshot {
            tail: &tail,
            segments,
            replaced: &nothing,
        });
        let reads = self.step(
            Profile::of_settings(&split.settings),
            embedded,
            snapshot.as_ref(),
        );
        self.roots = roots;
        Ok(reads)
    }

    fn step(
        &mut self,
        profile: Option<Profile>,
        embedded: Option<Embedded>,
        snapshot: Option<&Snapshot<'_>>,
    ) -> Vec<Read> {
        let Some(snapshot) = snapshot else {
            return Vec::new();
        };
        let search = self.search(profile, embedded);
        match search.step(snapshot) {
            Ok(Step::Need(reads)) => reads,
            // What is wrong is said by the state that counts.
            Ok(Step::Done(_)) | Err(_) => Vec::new(),
        }
    }

    /// The search for a profile, with everything that has been fetched for it.
    pub(crate) fn search(
        &mut self,
        profile: Option<Profile>,
        embedded: Option<Embedded>,
    ) -> &mut Search {
        let known = self
            .search
            .take()
            .filter(|(known, _)| *known == profile)
            .map(|(_, search)| search);
        let search = known.unwrap_or_else(|| {
            let embedded =
                embedded.map(|embedded| (self.asking.admits)(profile.as_ref(), embedded));
            Search::new((self.asking.query)(profile.as_ref()), embedded)
        });
        &mut self.search.insert((profile, search)).1
    }

    /// Takes what was read; what is gone by now is not needed.
    pub(crate) fn take(
        &mut self,
        reads: Vec<Read>,
        answers: Vec<std::result::Result<Response, StoreError>>,
    ) {
        let Some((_, search)) = &mut self.search else {
            return;
        };
        for (read, answer) in reads.into_iter().zip(answers) {
            if let Ok(response) = answer {
                search.feed(read, response.into_bytes());
            }
        }
    }
}

/// Boxes the embedding of a query.
pub(crate) fn boxed<'a>(
    embedding: impl Future<Output = Embedded> + Send + 'a,
) -> BoxFuture<'a, Embedded> {
    embedding.boxed()
}
