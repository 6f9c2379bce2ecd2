//! A client of REST and MCP that writes down every exchange. It checks nothing but
//! what a case asks it to check.

use std::fmt::Write as _;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

/// The revision that the suite speaks where it does not matter.
const REVISION: &str = "2026-07-28";

/// The exchanges of one case.
#[derive(Debug, Clone, Default)]
pub(crate) struct Transcript(Arc<Mutex<Vec<String>>>);

impl Transcript {
    fn add(&self, exchange: String) {
        self.0.lock().unwrap().push(exchange);
    }

    /// The last exchanges, the failed one at the end.
    pub(crate) fn last(&self, count: usize) -> String {
        let exchanges = self.0.lock().unwrap();
        exchanges
            .iter()
            .skip(exchanges.len().saturating_sub(count))
            .cloned()
            .collect::<Vec<_>>()
            .join("\n")
    }
}

/// A caller of one server.
#[derive(Debug, Clone)]
pub(crate) struct Client {
    http: reqwest::Client,
    url: String,
    token: Option<String>,
    transcript: Transcript,
}

/// What came back.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) text: String,
    /// The body as JSON; null if it is none.
    pub(crate) json: Value,
}

/// A request before it is sent.
#[derive(Debug)]
pub(crate) struct Asking<'a> {
    client: &'a Client,
    method: Method,
    path: String,
    headers: HeaderMap,
    body: Option<Vec<u8>>,
}

impl Client {
    pub(crate) fn new(url: &str, token: Option<&str>, transcript: Transcript) -> Self {
        let http = reqwest::Client::builder()
            .timeout(Duration::from_secs(90))
            .build()
            .unwrap();
        Self {
            http,
            url: url.trim_end_matches('/').to_owned(),
            token: token.map(str::to_owned),
            transcript,
        }
    }

    pub(crate) fn ask(&self, method: &str, path: &str) -> Asking<'_> {
        Asking {
            client: self,
            method: method.parse().unwrap(),
            path: path.to_owned(),
            headers: HeaderMap::new(),
            body: None,
        }
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        self.ask("GET", path).send().await
    }

    pub(crate) async fn post(&self, path: &str, body: Value) -> Answer {
        self.ask("POST", path).json(&body).send().await
    }

    pub(crate) async fn patch(&self, path: &str, body: Value) -> Answer {
        self.ask("PATCH", path).json(&body).send().await
    }

    pub(crate) async fn put(&self, path: &str, body: Value) -> Answer {
        self.ask("PUT", path).json(&body).send().await
    }

    pub(crate) async fn delete(&self, path: &str) -> Answer {
        self.ask("DELETE", path).send().await
    }

    /// Remembers one memory and gives its id.
    pub(crate) async fn remember(&self, memory: Value) -> String {
        let answer = self.post("/v1/memories", memory).await;
        let reply = answer.success();
        reply["items"][0]["id"].as_str().unwrap().to_owned()
    }

    /// Recalls, and gives the contents of the hits.
    pub(crate) async fn recall(&self, arguments: Value) -> Vec<String> {
        let answer = self.post("/v1/memories/recall", arguments).await;
        contents(&answer.success()["hits"])
    }

    /// Lists a scope alone, and gives the contents.
    pub(crate) async fn list(&self, scope: &str) -> Vec<String> {
        let answer = self
            .get(&format!("/v1/memories?limit=500&scope={}", encode(scope)))
            .await;
        contents(&answer.success()["memories"])
    }

    /// One JSON-RPC message with nothing added to it.
    pub(crate) async fn rpc(
        &self,
        path: &str,
        headers: &[(&str, &str)],
        message: &Value,
    ) -> Answer {
        let mut asking = self
            .ask("POST", path)
            .json(message)
            .header("accept", "application/json, text/event-stream");
        for (name, value) in headers {
            asking = asking.header(name, value);
        }
        asking.send().await
    }

    /// One request of the stateless revision, its result.
    pub(crate) async fn mcp(&self, path: &str, method: &str, mut params: Value) -> Answer {
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": REVISION,
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        let name = params["name"]
            .as_str()
            .or_else(|| params["uri"].as_str())
            .unwrap_or_default()
            .to_owned();
        let mut headers = vec![("mcp-protocol-version", REVISION), ("mcp-method", method)];
        if matches!(method, "tools/call" | "prompts/get" | "resources/read") {
            headers.push(("mcp-name", &name));
        }
        self.rpc(
            path,
            &headers,
            &json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}),
        )
        .await
    }

    /// Calls a tool and gives its structured result.
    pub(crate) async fn tool(&self, name: &str, arguments: Value) -> Value {
        let result = self.tool_result(name, arguments).await;
        assert_ne!(result["isError"], true, "the tool failed: {result:#}");
        let structured = result["structuredContent"].clone();
        assert!(structured.is_object(), "no structured content: {result:#}");
        structured
    }

    /// Calls a tool that must fail, and gives what it says.
    pub(crate) async fn tool_error(&self, name: &str, arguments: Value) -> String {
        let result = self.tool_result(name, arguments).await;
        assert_eq!(result["isError"], true, "the tool did not fail: {result:#}");
        result["content"][0]["text"]
            .as_str()
            .expect("an error says something")
            .to_owned()
    }

    /// Calls a tool.
    pub(crate) async fn tool_result(&self, name: &str, arguments: Value) -> Value {
        let answer = self
            .mcp(
                "/mcp",
                "tools/call",
                json!({"name": name, "arguments": arguments}),
            )
            .await;
        let result = answer.success()["result"].clone();
        assert!(result.is_object(), "no result: {:#}", answer.json);
        result
    }
}

