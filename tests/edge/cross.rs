//! What one edge has acknowledged, every other sees in the very next call, whatever each
//! has read before.

use std::sync::Arc;

use libtest_mimic::Trial;
use serde_json::{Value, json};
use tokio::runtime::Runtime;

use crate::api::temporary;
use crate::client::{Client, Transcript, contents};
use crate::platform::{Bucket, Front, Workerd, lambda, local, open_to_all};
use crate::trial;

pub(crate) fn trials(runtime: &Arc<Runtime>) -> Vec<Trial> {
    vec![
        trial(
            runtime,
            "i_visible_across_worker_lambda_and_binary",
            across_edges,
        ),
        trial(runtime, "i_visible_across_isolates_on_r2", across_isolates),
        trial(
            runtime,
            "function_urls_carry_text_and_errors_unchanged",
            function_url,
        ),
        trial(
            runtime,
            "a_worker_without_settings_says_which",
            misconfigured,
        ),
    ]
}

async fn across_edges() {
    let bucket = Bucket::seaweedfs().await;
    let variables = [bucket.variables("cross"), open_to_all()].concat();
    let workerd = Workerd {
        instances: 1,
        r2: None,
        bundle: None,
    };
    let workerd = workerd.start(&variables).await;
    let lambda = lambda(1, Front::HttpApi, &variables).await;
    let local = local(&variables).await;
    let at = |url: &str| Client::new(url, None, Transcript::default());
    let edges = [
        ("worker", at(&workerd.urls()[0])),
        ("lambda", at(&lambda.urls()[0])),
        ("binary", at(local.ready["url"].as_str().unwrap())),
    ];
    visible_everywhere(&edges).await;
}

async fn across_isolates() {
    let r2 = temporary();
    let workerd = Workerd {
        instances: 3,
        r2: Some(r2.path()),
        bundle: None,
    };
    let workerd = workerd.start(&open_to_all()).await;
    let edges: Vec<_> = workerd
        .urls()
        .iter()
        .map(|url| ("isolate", Client::new(url, None, Transcript::default())))
        .collect();
    visible_everywhere(&edges).await;
}

/// Each writes in turn, by REST and by MCP; each other recalls it in its next call.
async fn visible_everywhere(edges: &[(&str, Client)]) {
    for round in 0..3 {
        for (writer, (name, edge)) in edges.iter().enumerate() {
            let word = format!("sherd{round}{writer}");
            let memory = json!({"content": format!("{word} was written through the {name}")});
            if round == 1 {
                edge.tool("remember", memory).await;
            } else {
                edge.remember(memory).await;
            }
            for (reader, (other, edge)) in edges.iter().enumerate() {
                if reader != writer {
                    let hits = edge.recall(json!({"query": word})).await;
                    assert_eq!(hits.len(), 1, "the {other} after the {name}, round {round}");
                }
            }
        }
    }
    for (name, edge) in edges {
        assert_eq!(edge.list("").await.len(), 3 * edges.len(), "{name}");
    }
}

async fn function_url() {
    let bucket = Bucket::moto().await;
    let variables = [bucket.variables("url"), open_to_all()].concat();
    let lambda = lambda(1, Front::FunctionUrl, &variables).await;
    let edge = Client::new(&lambda.urls()[0], None, Transcript::default());
    let content = "Ὄστρακα \u{1f3fa} \"quoted\" \\ \u{7f}\nnew line";
    edge.remember(json!({"content": content, "scope": "büro/α b"}))
        .await;
    assert_eq!(edge.list("büro/α b").await, [content]);
    let answer = edge.post("/v1/memories", json!({"content": ""})).await;
    answer.refused(400, "invalid", Some("content"));
    let call = json!({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"name": "list", "arguments": {"scope": "büro/α b"}}});
    let headers = [("mcp-protocol-version", "2025-06-18")];
    let answer = edge.rpc("/mcp", &headers, &call).await;
    let listed = &answer.success()["result"]["structuredContent"]["memories"];
    assert_eq!(contents(listed), [content]);
}

async fn misconfigured() {
    let workerd = Workerd {
        instances: 1,
        r2: None,
        bundle: None,
    };
    for (variable, named) in [
        ("OSTRACA_AUTH=perhaps", "OSTRACA_AUTH"),
        ("OSTRACA_STORE=ftp://jar", "OSTRACA_STORE"),
        ("OSTRACA_STORE=s3://jar", "AWS_ACCESS_KEY_ID"),
        ("OSTRACA_AUTH=keys", "BUCKET"),
    ] {
        let (name, value) = variable.split_once('=').unwrap();
        let process = workerd
            .start(&vec![(name.to_owned(), value.to_owned())])
            .await;
        let edge = Client::new(&process.urls()[0], None, Transcript::default());
        let answer: Value = edge.get("/v1/health").await.status(500).clone();
        let message = answer["error"]["message"].as_str().unwrap();
        assert!(message.contains(named), "{variable}: {message}");
    }
}
