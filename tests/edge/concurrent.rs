//! Many writers on one memory through separate isolates and processes, and the death of
//! one in the middle: what was acknowledged is there, once, in one order.

use std::sync::Arc;
use std::time::Duration;

use libtest_mimic::Trial;
use tokio::runtime::Runtime;

use crate::api::temporary;
use crate::burst::Instances;
use crate::platform::{Bucket, Front, Variables, Workerd, lambda, local, open_to_all};
use crate::trial;

const WRITES: usize = 200;
/// So many that no machine is through with them between two looks at the count.
const MANY: usize = 400;

pub(crate) fn trials(runtime: &Arc<Runtime>) -> Vec<Trial> {
    vec![
        trial(
            runtime,
            "i_order_200_writes_from_4_isolates_on_r2",
            isolates,
        ),
        trial(runtime, "i_order_200_writes_from_4_lambdas_on_s3", lambdas),
        trial(
            runtime,
            "i_order_200_writes_from_8_processes_on_s3",
            processes_on_s3,
        ),
        trial(
            runtime,
            "i_order_200_writes_from_8_processes_on_one_folder",
            processes_on_a_folder,
        ),
        trial(runtime, "i_durable_when_workerd_dies", workerd_dies),
        trial(runtime, "i_durable_when_a_lambda_dies", lambda_dies),
        trial(
            runtime,
            "clients_that_hang_up_hold_nobody_up",
            clients_hang_up,
        ),
    ]
}

async fn isolates() {
    let r2 = temporary();
    let workerd = Workerd {
        instances: 4,
        r2: Some(r2.path()),
        bundle: None,
    };
    let workerd = workerd.start(&open_to_all()).await;
    let instances = Instances::new(workerd.urls());
    let cursor = instances.watch().await;
    let acknowledged = instances.write(WRITES).await;
    instances.check(&acknowledged, &cursor).await;
}

async fn lambdas() {
    let bucket = Bucket::moto().await;
    let variables = [bucket.variables("burst"), open_to_all()].concat();
    let lambda = lambda(4, Front::HttpApi, &variables).await;
    let instances = Instances::new(lambda.urls());
    let cursor = instances.watch().await;
    let acknowledged = instances.write(WRITES).await;
    instances.check(&acknowledged, &cursor).await;
}

async fn processes_on_s3() {
    let bucket = Bucket::moto().await;
    processes(&[bucket.variables("burst"), open_to_all()].concat()).await;
}

async fn processes_on_a_folder() {
    let folder = temporary();
    let store = folder.path().to_str().unwrap().to_owned();
    processes(&vec![("OSTRACA_STORE".to_owned(), store)]).await;
}

/// Eight local binaries on one store.
async fn processes(variables: &Variables) {
    let mut processes = Vec::new();
    for _ in 0..8 {
        processes.push(local(variables).await);
    }
    let urls = processes
        .iter()
        .map(|process| process.ready["url"].as_str().unwrap().to_owned());
    let instances = Instances::new(urls.collect());
    let cursor = instances.watch().await;
    let acknowledged = instances.write(WRITES).await;
    instances.check(&acknowledged, &cursor).await;
}

async fn workerd_dies() {
    let r2 = temporary();
    let workerd = Workerd {
        instances: 2,
        r2: Some(r2.path()),
        bundle: None,
    };
    let first = workerd.start(&open_to_all()).await;
    let instances = Instances::new(first.urls());
    let cursor = instances.watch().await;
    let burst = tokio::spawn({
        let instances = instances.clone();
        async move { instances.write(MANY).await }
    });
    after(&instances, 15).await;
    for pid in first.ready["pids"].as_array().unwrap() {
        kill(pid.as_u64().unwrap());
    }
    burst.abort();
    let before = instances.acknowledged();
    assert!(
        before.len() < MANY,
        "the burst was over before the runtime died"
    );
    drop(first);
    // Another runtime on the same bucket; the clients send all of it again.
    let second = workerd.start(&open_to_all()).await;
    let instances = Instances::new(second.urls());
    let acknowledged = instances.write(MANY).await;
    for (number, id) in &before {
        assert_eq!(
            acknowledged[number], *id,
            "write {number} was acknowledged before"
        );
    }
    instances.check(&acknowledged, &cursor).await;
}

async fn lambda_dies() {
    let bucket = Bucket::seaweedfs().await;
    let variables = [bucket.variables("killed"), open_to_all()].concat();
    let lambda = lambda(3, Front::HttpApi, &variables).await;
    let instances = Instances::new(lambda.urls());
    let cursor = instances.watch().await;
    let burst = tokio::spawn({
        let instances = instances.clone();
        async move { instances.write(45).await }
    });
    for killed in 0..3 {
        after(&instances, 5 * (killed + 1)).await;
        let url = lambda.ready["url"].as_str().unwrap();
        let answer = reqwest::Client::new()
            .post(format!("{url}/__kill?instance={killed}"))
            .send()
            .await
            .unwrap();
        assert!(answer.status().is_success(), "{answer:?}");
    }
    let acknowledged = burst.await.unwrap();
    instances.check(&acknowledged, &cursor).await;
}

/// A request that a client gives up may never be polled again, nor dropped, in workerd:
/// what it held must come free all the same.
async fn clients_hang_up() {
    let r2 = temporary();
    let workerd = Workerd {
        instances: 1,
        r2: Some(r2.path()),
        bundle: None,
    };
    let workerd = workerd.start(&open_to_all()).await;
    let instances = Instances::new(workerd.urls());
    let cursor = instances.watch().await;
    for round in 0..4 {
        let burst = tokio::spawn({
            let instances = instances.clone();
            async move { instances.write(MANY).await }
        });
        // In the middle of it: some are answered, some write, some stand in line.
        after(&instances, 3 + 5 * round).await;
        burst.abort();
    }
    let before = instances.acknowledged();
    assert!(
        before.len() < MANY,
        "all was written before a client hung up"
    );
    let acknowledged = instances.write(MANY).await;
    instances.check(&acknowledged, &cursor).await;
}

/// Waits until so many writes are acknowledged.
async fn after(instances: &Instances, count: usize) {
    while instances.acknowledged().len() < count {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// As a power cut would.
fn kill(pid: u64) {
    let pid = rustix::process::Pid::from_raw(i32::try_from(pid).unwrap()).unwrap();
    // One that is gone already is dead enough.
    let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
}
