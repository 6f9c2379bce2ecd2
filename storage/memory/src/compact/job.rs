//! The compaction job: every collection that is due, or that was named, one after the
//! other: folded, cleaned up, its markers cleared. It keeps no state of its own, so it may
//! be stopped anywhere, run again, and run twice at once; a failure in one collection is
//! reported and stops no other.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use ostraca_object::due::{self, Due};
use ostraca_object::io::{Io, Request, Response};
use ostraca_object::key::{CollectionKey, TenantId};
use ostraca_object::log::clean_up::CleanedUp;

use super::trigger::{folded_through, tell};
use super::{Compacted, Effort};
use crate::database::Database;
use crate::error::{Error, Result};
use crate::receipt::Receipt;
use crate::session::Session;

/// Which collections a job is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Selection {
    /// Those that left a marker.
    Due,
    /// Every one there is.
    All,
    /// Every one of a tenant.
    Tenant(TenantId),
    /// One.
    Collection(CollectionKey),
}

/// What to do.
#[derive(Debug, Clone)]
pub struct Job {
    /// For which collections.
    pub selection: Selection,
    /// How much each may take on.
    pub effort: Effort,
    /// After so long no further collection is begun; without it, all are done.
    pub budget: Option<Duration>,
}

/// Where a job stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// It folds the tail and merges segments.
    Compacting,
    /// It deletes what nobody can need any more.
    CleaningUp,
    /// The collection is done, well or not.
    Finished,
}

impl Phase {
    /// Its name in logs.
    pub fn name(self) -> &'static str {
        match self {
            Self::Compacting => "compacting",
            Self::CleaningUp => "cleaning_up",
            Self::Finished => "finished",
        }
    }
}

/// One step of a job, as it is told while it runs.
#[derive(Debug, Clone, Copy)]
pub struct Step<'a> {
    /// In which collection.
    pub collection: &'a CollectionKey,
    /// What it does there.
    pub phase: Phase,
    /// Collections that are done.
    pub done: u64,
    /// Collections there are.
    pub total: u64,
    /// What came of the collection, once it is finished.
    pub result: Option<&'a CollectionResult>,
}

/// Whoever wants to know how far a job is.
pub trait Progress: Send + Sync {
    /// It is told each step before it is taken.
    fn step(&self, step: Step<'_>);
}

/// Nobody wants to know; the log has it.
#[derive(Debug, Clone, Copy)]
pub struct Unwatched;

impl Progress for Unwatched {
    fn step(&self, _: Step<'_>) {}
}

/// What came of one collection.
#[derive(Debug)]
pub struct CollectionResult {
    /// Which.
    pub collection: CollectionKey,
    /// What compaction did, if it did not fail.
    pub compacted: Option<Compacted>,
    /// What was deleted after it.
    pub cleaned: Option<CleanedUp>,
    /// Markers that are cleared now.
    pub cleared: u64,
    /// Why it is not done. What it names as done is done all the same.
    pub error: Option<Error>,
}

/// What a job did.
#[derive(Debug)]
pub struct JobReport {
    /// What came of each collection that was begun.
    pub collections: Vec<CollectionResult>,
    /// Collections that were not begun because the time was up.
    pub postponed: u64,
    /// What it took to find them.
    pub receipt: Receipt,
}

impl JobReport {
    /// Collections that are not done because of an error.
    pub fn failed(&self) -> usize {
        let failed = self.collections.iter().filter(|one| one.error.is_some());
        failed.count()
    }
}

impl Database {
    /// Compacts every collection that is due. One listing finds them all.
    ///
    /// # Errors
    /// Unavailable if the markers cannot be listed. What fails in a collection is in the
    /// report.
    pub async fn run_due(
        self: &Arc<Self>,
        effort: Effort,
        budget: Option<Duration>,
        progress: &dyn Progress,
    ) -> Result<JobReport> {
        let job = Job {
            selection: Selection::Due,
            effort,
            budget,
        };
        self.run_job(&job, progress).await
    }

