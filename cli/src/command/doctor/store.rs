//! Whether the store does what the log relies on: it answers, it creates a name once
//! and never twice, it lists what was written at once and in order, and its clock
//! agrees with ours.

use std::time::Duration;

use futures::TryStreamExt as _;
use futures::future::join_all;
use object_store::path::Path;
use object_store::{
    Error, ObjectMeta, ObjectStore, ObjectStoreExt as _, PutMode, PutOptions, PutPayload, Result,
};
use ostraca_object::port::native::{OsIds, SystemClock};
use ostraca_object::port::{Clock as _, Ids as _, Timestamp};

use super::Finding;

/// Creators of one name at once. Exactly one may win.
const RACERS: usize = 16;
/// How far the clocks may be apart before entries are dated misleadingly.
const MAX_SKEW: Duration = Duration::from_secs(5);
/// Stores give times in whole seconds.
const RESOLUTION_MS: u64 = 1_000;

/// Asks the store, under names that are deleted again.
pub(super) async fn check(objects: &dyn ObjectStore) -> Vec<Finding> {
    let run = Run { objects, folder: Path::from(format!("probe/run/{:032x}", OsIds.random())) };
    let findings = run.all().await;
    run.clean_up().await;
    findings
}

struct Run<'a> {
    objects: &'a dyn ObjectStore,
    folder: Path,
}

impl Run<'_> {
    async fn all(&self) -> Vec<Finding> {
        let mut findings = Vec::new();
        match self.list(None).await {
            Ok(_) => findings.push(Finding::ok("store", "it answers")),
            Err(error) => {
                findings.push(Finding::failed("store", &error, reach_hint(&error)));
                return findings;
            }
        }
        let before = SystemClock.now();
        findings.push(match self.create_only().await {
            Ok(finding) => finding,
            Err(error) => Finding::failed(
                "create-only",
                &error,
                "see that the credentials may write and delete in this store, and that it knows `If-None-Match: *`",
            ),
        });
        let after = SystemClock.now();
        match self.listing().await {
            Ok((finding, newest)) => {
                findings.push(finding);
                findings.extend(newest.map(|written| skew(written, before, after)));
            }
            Err(error) => findings.push(Finding::failed("listing", &error, reach_hint(&error))),
        }
        findings
    }

    /// One creator after the other, then many at once.
    async fn create_only(&self) -> Result<Finding> {
        let name = self.folder.clone().join("sequence");
        self.create(&name, 0).await?;
        if !lost(self.create(&name, 1).await)? {
            return Ok(not_create_only("it overwrites an object that must not be there yet"));
        }
        let name = self.folder.clone().join("race");
        let racers = (0..RACERS).map(|racer| self.create(&name, racer));
        let mut winners = Vec::new();
        for (racer, outcome) in join_all(racers).await.into_iter().enumerate() {
            if !lost(outcome)? {
                winners.push(racer);
            }
        }
        let kept = self.objects.get(&name).await?.bytes().await?;
        let [winner] = winners.as_slice() else {
            return Ok(not_create_only("it lets several creators of one name win"));
        };
        if kept != content(*winner) {
            return Ok(not_create_only("it keeps the object of a creator that it told had lost"));
        }
        Ok(Finding::ok("create-only", format!("of {RACERS} creators of one name exactly one wins")))
    }

    /// What was just written is listed, in order, and after a given name.
    async fn listing(&self) -> Result<(Finding, Option<Timestamp>)> {
        let listed = self.list(None).await?;
        let names: Vec<&Path> = listed.iter().map(|object| &object.location).collect();
        let newest = listed.iter().map(|object| Timestamp(object.last_modified.timestamp_millis())).max();
        let after = self.list(Some(&self.folder.clone().join("race"))).await?;
        let finding = if names.len() != 2 {
            Finding::warning(
                "listing",
                "it does not list what was just written",
                "reads may miss the newest memories; use a store with strongly consistent listings",
            )
        } else if after.len() != 1 {
            Finding::warning(
                "listing",
                "it does not list after a given name",
                "reads of long logs take more requests than they have to",
            )
        } else {
            Finding::ok("listing", "it lists what was just written")
        };
        Ok((finding, newest))
    }

    async fn create(&self, name: &Path, racer: usize) -> Result<()> {
        let options = PutOptions::from(PutMode::Create);
        self.objects.put_opts(name, PutPayload::from(content(racer)), options).await.map(|_| ())
    }

    async fn list(&self, after: Option<&Path>) -> Result<Vec<ObjectMeta>> {
        match after {
            Some(after) => self.objects.list_with_offset(Some(&self.folder), after),
            None => self.objects.list(Some(&self.folder)),
        }
        .try_collect()
        .await
    }

    async fn clean_up(&self) {
        for name in ["sequence", "race"] {
            // A left-over of a failed probe is of no consequence and has been told of.
            let _ = self.objects.delete(&self.folder.clone().join(name)).await;
        }
    }
}

/// Whether a creator lost, as it must where the name is taken.
fn lost(outcome: Result<()>) -> Result<bool> {
    match outcome {
        Ok(()) => Ok(false),
        Err(Error::AlreadyExists { .. } | Error::Precondition { .. }) => Ok(true),
        Err(error) => Err(error),
    }
}

fn content(racer: usize) -> String {
    format!("racer {racer}")
}

fn not_create_only(detail: &str) -> Finding {
    Finding {
        status: super::Status::Failed,
        ..Finding::warning(
            "create-only",
            detail,
            "writers would lose each other's memories here; use a store that honours `If-None-Match: *`, such as S3, R2, SeaweedFS or a local disk",
        )
    }
}

fn skew(written: Timestamp, before: Timestamp, after: Timestamp) -> Finding {
    let ahead = written.millis_since(after);
    let behind = before.millis_since(written).saturating_sub(RESOLUTION_MS);
    let apart = Duration::from_millis(ahead.max(behind));
    if apart > MAX_SKEW {
        Finding::warning(
            "clock",
            format!("this machine and the store are {} s apart", apart.as_secs()),
            "set the clock, such as with NTP: expiry and the times of memories follow it",
        )
    } else {
        Finding::ok("clock", "this machine and the store agree")
    }
}

fn reach_hint(error: &Error) -> &'static str {
    match error {
        Error::PermissionDenied { .. } | Error::Unauthenticated { .. } => {
            "check AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and the policy of the bucket"
        }
        Error::NotFound { .. } => "check that the bucket exists and --store names it right",
        _ => "check AWS_ENDPOINT, AWS_REGION and AWS_ALLOW_HTTP, and that the server runs",
    }
}

#[cfg(test)]
mod tests {
    use object_store::memory::InMemory;

    use super::*;
    use crate::command::doctor::Status;

    #[tokio::test]
    async fn a_good_store_passes_and_is_left_as_it_was() {
        let store = InMemory::new();
        let findings = check(&store).await;
        assert_eq!(findings.len(), 4, "{findings:?}");
        assert!(findings.iter().all(|finding| finding.status == Status::Ok), "{findings:?}");
        let left: Vec<_> = store.list(None).try_collect().await.unwrap();
        assert_eq!(left, []);
    }

    #[test]
    fn a_second_of_resolution_is_no_skew() {
        let at = Timestamp;
        assert_eq!(skew(at(9_000), at(9_999), at(10_100)).status, Status::Ok);
        assert_eq!(skew(at(100_000), at(10_000), at(10_100)).status, Status::Warning);
        assert_eq!(skew(at(1_000), at(10_000), at(10_100)).status, Status::Warning);
    }
}
