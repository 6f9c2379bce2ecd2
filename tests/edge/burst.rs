//! Many writes at once through several instances, by clients that do what a client should:
//! they name each write, and send it again if it was refused for now or not answered.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use futures::future::join_all;
use serde_json::{Value, json};

use crate::client::encode;

/// Past this, a write counts as not possible.
const PATIENCE: Duration = Duration::from_mins(4);

/// The scope that all write to.
const SCOPE: &str = "burst";

/// Instances over one store.
#[derive(Debug, Clone)]
pub(crate) struct Instances {
    http: reqwest::Client,
    urls: Vec<String>,
    acknowledged: Arc<Mutex<Acknowledged>>,
}

/// What a burst came to: the id of each write, by its number.
pub(crate) type Acknowledged = BTreeMap<usize, String>;

impl Instances {
    pub(crate) fn new(urls: Vec<String>) -> Self {
        let http = reqwest::Client::builder()
            .timeout(Duration::from_secs(100))
            .build()
            .unwrap();
        Self {
            http,
            urls,
            acknowledged: Arc::default(),
        }
    }

    /// The writes that are acknowledged so far.
    pub(crate) fn acknowledged(&self) -> Acknowledged {
        self.acknowledged.lock().unwrap().clone()
    }

    /// A place in the feed of changes, before anything is written.
    pub(crate) async fn watch(&self) -> String {
        let path = format!("/v1/watch?scope={SCOPE}");
        let reply = self.get(0, &path).await;
        reply["next_cursor"].as_str().unwrap().to_owned()
    }

    /// Sends all writes at once, spread over the instances, until each is acknowledged.
    pub(crate) async fn write(&self, count: usize) -> Acknowledged {
        let began = Instant::now();
        join_all((0..count).map(|number| self.write_one(number, began))).await;
        eprintln!("{count} writes in {} ms", began.elapsed().as_millis());
        self.acknowledged()
    }

    async fn write_one(&self, number: usize, began: Instant) {
        let body = json!({
            "content": format!("fact number {number}"),
            "scope": SCOPE,
            "idempotency_key": format!("burst-{number}"),
        });
        let mut instance = number;
        loop {
            assert!(
                began.elapsed() < PATIENCE,
                "write {number} is never acknowledged"
            );
            let url = &self.urls[instance % self.urls.len()];
            let sent = self
                .http
                .post(format!("{url}/v1/memories"))
                .json(&body)
                .send();
            let answer = match sent.await {
                Ok(answer) => Some((answer.status().as_u16(), answer.text().await)),
                Err(_) => None,
            };
            match answer {
                Some((200 | 201, Ok(text))) => {
                    let reply: Value = serde_json::from_str(&text).unwrap();
                    let id = reply["items"][0]["id"].as_str().expect(&text).to_owned();
                    self.acknowledged.lock().unwrap().insert(number, id);
                    return;
                }
                // Refused for now, or cut off: the same again, by way of another.
                None | Some((429 | 500..=599, _) | (_, Err(_))) => {
                    instance += 1;
                    tokio::time::sleep(Duration::from_millis(200)).await;
                }
                Some((status, Ok(text))) => panic!("write {number}: {status} {text}"),
            }
        }
    }

    /// Every instance lists every acknowledged write once, all in the same order, and the
    /// feed tells each once, at a position of its own.
    pub(crate) async fn check(&self, acknowledged: &Acknowledged, cursor: &str) {
        let mut ids: Vec<&String> = acknowledged.values().collect();
        ids.sort();
        ids.dedup();
        assert_eq!(ids.len(), acknowledged.len(), "two writes have one id");
        let mut orders = Vec::new();
        for instance in 0..self.urls.len() {
            let listed = self.list(instance).await;
            let mut sorted: Vec<&String> = listed.iter().collect();
            sorted.sort();
            assert_eq!(sorted, ids, "instance {instance} lists something else");
            orders.push(listed);
        }
        assert!(
            orders.windows(2).all(|pair| pair[0] == pair[1]),
            "orders differ"
        );
        for instance in 0..self.urls.len() {
            let changes = self.changes(instance, cursor).await;
            let positions: Vec<u64> = changes.iter().map(|(position, _)| *position).collect();
            assert!(positions.is_sorted(), "{positions:?}");
            let mut told: Vec<&String> = changes.iter().map(|(_, id)| id).collect();
            told.sort();
            assert_eq!(told, ids, "the feed of instance {instance}");
        }
    }

    async fn list(&self, instance: usize) -> Vec<String> {
        let mut ids = Vec::new();
        let mut after = String::new();
        loop {
            let path = format!("/v1/memories?scope={SCOPE}&order=oldest&limit=100{after}");
            let page = self.get(instance, &path).await;
            for memory in page["memories"].as_array().unwrap() {
                ids.push(memory["id"].as_str().unwrap().to_owned());
            }
            match page["next_cursor"].as_str() {
                Some(cursor) => after = format!("&cursor={}", encode(cursor)),
                None => return ids,
            }
        }
    }

    async fn changes(&self, instance: usize, cursor: &str) -> Vec<(u64, String)> {
        let mut changes = Vec::new();
        let mut cursor = cursor.to_owned();
        loop {
            let path = format!("/v1/watch?scope={SCOPE}&cursor={}", encode(&cursor));
            let page = self.get(instance, &path).await;
            let before = changes.len();
            for change in page["changes"].as_array().unwrap() {
                let position = change["position"].as_u64().unwrap();
                changes.push((position, change["id"].as_str().unwrap().to_owned()));
            }
            if changes.len() == before {
                return changes;
            }
            page["next_cursor"]
                .as_str()
                .unwrap()
                .clone_into(&mut cursor);
        }
    }

    async fn get(&self, instance: usize, path: &str) -> Value {
        let url = format!("{}{path}", self.urls[instance]);
        let answer = self.http.get(&url).send().await.unwrap();
        let status = answer.status();
        let text = answer.text().await.unwrap();
        assert!(status.is_success(), "{url}: {status} {text}");
        serde_json::from_str(&text).unwrap()
    }
}
