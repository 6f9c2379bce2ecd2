//! Whether the store does what the log relies on: it answers, it creates a name once
//! and never twice, it lists what was written at once, and its clock agrees with ours.

use std::sync::Arc;
use std::time::Duration;

use futures::TryStreamExt as _;
use object_store::path::Path;
use object_store::prefix::PrefixStore;
use object_store::{Error, ObjectMeta, ObjectStore, ObjectStoreExt as _, PutPayload, Result};
use ostraca_memory::{Clock as _, Ids as _, Timestamp};
use ostraca_object::io::Io;
use ostraca_object::port::native::{OsIds, SystemClock};
use ostraca_object::probe::{ProbeError, prove_create_only};
use ostraca_object::store::Store;

use super::Finding;

/// How far the clocks may be apart before entries are dated misleadingly.
const MAX_SKEW: Duration = Duration::from_secs(5);
/// Stores give times in whole seconds.
const RESOLUTION_MS: u64 = 1_000;

/// Asks the store, under names of this run that are deleted again.
pub(super) async fn check(objects: &Arc<dyn ObjectStore>) -> Vec<Finding> {
    let folder = Path::from(format!("probe/doctor-{:032x}", OsIds.random()));
    // In a folder of its own nothing is proven yet, so that the proof is made anew.
    let scratch: Arc<dyn ObjectStore> = Arc::new(PrefixStore::new(Arc::clone(objects), folder));
    let findings = checks(&scratch).await;
    clean_up(scratch.as_ref()).await;
    findings
}

async fn checks(scratch: &Arc<dyn ObjectStore>) -> Vec<Finding> {
    if let Err(error) = list(scratch.as_ref(), None).await {
        return vec![Finding::failed("store", &error, reach_hint(&error))];
    }
    let mut findings = vec![Finding::ok("store", "it answers")];
    let before = SystemClock.now();
    let store = Store::new(Arc::clone(scratch), Arc::new(SystemClock), Arc::new(OsIds));
    findings.push(match prove_create_only(&Io::new(&Arc::new(store))).await {
        Ok(()) => Finding::ok(
            "create-only",
            "of several creators of one name exactly one wins",
        ),
        Err(error) => Finding::failed("create-only", &error, create_hint(&error)),
    });
    match listing(scratch.as_ref()).await {
        Ok((finding, written)) => {
            findings.push(finding);
            findings.extend(written.map(|written| skew(written, before, SystemClock.now())));
        }
        Err(error) => findings.push(Finding::failed("listing", &error, reach_hint(&error))),
    }
    findings
}

/// What was just written is listed, and after a given name too.
async fn listing(scratch: &dyn ObjectStore) -> Result<(Finding, Option<Timestamp>)> {
    let names = ["list/1", "list/2", "list/3"].map(Path::from);
    for name in &names {
        scratch
            .put(name, PutPayload::from_static(b"doctor"))
            .await?;
    }
    let folder = Path::from("list");
    let all = list(scratch, Some(&folder)).await?;
    let after: Vec<ObjectMeta> = scratch
        .list_with_offset(Some(&folder), &Path::from("list/1"))
        .try_collect()
        .await?;
    let newest = all
        .iter()
        .map(|object| Timestamp(object.last_modified.timestamp_millis()))
        .max();
    let finding = if all.len() != names.len() {
        Finding::warning(
            "listing",
            format!(
                "it lists {} of {} objects that were just written",
                all.len(),
                names.len()
            ),
            "a process that starts may miss the newest memories for a moment; use a store with strongly consistent listings",
        )
    } else if after.len() != names.len() - 1 {
        Finding::warning(
            "listing",
            "it does not list after a given name",
            "a process that starts may miss memories; use a store that knows `start-after`",
        )
    } else {
        Finding::ok("listing", "it lists what was just written")
    };
    Ok((finding, newest))
}

async fn list(scratch: &dyn ObjectStore, folder: Option<&Path>) -> Result<Vec<ObjectMeta>> {
    scratch.list(folder).try_collect().await
}

async fn clean_up(scratch: &dyn ObjectStore) {
    // What a failed check leaves behind is of no consequence, and the check was told of.
    for object in list(scratch, None).await.unwrap_or_default() {
        let _ = scratch.delete(&object.location).await;
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

fn create_hint(error: &ProbeError) -> &'static str {
    match error {
        ProbeError::NotCreateOnly { .. } => "here writers would lose each other's memories",
        ProbeError::Inconclusive { .. } => {
            "run the doctor again; a store that is always this busy is too slow"
        }
        _ => "see that the credentials may write and delete in this store",
    }
}

fn reach_hint(error: &Error) -> &'static str {
    const CREDENTIALS: &str =
        "check AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and the policy of the bucket";
    const BUCKET: &str = "check that the bucket exists and --store names it right";
    match error {
        Error::PermissionDenied { .. } | Error::Unauthenticated { .. } => CREDENTIALS,
        Error::NotFound { .. } => BUCKET,
        // The errors of a listing come unsorted; the answer of the server is in the text.
        _ => {
            let text = super::chain(error);
            if text.contains("NoSuchBucket") {
                BUCKET
            } else if text.contains("403 Forbidden") || text.contains("401 Unauthorized") {
                CREDENTIALS
            } else {
                "check --store, AWS_ENDPOINT, AWS_REGION and AWS_ALLOW_HTTP, and that the server runs"
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use object_store::memory::InMemory;

    use super::*;
    use crate::command::doctor::Status;

    #[tokio::test]
    async fn a_good_store_passes_and_is_left_as_it_was() {
        let store: Arc<dyn ObjectStore> = Arc::new(InMemory::new());
        let findings = check(&store).await;
        assert_eq!(findings.len(), 4, "{findings:?}");
        assert!(
            findings.iter().all(|finding| finding.status == Status::Ok),
            "{findings:?}"
        );
        assert_eq!(list(store.as_ref(), None).await.unwrap(), []);
    }

    #[test]
    fn a_second_of_resolution_is_no_skew() {
        let at = Timestamp;
        assert_eq!(skew(at(9_000), at(9_999), at(10_100)).status, Status::Ok);
        assert_eq!(
            skew(at(100_000), at(10_000), at(10_100)).status,
            Status::Warning
        );
        assert_eq!(
            skew(at(1_000), at(10_000), at(10_100)).status,
            Status::Warning
        );
    }
}