    /// Compacts the collections of a job.
    ///
    /// # Errors
    /// Unavailable if they cannot be listed. What fails in a collection is in the report.
    pub async fn run_job(
        self: &Arc<Self>,
        job: &Job,
        progress: &dyn Progress,
    ) -> Result<JobReport> {
        let began = self.now();
        let io = self.io();
        let work = select(&io, &job.selection).await?;
        let total = work.len() as u64;
        let mut report = JobReport {
            collections: Vec::new(),
            postponed: 0,
            receipt: Session::receipt(&io, ostraca_object::key::Seq::ZERO),
        };
        for (done, due) in (0_u64..).zip(work) {
            let elapsed = Duration::from_millis(self.now().millis_since(began));
            if job.budget.is_some_and(|budget| elapsed >= budget) {
                report.postponed = total - done;
                tracing::warn!(done, total, "the time of the compaction job is up");
                break;
            }
            let step = |phase, done, result| Step {
                collection: &due.collection,
                phase,
                done,
                total,
                result,
            };
            let tell = |phase| progress.step(step(phase, done, None));
            let result = self.compact_due(&due, job.effort, &tell).await;
            progress.step(step(Phase::Finished, done + 1, Some(&result)));
            report.collections.push(result);
        }
        Ok(report)
    }

    /// One collection of a job.
    async fn compact_due(
        self: &Arc<Self>,
        due: &Due,
        effort: Effort,
        tell_phase: &(dyn Fn(Phase) + Sync),
    ) -> CollectionResult {
        let collection = due.collection.clone();
        let was_open = self.is_open(&collection);
        let mut result = CollectionResult {
            collection: collection.clone(),
            compacted: None,
            cleaned: None,
            cleared: 0,
            error: None,
        };
        if let Err(error) = self.steps(due, effort, tell_phase, &mut result).await {
            let cause = &error as &dyn std::error::Error;
            tracing::warn!(%collection, error = cause, "compaction failed; its markers stay");
            result.error = Some(error);
        }
        // A job goes through any number of collections and must not end up holding all.
        if !was_open {
            self.close(&collection);
        }
        result
    }

    async fn steps(
        self: &Arc<Self>,
        due: &Due,
        effort: Effort,
        tell_phase: &(dyn Fn(Phase) + Sync),
        result: &mut CollectionResult,
    ) -> Result<()> {
        let collection = &due.collection;
        tell_phase(Phase::Compacting);
        let compacted = self.compact(collection, effort).await?;
        tell(collection, &compacted);
        let newest = self.log(collection).newest_checkpoint();
        let through = folded_through(&compacted, newest.as_ref());
        result.compacted = Some(compacted);
        // The work is in the log; the marker has to say so also if the cleaning fails.
        result.cleared = due::clear(&self.io(), due, through).await?;
        tell_phase(Phase::CleaningUp);
        result.cleaned = Some(self.clean_up(collection).await?);
        Ok(())
    }
}

/// The collections of a selection with their markers, the longest waiting first.
async fn select(io: &Io, selection: &Selection) -> Result<Vec<Due>> {
    let due = due::list(io).await?;
    let named = match selection {
        Selection::Due => return Ok(due),
        Selection::Collection(collection) => vec![collection.clone()],
        Selection::Tenant(tenant) => collections(io, tenant).await?,
        Selection::All => {
            let mut all = Vec::new();
            let tenants = match io.one(Request::Tenants).await? {
                Response::Tenants(tenants) => tenants,
                _ => Vec::new(),
            };
            for tenant in tenants {
                all.extend(collections(io, &tenant).await?);
            }
            all
        }
    };
    let order: Vec<CollectionKey> = due.iter().map(|due| due.collection.clone()).collect();
    let mut marked: BTreeMap<CollectionKey, Due> = due
        .into_iter()
        .map(|due| (due.collection.clone(), due))
        .collect();
    let mut work: Vec<Due> = named
        .into_iter()
        .map(|collection| {
            marked.remove(&collection).unwrap_or_else(|| Due {
                collection,
                markers: Vec::new(),
                since: io.clock().now(),
            })
        })
        .collect();
    work.sort_by_key(|due| {
        let place = order.iter().position(|marked| *marked == due.collection);
        place.unwrap_or(usize::MAX)
    });
    Ok(work)
}

async fn collections(io: &Io, tenant: &TenantId) -> Result<Vec<CollectionKey>> {
    let request = Request::Collections {
        tenant: tenant.clone(),
    };
    let names = match io.one(request).await? {
        Response::Collections(names) => names,
        _ => Vec::new(),
    };
    let key = |name| CollectionKey::new(tenant.clone(), name);
    Ok(names.into_iter().map(key).collect())
}
