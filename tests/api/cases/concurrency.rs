//! Many callers at once.

use std::collections::BTreeSet;

use serde_json::json;

use crate::case::{Context, cases};

cases![
    a25_parallel_writes_all_survive,
    #[local]
    a25_two_processes_share_a_folder_and_one_dies,
    a26_a_write_is_read_at_once,
    a_contended_version_has_one_winner,
];

async fn a25_parallel_writes_all_survive(cx: Context) {
    let writes = (0..25).map(|n| {
        cx.api
            .remember(json!({"content": format!("parallel {n}"), "scope": cx.scope}))
    });
    let ids: BTreeSet<String> = futures::future::join_all(writes)
        .await
        .into_iter()
        .collect();
    assert_eq!(ids.len(), 25);
    let listed: BTreeSet<String> = cx.api.list(&cx.scope).await.into_iter().collect();
    assert_eq!(listed, (0..25).map(|n| format!("parallel {n}")).collect());
}

async fn a25_two_processes_share_a_folder_and_one_dies(cx: Context) {
    let folder = tempfile::tempdir().unwrap();
    let binary = &cx.target.local().binary;
    let (one, two) = tokio::join!(
        binary.serve(folder.path(), &[]),
        binary.serve(folder.path(), &[])
    );
    let (first, second) = (cx.at(one.url(), None), cx.at(two.url(), None));
    let write = |api: &crate::client::Client, content: String| {
        let api = api.clone();
        async move { api.remember(json!({"content": content})).await }
    };
    let writes = (0..20).flat_map(|n| {
        [
            write(&first, format!("first {n}")),
            write(&second, format!("second {n}")),
        ]
    });
    futures::future::join_all(writes).await;
    for api in [&first, &second] {
        let answer = api.get("/v1/memories?limit=500").await;
        assert_eq!(answer.success()["total"], 40);
    }
    // One of them is killed among writes; what it acknowledged is there.
    let (told, mut heard) = tokio::sync::mpsc::unbounded_channel();
    let flood = tokio::spawn({
        let http = reqwest::Client::new();
        let url = format!("{}/v1/memories", one.url());
        async move {
            for n in 0.. {
                let content = format!("doomed {n}");
                let sent = http
                    .post(&url)
                    .json(&json!({"content": content}))
                    .send()
                    .await;
                match sent {
                    Ok(answer) if answer.status().is_success() => told.send(content).unwrap(),
                    Ok(answer) => panic!("{}", answer.status()),
                    Err(_) => return,
                }
            }
        }
    });
    let mut acknowledged: BTreeSet<String> = BTreeSet::new();
    for _ in 0..5 {
        acknowledged.insert(heard.recv().await.unwrap());
    }
    one.kill().await;
    flood.await.unwrap();
    while let Some(content) = heard.recv().await {
        acknowledged.insert(content);
    }
    let answer = second.get("/v1/memories?limit=500").await;
    let listed: BTreeSet<String> = crate::client::contents(&answer.success()["memories"])
        .into_iter()
        .collect();
    let lost: Vec<_> = acknowledged.difference(&listed).collect();
    assert!(lost.is_empty(), "acknowledged and lost: {lost:?}");
    second.remember(json!({"content": "after the crash"})).await;
}

async fn a26_a_write_is_read_at_once(cx: Context) {
    let rounds = (0..20).map(|n| {
        let (api, scope) = (cx.api.clone(), cx.scope.clone());
        async move {
            let content = format!("unmistakable{n} word");
            let id = api.remember(json!({"content": content, "scope": scope})).await;
            let (hits, got) = tokio::join!(
                api.recall(json!({"query": format!("unmistakable{n}"), "mode": "keyword", "scope": scope, "reach": "exact"})),
                api.ask("GET", &format!("/v1/memories/{id}")).send(),
            );
            assert_eq!(hits, std::slice::from_ref(&content));
            assert_eq!(got.success()["memory"]["content"], content.as_str());
        }
    });
    futures::future::join_all(rounds).await;
}

async fn a_contended_version_has_one_winner(cx: Context) {
    let id = cx
        .api
        .remember(json!({"content": "start", "scope": cx.scope}))
        .await;
    let path = format!("/v1/memories/{id}");
    let tries = (0..8).map(|n| {
        cx.api
            .ask("PATCH", &path)
            .json(&json!({"content": format!("try {n}"), "expected_version": 1}))
            .send()
    });
    let answers = futures::future::join_all(tries).await;
    let winners: Vec<_> = answers
        .iter()
        .filter(|answer| answer.status == 200)
        .collect();
    assert_eq!(winners.len(), 1);
    for answer in answers.iter().filter(|answer| answer.status != 200) {
        answer.refused(409, "conflict", Some("expected_version"));
    }
    let now = cx.api.get(&path).await;
    assert_eq!(
        now.success()["memory"]["content"],
        winners[0].json["memory"]["content"]
    );
    assert_eq!(now.json["memory"]["version"], 2);
}
