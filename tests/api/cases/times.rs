//! Times: instants in, UTC out, and the past as it was.

use serde_json::json;

use crate::case::{Context, cases};
use crate::client::encode;

cases![
    a28_times_are_instants,
    an_expired_memory_is_gone,
    the_past_can_be_read,
    a_watch_tells_every_change_once,
];

async fn a28_times_are_instants(cx: Context) {
    let id = cx.api.remember(json!({"content": "created in Tokyo", "scope": cx.scope, "created_at": "2026-07-25T11:00:00+09:00"})).await;
    let memory = cx.api.get(&format!("/v1/memories/{id}")).await.success()["memory"].clone();
    assert_eq!(memory["created_at"], "2026-07-25T02:00:00.000Z");
    let filter = |value: &str| json!({"op": "dt_gte", "field": "$created_at", "value": value});
    for (value, found) in [
        ("2026-07-25T00:00:00Z", true),
        ("2026-07-25T11:00:00+09:00", true),
        ("2026-07-25T02:00:00.001Z", false),
        ("2026-07-24T20:00:00-06:00", true),
    ] {
        let hits = cx.api.recall(json!({"query": "Tokyo", "mode": "keyword", "scope": cx.scope, "reach": "exact", "filter": filter(value)})).await;
        assert_eq!(hits.len(), usize::from(found), "{value}");
    }
    let now = memory["updated_at"].as_str().unwrap();
    assert!(now.ends_with('Z'), "{now}");
    for (name, found) in [("since", true), ("until", false)] {
        let hits = cx.api.recall(json!({"query": "Tokyo", "mode": "keyword", "scope": cx.scope, "reach": "exact", name: now})).await;
        assert_eq!(hits.len(), usize::from(found), "{name} {now}");
        let listed = cx
            .api
            .get(&format!(
                "/v1/memories?scope={}&{name}={}",
                encode(&cx.scope),
                encode(now)
            ))
            .await;
        assert_eq!(listed.success()["total"], u64::from(found), "{name} {now}");
    }
    for wrong in [
        "2026-02-30",
        "2026-07-25T02:00:00",
        "yesterday",
        "",
        "1785000000",
        "2026-13-01T00:00:00Z",
    ] {
        for (name, body) in [
            ("since", json!({"query": "x", "since": wrong})),
            ("until", json!({"query": "x", "until": wrong})),
            (
                "as_of",
                json!({"query": "x", "as_of": if wrong == "1785000000" { "not a time" } else { wrong }}),
            ),
        ] {
            cx.api
                .post("/v1/memories/recall", body)
                .await
                .refused(400, "invalid", Some(name));
        }
        cx.api
            .post("/v1/memories", json!({"content": "x", "expires_at": wrong}))
            .await
            .refused(400, "invalid", Some("expires_at"));
        cx.api
            .get(&format!("/v1/memories?since={}", encode(wrong)))
            .await
            .refused(400, "invalid", Some("since"));
    }
}

async fn an_expired_memory_is_gone(cx: Context) {
    let answer = cx
        .api
        .post(
            "/v1/memories",
            json!({"content": "short-lived lantern", "scope": cx.scope, "ttl_seconds": 1}),
        )
        .await;
    let item = answer.status(201)["items"][0].clone();
    assert!(item["expires_at"].as_str().unwrap().ends_with('Z'));
    cx.api
        .remember(
            json!({"content": "lasting lantern", "scope": cx.scope, "expires_at": "2999-01-01"}),
        )
        .await;
    let recall = || {
        cx.api.recall(
            json!({"query": "lantern", "mode": "keyword", "scope": cx.scope, "reach": "exact"}),
        )
    };
    // Expiry is an instant, so the suite waits for it; how long that takes is not asserted.
    while recall().await.len() > 1 {
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    }
    assert_eq!(recall().await, ["lasting lantern"]);
    assert_eq!(cx.api.list(&cx.scope).await, ["lasting lantern"]);
    cx.api
        .get(&format!("/v1/memories/{}", item["id"].as_str().unwrap()))
        .await
        .status(404);
    for wrong in [
        json!({"content": "x", "expires_at": "2020-01-01"}),
        json!({"content": "x", "ttl_seconds": 0}),
    ] {
        let answer = cx.api.post("/v1/memories", wrong).await;
        assert_eq!(answer.status, 400, "{}", answer.text);
    }
    let both = json!({"content": "x", "ttl_seconds": 5, "expires_at": "2999-01-01"});
    cx.api
        .post("/v1/memories", both)
        .await
        .refused(400, "invalid", Some("ttl_seconds"));
}

