//! The counting server: the one beside this binary, or one that runs already.

use std::process::Stdio;

use serde_json::Value;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};

type Failure = Box<dyn std::error::Error>;

pub(crate) struct Server {
    endpoint: String,
    /// Ends with this value, as its stdin closes.
    _process: Option<Child>,
}

impl Server {
    pub(crate) fn at(endpoint: &str) -> Self {
        Self {
            endpoint: endpoint.to_owned(),
            _process: None,
        }
    }

    pub(crate) async fn start(put_ms: u64, get_ms: u64) -> Result<Self, Failure> {
        let binary = std::env::current_exe()?.with_file_name("counting_s3");
        let mut process = Command::new(binary)
            .args(["--put-ms", &put_ms.to_string()])
            .args(["--get-ms", &get_ms.to_string()])
            .args(["--list-ms", &get_ms.to_string()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()?;
        let out = process.stdout.take().ok_or("counting_s3 has no stdout")?;
        let mut line = String::new();
        BufReader::new(out).read_line(&mut line).await?;
        let said: Value = serde_json::from_str(&line)?;
        let endpoint = said
            .get("url")
            .and_then(Value::as_str)
            .ok_or("counting_s3 said no url")?;
        Ok(Self {
            endpoint: endpoint.to_owned(),
            _process: Some(process),
        })
    }

    pub(crate) fn endpoint(&self) -> &str {
        &self.endpoint
    }

    pub(crate) async fn stats(&self) -> Result<Value, Failure> {
        let answer = reqwest::get(format!("{}/__stats", self.endpoint)).await?;
        Ok(serde_json::from_slice(&answer.bytes().await?)?)
    }

    pub(crate) async fn reset(&self) -> Result<(), Failure> {
        let url = format!("{}/__reset", self.endpoint);
        reqwest::Client::new().post(url).send().await?;
        Ok(())
    }
}
