//! What stands in each collection's log: how far it goes, whether it is dense, and
//! how many memories still wait for their vectors.

use std::sync::Arc;

use ostraca_memory::{Caller, Database, Mode, RecallRequest, ScopeSelector};
use ostraca_object::error::StoreError;
use ostraca_object::io::{Listed, Request, Response};
use ostraca_object::key::{CollectionId, CollectionKey, Key, Prefix, Seq, TenantId};

use super::Finding;

const LOG: &str = "log";
const VECTORS: &str = "vectors";

/// Looks at every collection of every tenant.
pub(super) async fn check(database: &Arc<Database>) -> Vec<Finding> {
    let mut findings = Vec::new();
    match collections(database).await {
        Ok(collections) if collections.is_empty() => {
            findings.push(Finding::ok(LOG, "the store holds nothing yet"));
        }
        Ok(collections) => {
            for collection in collections {
                findings.push(
                    log(database, &collection)
                        .await
                        .about(collection.to_string()),
                );
                if collection.collection == CollectionId::memory() {
                    findings.push(
                        vectors(database, &collection.tenant)
                            .await
                            .about(collection.to_string()),
                    );
                }
            }
        }
        Err(error) => findings.push(unreadable(&error)),
    }
    findings
}

async fn collections(database: &Database) -> Result<Vec<CollectionKey>, StoreError> {
    let io = database.io();
    let Response::Tenants(tenants) = io.one(Request::Tenants).await? else {
        return Ok(Vec::new());
    };
    let mut found = Vec::new();
    for tenant in tenants {
        let asked = Request::Collections {
            tenant: tenant.clone(),
        };
        if let Response::Collections(names) = io.one(asked).await? {
            found.extend(
                names
                    .into_iter()
                    .map(|name| CollectionKey::new(tenant.clone(), name)),
            );
        }
    }
    Ok(found)
}

async fn log(database: &Database, collection: &CollectionKey) -> Finding {
    let io = database.io();
    let list = Request::List {
        prefix: Prefix::Log(collection.clone()),
        after: None,
    };
    let head = Request::Get {
        key: Key::Head(collection.clone()),
    };
    let mut answers = io.wave(vec![list, head]).await.into_iter();
    let listed = match answers.next() {
        Some(Ok(answer)) => answer.into_listed(),
        Some(Err(error)) => return unreadable(&error),
        None => Vec::new(),
    };
    let head = match answers.next() {
        Some(Ok(_)) => "a head",
        Some(Err(StoreError::NotFound { .. })) | None => "no head yet",
        Some(Err(error)) => return unreadable(&error),
    };
    describe(&listed, head)
}

fn describe(listed: &[Listed], head: &str) -> Finding {
    let numbers: Vec<Seq> = listed
        .iter()
        .filter_map(|object| match object.key {
            Key::Log(_, seq) => Some(seq),
            _ => None,
        })
        .collect();
    let bytes: u64 = listed.iter().map(|object| object.bytes).sum();
    let (Some(first), Some(last)) = (numbers.first(), numbers.last()) else {
        return Finding::ok(LOG, format!("no entries, {head}"));
    };
    let tail = numbers.len();
    match numbers
        .windows(2)
        .find(|pair| matches!(pair, [a, b] if a.next() != *b))
    {
        Some([before, _]) => Finding::warning(
            LOG,
            format!(
                "entry {} is missing between {first} and {last}",
                before.next()
            ),
            "entries are only deleted from the front, so something else deletes in this store; restore the object from a backup",
        ),
        _ => Finding::ok(
            LOG,
            format!("entries {first} to {last} ({tail} to read, {bytes} bytes), {head}"),
        ),
    }
}

async fn vectors(database: &Arc<Database>, tenant: &TenantId) -> Finding {
    let request = RecallRequest {
        query: Some("ostraca".to_owned()),
        mode: Some(Mode::Keyword),
        scope: ScopeSelector::all(),
        limit: Some(1),
        ..RecallRequest::default()
    };
    match database
        .session(Caller::unrestricted(tenant.clone()))
        .recall(request)
        .await
    {
        Ok(reply) => {
            let coverage = reply.receipt.coverage.unwrap_or_default();
            let detail = format!(
                "{} memories, {} with a vector, {} waiting for one",
                coverage.records, coverage.embedded, coverage.pending
            );
            if coverage.pending == 0 {
                Finding::ok(VECTORS, detail)
            } else {
                Finding::warning(
                    VECTORS,
                    detail,
                    "they are found by keywords until their vectors are made",
                )
            }
        }
        Err(error) => Finding::failed(VECTORS, &error, "see the log check of this collection"),
    }
}

fn unreadable(error: &StoreError) -> Finding {
    Finding::failed(
        LOG,
        error,
        "see that the credentials may list and read in this store",
    )
}
