//! Several processes on one folder at once (field report A25): nothing that was
//! acknowledged is lost, whoever dies in the middle.

mod harness;

use futures::future::join_all;
use harness::{Client, Server, contents, ostraca};
use serde_json::json;

const EACH: usize = 20;

#[tokio::test(flavor = "multi_thread")]
async fn a25_stdio_and_http_processes_write_one_folder_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path();
    let (first, second, server) = tokio::join!(
        Client::start(ostraca(store)),
        Client::start(ostraca(store)),
        Server::start(ostraca(store), &[]),
    );

    let over_stdio = [("first", &first), ("second", &second)]
        .into_iter()
        .flat_map(|(name, client)| {
            (0..EACH).map(move |number| async move {
                let reply = client
                    .call("remember", json!({ "content": format!("{name} {number}") }))
                    .await;
                assert_eq!(reply.unwrap()["items"][0]["outcome"], "created");
            })
        });
    let over_http = (0..EACH).map(|number| {
        let server = &server;
        async move {
            let body = json!({ "content": format!("server {number}") });
            let (status, reply) = server.post("/v1/memories", None, body).await;
            assert!((200..300).contains(&status), "{status} {reply}");
        }
    });
    tokio::join!(join_all(over_stdio), join_all(over_http));

    let mut expected: Vec<String> = ["first", "second", "server"]
        .iter()
        .flat_map(|name| (0..EACH).map(move |number| format!("{name} {number}")))
        .collect();
    expected.sort();
    assert_eq!(contents(store).await, expected);

    // Each process sees what the others wrote, in the very next call.
    let listed = first.call("list", json!({ "limit": 100 })).await.unwrap();
    assert_eq!(listed["memories"].as_array().unwrap().len(), 3 * EACH);
}

#[tokio::test(flavor = "multi_thread")]
async fn a25_a_killed_process_loses_nothing_that_it_acknowledged() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path();
    let mut victim = Client::start(ostraca(store)).await;
    let survivor = Client::start(ostraca(store)).await;

    let mut pending = Vec::new();
    for number in 0..10 * EACH {
        let content = format!("victim {number}");
        let arguments = json!({ "name": "remember", "arguments": { "content": content } });
        pending.push((content, victim.send("tools/call", arguments).await));
    }
    let others = join_all((0..EACH).map(|number| {
        survivor.call(
            "remember",
            json!({ "content": format!("survivor {number}") }),
        )
    }));
    // Killed once a few are acknowledged, while most are under way.
    let mut acknowledged = Vec::new();
    let (rest, ()) = tokio::join!(others, async {
        for (content, answer) in pending.drain(..EACH) {
            assert_eq!(
                answer.await.unwrap()["result"]["structuredContent"]["failed"],
                0
            );
            acknowledged.push(content);
        }
        victim.child.kill().await.unwrap();
    });
    assert!(
        rest.iter().all(Option::is_some),
        "the survivor answered everything"
    );
    for (content, answer) in pending {
        if answer.await.is_ok() {
            acknowledged.push(content);
        }
    }

    let stored = contents(store).await;
    for content in &acknowledged {
        assert!(
            stored.contains(content),
            "{content} was acknowledged and is lost"
        );
    }
    for number in 0..EACH {
        assert!(
            stored.contains(&format!("survivor {number}")),
            "survivor {number} is lost"
        );
    }
    let mut once = stored.clone();
    once.dedup();
    assert_eq!(once, stored, "nothing is stored twice");
}