impl Asking<'_> {
    pub(crate) fn header(mut self, name: &str, value: &str) -> Self {
        let name: HeaderName = name.parse().unwrap();
        self.headers
            .append(name, HeaderValue::from_bytes(value.as_bytes()).unwrap());
        self
    }

    pub(crate) fn json(self, body: &Value) -> Self {
        self.bytes("application/json", serde_json::to_vec(body).unwrap())
    }

    pub(crate) fn bytes(mut self, media: &str, body: Vec<u8>) -> Self {
        self.body = Some(body);
        if media.is_empty() {
            self
        } else {
            self.header("content-type", media)
        }
    }

    pub(crate) async fn send(self) -> Answer {
        let Self {
            client,
            method,
            path,
            headers,
            body,
        } = self;
        let mut told = format!(">> {method} {path}\n");
        for (name, value) in &headers {
            let _ = writeln!(
                told,
                ">> {name}: {}",
                String::from_utf8_lossy(value.as_bytes())
            );
        }
        if let Some(body) = &body {
            let _ = writeln!(told, ">> {}", short(&String::from_utf8_lossy(body)));
        }
        let mut request = client
            .http
            .request(method, format!("{}{path}", client.url))
            .headers(headers);
        if let Some(token) = &client.token {
            request = request.bearer_auth(token);
        }
        if let Some(body) = body {
            request = request.body(body);
        }
        let response = match request.send().await {
            Ok(response) => response,
            Err(error) => {
                client.transcript.add(told);
                panic!("no answer: {error:?}");
            }
        };
        let (status, headers) = (response.status(), response.headers().clone());
        let text = response
            .text()
            .await
            .unwrap_or_else(|error| format!("(the body broke off: {error})"));
        let _ = writeln!(told, "<< {status}");
        for name in [
            "content-type",
            "allow",
            "etag",
            "location",
            "retry-after",
            "www-authenticate",
        ] {
            if let Some(value) = headers.get(name) {
                let _ = writeln!(
                    told,
                    "<< {name}: {}",
                    String::from_utf8_lossy(value.as_bytes())
                );
            }
        }
        let _ = writeln!(told, "<< {}", short(&text));
        client.transcript.add(told);
        let json = serde_json::from_str(&text).unwrap_or(Value::Null);
        Answer {
            status,
            headers,
            text,
            json,
        }
    }
}

impl Answer {
    /// The body of an answer that succeeded.
    pub(crate) fn success(&self) -> &Value {
        assert!(
            self.status.is_success(),
            "{} {}",
            self.status,
            short(&self.text)
        );
        &self.json
    }

    /// The body of an answer with this status.
    pub(crate) fn status(&self, status: u16) -> &Value {
        assert_eq!(self.status.as_u16(), status, "{}", short(&self.text));
        &self.json
    }

    /// The body of a refusal in the one shape that REST has: code and field.
    pub(crate) fn refused(&self, status: u16, code: &str, field: Option<&str>) -> &Value {
        let error = &self.status(status)["error"];
        assert_eq!(error["code"], code, "{}", short(&self.text));
        assert_eq!(error["field"].as_str(), field, "{}", short(&self.text));
        assert!(
            error["message"]
                .as_str()
                .is_some_and(|message| !message.is_empty()),
            "{}",
            short(&self.text)
        );
        error
    }

    /// A header as text.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }
}

/// The contents of hits or memories.
pub(crate) fn contents(memories: &Value) -> Vec<String> {
    memories
        .as_array()
        .expect("a list of memories")
        .iter()
        .map(|memory| memory["content"].as_str().expect("a content").to_owned())
        .collect()
}

/// Percent-encodes everything that is not unreserved.
pub(crate) fn encode(text: &str) -> String {
    text.bytes().fold(String::new(), |mut encoded, byte| {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            encoded.push(char::from(byte));
        } else {
            let _ = write!(encoded, "%{byte:02X}");
        }
        encoded
    })
}

fn short(text: &str) -> String {
    const MOST: usize = 3000;
    if text.chars().count() <= MOST {
        return text.to_owned();
    }
    format!(
        "{}… ({} bytes)",
        text.chars().take(MOST).collect::<String>(),
        text.len()
    )
}