async fn the_past_can_be_read(cx: Context) {
    let id = cx
        .api
        .remember(json!({"content": "the lantern is red", "scope": cx.scope}))
        .await;
    let before = cx
        .api
        .get(&format!("/v1/memories/{id}"))
        .await
        .success()
        .clone();
    let position = before["receipt"]["position"].as_u64().unwrap();
    cx.api
        .patch(
            &format!("/v1/memories/{id}"),
            json!({"content": "the lantern is green"}),
        )
        .await
        .status(200);
    let recall = |as_of: serde_json::Value| {
        cx.api.recall(json!({"query": "lantern", "mode": "keyword", "scope": cx.scope, "reach": "exact", "as_of": as_of}))
    };
    assert_eq!(recall(json!(position)).await, ["the lantern is red"]);
    assert_eq!(
        recall(json!(position.to_string())).await,
        ["the lantern is red"]
    );
    assert_eq!(recall(json!(null)).await, ["the lantern is green"]);
    assert!(recall(json!("2001-01-01")).await.is_empty());
    let past = cx
        .api
        .get(&format!("/v1/memories/{id}?as_of={position}"))
        .await;
    assert_eq!(past.success()["memory"]["version"], 1);
    cx.api
        .get(&format!("/v1/memories/{id}?as_of={}", position + 1_000_000))
        .await
        .refused(400, "invalid", Some("as_of"));
    let restored = cx
        .api
        .post(
            &format!("/v1/memories/{id}/restore"),
            json!({"version": 1, "reason": "red after all"}),
        )
        .await
        .status(200)
        .clone();
    assert_eq!(
        (
            &restored["memory"]["content"],
            &restored["memory"]["version"]
        ),
        (&json!("the lantern is red"), &json!(3))
    );
    let history = cx
        .api
        .get(&format!("/v1/memories/{id}/history"))
        .await
        .success()
        .clone();
    assert_eq!(
        (
            &history["versions"][0]["event"],
            &history["versions"][0]["reason"]
        ),
        (&json!("restored"), &json!("red after all"))
    );
    cx.api
        .post(
            &format!("/v1/memories/{id}/restore"),
            json!({"version": 99}),
        )
        .await
        .status(404);
    cx.api
        .post(&format!("/v1/memories/{id}/restore"), json!({"id": "x"}))
        .await
        .refused(400, "invalid", Some("id"));
}

async fn a_watch_tells_every_change_once(cx: Context) {
    let scope = encode(&cx.scope);
    let start = cx
        .api
        .get(&format!("/v1/watch?scope={scope}"))
        .await
        .success()
        .clone();
    assert_eq!(start["changes"], json!([]));
    let cursor = start["next_cursor"].as_str().unwrap();
    let watching = {
        let api = cx.api.clone();
        let path = format!(
            "/v1/watch?scope={scope}&wait_seconds=20&cursor={}",
            encode(cursor)
        );
        tokio::spawn(async move { api.get(&path).await })
    };
    let id = cx
        .api
        .remember(json!({"content": "watched", "scope": format!("{}/below", cx.scope)}))
        .await;
    let seen = watching.await.unwrap().success().clone();
    assert_eq!(seen["timed_out"], false, "{seen}");
    assert_eq!(
        (&seen["changes"][0]["event"], &seen["changes"][0]["id"]),
        (&json!("created"), &json!(id))
    );
    assert_eq!(seen["changes"][0]["memory"]["content"], "watched");
    cx.api
        .patch(&format!("/v1/memories/{id}"), json!({"title": "t"}))
        .await
        .status(200);
    cx.api
        .remember(json!({"content": "elsewhere", "scope": format!("{}-other", cx.scope)}))
        .await;
    cx.api
        .delete(&format!("/v1/memories/{id}"))
        .await
        .status(200);
    // A durable cursor: nothing between two calls is lost, however small the pages.
    let (mut events, mut cursor) = (Vec::new(), seen["next_cursor"].as_str().unwrap().to_owned());
    loop {
        let page = cx
            .api
            .get(&format!(
                "/v1/watch?scope={scope}&limit=1&cursor={}",
                encode(&cursor)
            ))
            .await
            .success()
            .clone();
        page["next_cursor"]
            .as_str()
            .unwrap()
            .clone_into(&mut cursor);
        let changes = page["changes"].as_array().unwrap();
        if changes.is_empty() {
            break;
        }
        events.extend(
            changes
                .iter()
                .map(|change| change["event"].as_str().unwrap().to_owned()),
        );
        assert!(events.len() < 10, "{events:?}");
    }
    assert_eq!(events, ["updated", "forgotten"]);
    let idle = cx
        .api
        .get(&format!(
            "/v1/watch?scope={scope}&wait_seconds=1&cursor={}",
            encode(&cursor)
        ))
        .await
        .success()
        .clone();
    assert_eq!(
        (&idle["changes"], &idle["timed_out"]),
        (&json!([]), &json!(true))
    );
    cx.api
        .get("/v1/watch?cursor=nonsense")
        .await
        .refused(400, "invalid", Some("cursor"));
}
