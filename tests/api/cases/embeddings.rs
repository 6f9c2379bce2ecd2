//! Recall by meaning, on a real model.

use serde_json::json;

use crate::case::{Context, cases};

cases![
    #[semantic]
    meaning_is_found_without_common_words,
    #[semantic]
    modes_are_told_apart,
    #[local]
    a29_another_model_starts_and_never_mixes_vectors,
    #[local]
    a30_a_failing_embedder_weakens_recall_visibly,
];

async fn meaning_is_found_without_common_words(cx: Context) {
    for content in [
        "The physician prescribed antibiotics for the infection.",
        "The stock market fell sharply on Tuesday.",
        "A recipe for lentil soup with cumin.",
    ] {
        cx.api
            .remember(json!({"content": content, "scope": cx.scope}))
            .await;
    }
    for mode in ["semantic", "hybrid"] {
        let hits = cx.api.recall(json!({"query": "doctor medicine", "mode": mode, "scope": cx.scope, "reach": "exact", "limit": 1})).await;
        assert_eq!(
            hits,
            ["The physician prescribed antibiotics for the infection."],
            "{mode}"
        );
    }
    assert!(cx.api.recall(json!({"query": "doctor medicine", "mode": "keyword", "scope": cx.scope, "reach": "exact"})).await.is_empty());
}

async fn modes_are_told_apart(cx: Context) {
    cx.api
        .remember(json!({"content": "The lantern hangs by the door.", "scope": cx.scope}))
        .await;
    for (mode, keyword, semantic) in [
        ("keyword", true, false),
        ("semantic", false, true),
        ("hybrid", true, true),
    ] {
        let answer = cx
            .api
            .post(
                "/v1/memories/recall",
                json!({"query": "lantern door", "mode": mode, "scope": cx.scope, "reach": "exact"}),
            )
            .await;
        let reply = answer.success();
        assert_eq!(reply["mode"], mode);
        assert_eq!(reply["receipt"]["degraded"], json!([]));
        let why = &reply["hits"][0]["why"];
        assert_eq!(
            (why.get("keyword").is_some(), why.get("semantic").is_some()),
            (keyword, semantic),
            "{mode}: {why}"
        );
    }
    let answer = cx
        .api
        .post(
            "/v1/memories/recall",
            json!({"query": "lantern door", "scope": cx.scope, "reach": "exact"}),
        )
        .await;
    assert_eq!(answer.success()["mode"], "hybrid");
    let answer = cx.api.post("/v1/memories/recall", json!({"query": "lantern", "mode": "semantic", "scope": cx.scope, "reach": "exact", "min_score": 0.999})).await;
    assert!(answer.success()["hits"].as_array().unwrap().is_empty());
}

async fn a29_another_model_starts_and_never_mixes_vectors(cx: Context) {
    let local = cx.target.local();
    let folder = tempfile::tempdir().unwrap();
    let base = local.minilm.ready["base_url"].as_str().unwrap();
    let server = local
        .binary
        .serve(
            folder.path(),
            &[
                "--embed-url",
                base,
                "--embed-model",
                "all-minilm-l6-v2",
                "--embed-timeout",
                "30s",
            ],
        )
        .await;
    let api = cx.at(server.url(), None);
    let items: Vec<_> = (0..20)
        .map(|n| json!({"content": format!("lantern number {n}")}))
        .collect();
    assert_eq!(
        api.post("/v1/memories", json!({"items": items}))
            .await
            .status(201)["items"][0]["embedding"],
        "ready"
    );
    server.kill().await;
    // Another model by name, and one whose vectors have another length.
    for (model, fault) in [
        ("another-model", ""),
        ("all-minilm-l6-v2", "/with/dimension"),
    ] {
        let base = base.replace("/v1", &format!("{fault}/v1"));
        let server = local
            .binary
            .serve(
                folder.path(),
                &[
                    "--embed-url",
                    &base,
                    "--embed-model",
                    model,
                    "--embed-timeout",
                    "30s",
                ],
            )
            .await;
        let api = cx.at(server.url(), None);
        let keyword = api
            .post(
                "/v1/memories/recall",
                json!({"query": "lantern", "mode": "keyword"}),
            )
            .await;
        assert_eq!(keyword.success()["matched"], 20);
        let hybrid = api
            .post("/v1/memories/recall", json!({"query": "lantern"}))
            .await;
        let reply = hybrid.success();
        assert_eq!(reply["hits"].as_array().unwrap().len(), 10);
        assert!(
            !reply["receipt"]["degraded"].as_array().unwrap().is_empty(),
            "{}",
            hybrid.text
        );
        assert!(reply["hits"][0]["why"].get("semantic").is_none());
        // A write is never lost for it: it is stored, or refused with the ways out.
        let written = api
            .post(
                "/v1/memories",
                json!({"content": format!("written under {model}{fault}")}),
            )
            .await;
        assert!(written.status.is_success(), "{}", written.text);
        server.kill().await;
    }
    // Back with the first model everything is as it was.
    let server = local
        .binary
        .serve(
            folder.path(),
            &[
                "--embed-url",
                base,
                "--embed-model",
                "all-minilm-l6-v2",
                "--embed-timeout",
                "30s",
            ],
        )
        .await;
    let answer = cx
        .at(server.url(), None)
        .post(
            "/v1/memories/recall",
            json!({"query": "a lamp with a number", "mode": "semantic"}),
        )
        .await;
    assert_eq!(answer.success()["receipt"]["coverage"]["embedded"], 20);
    assert!(
        answer.json["hits"][0]["content"]
            .as_str()
            .unwrap()
            .starts_with("lantern")
    );
}

