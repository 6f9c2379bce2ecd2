//! Keys in URLs: decoded once, after the path is split.

use serde_json::json;

use crate::case::{Context, cases};
use crate::client::encode;

cases![a31_keys_in_urls_are_decoded_once];

async fn a31_keys_in_urls_are_decoded_once(cx: Context) {
    let keys = [
        "proj:main:42",
        "notes/2026 plan",
        "50%",
        "a+b",
        "ключ",
        "50%25",
        "a%2Fb",
        "history",
        "q?x=1&y#z",
        "a/../b",
        "日本語 🟡",
    ];
    for key in keys {
        cx.api
            .remember(json!({"content": format!("about {key}"), "scope": cx.scope, "key": key}))
            .await;
    }
    let path = |key: &str| {
        format!(
            "/v1/memories/by-key/{}?scope={}",
            encode(key),
            encode(&cx.scope)
        )
    };
    for key in keys {
        let got = cx.api.get(&path(key)).await;
        assert_eq!(got.success()["memory"]["key"], key);
        assert_eq!(got.json["memory"]["content"], format!("about {key}"));
        let changed = cx.api.patch(&path(key), json!({"title": "seen"})).await;
        assert_eq!(changed.status(200)["memory"]["key"], key);
    }
    // Characters that need no encoding may come without it.
    for (raw, key) in [("a+b", "a+b"), ("proj:main:42", "proj:main:42")] {
        let got = cx
            .api
            .get(&format!(
                "/v1/memories/by-key/{raw}?scope={}",
                encode(&cx.scope)
            ))
            .await;
        assert_eq!(got.success()["memory"]["key"], key);
    }
    for key in keys {
        assert_eq!(
            cx.api.delete(&path(key)).await.status(200)["items"][0]["key"],
            key
        );
        cx.api.get(&path(key)).await.refused(404, "not_found", None);
    }
    cx.api
        .get(&format!(
            "/v1/memories/by-key/%FF%FE?scope={}",
            encode(&cx.scope)
        ))
        .await
        .refused(400, "invalid", Some("path"));
    assert!(cx.api.list(&cx.scope).await.is_empty());
}