async fn a30_a_failing_embedder_weakens_recall_visibly(cx: Context) {
    let local = cx.target.local();
    let base = local.minilm.ready["base_url"].as_str().unwrap();
    for fault in [
        "rate-limit-long",
        "error",
        "malformed",
        "empty",
        "hang-up",
        "nan",
        "infinite",
        "unauthorized",
        "missing",
        "slow",
    ] {
        let folder = tempfile::tempdir().unwrap();
        let base = base.replace("/v1", &format!("/with/{fault}/v1"));
        let server = local
            .binary
            .serve(
                folder.path(),
                &[
                    "--embed-url",
                    &base,
                    "--embed-model",
                    "all-minilm-l6-v2",
                    "--embed-timeout",
                    "1s",
                ],
            )
            .await;
        let api = cx.at(server.url(), None);
        let stored = api
            .post("/v1/memories", json!({"content": "the pump was serviced"}))
            .await;
        let reply = stored.status(201);
        assert_eq!(reply["items"][0]["embedding"], "pending", "{fault}");
        assert!(
            !reply["receipt"]["degraded"].as_array().unwrap().is_empty(),
            "{fault}"
        );
        let recalled = api
            .post("/v1/memories/recall", json!({"query": "pump"}))
            .await;
        let reply = recalled.success();
        assert_eq!(
            reply["hits"][0]["content"], "the pump was serviced",
            "{fault}"
        );
        assert!(
            !reply["receipt"]["degraded"].as_array().unwrap().is_empty(),
            "{fault}"
        );
        assert_eq!(reply["receipt"]["coverage"]["pending"], 1, "{fault}");
        server.kill().await;
    }
    // What is allowed is not a fault, and what passes is retried.
    for fault in ["shuffled", "overloaded"] {
        let folder = tempfile::tempdir().unwrap();
        let base = if fault == "shuffled" {
            base.replace("/v1", "/with/shuffled/v1")
        } else {
            base.to_owned()
        };
        let server = local
            .binary
            .serve(
                folder.path(),
                &[
                    "--embed-url",
                    &base,
                    "--embed-model",
                    "all-minilm-l6-v2",
                    "--embed-timeout",
                    "30s",
                ],
            )
            .await;
        let api = cx.at(server.url(), None);
        let items = json!({"items": [{"content": "The physician prescribed antibiotics."}, {"content": "The stock market fell sharply."}]});
        let stored = api.post("/v1/memories", items).await;
        assert_eq!(
            stored.status(201)["items"][1]["embedding"],
            "ready",
            "{fault}"
        );
        let hits = api
            .recall(json!({"query": "doctor medicine", "mode": "semantic", "limit": 1}))
            .await;
        assert_eq!(hits, ["The physician prescribed antibiotics."], "{fault}");
        server.kill().await;
    }
}
