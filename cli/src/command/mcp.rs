//! `ostraca mcp`: the service for one client over standard input and output. Only
//! JSON-RPC lines reach standard output. Requests are answered as they end, in any
//! order; many such processes may use one store at once.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use ostraca_service::mcp::stdio::Connection;
use ostraca_service::{App, AuthMode, ServiceSettings};
use tokio::io::{
    AsyncBufRead, AsyncBufReadExt, AsyncReadExt, AsyncWrite, AsyncWriteExt, BufReader,
};
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use crate::args::{EmbedArgs, StoreArgs, TenantArgs};
use crate::database;
use crate::error::CliError;
use crate::signal;

/// The longest line, in bytes. The largest memory fits in, even fully escaped.
const MAX_LINE_BYTES: usize = 16 << 20;
/// Requests in work at once; the next line is read when one has ended.
const MAX_RUNNING: usize = 256;
/// How long running requests may take to end once the process was asked to stop.
const GRACE: Duration = Duration::from_secs(5);

/// How to serve one client.
#[derive(Debug, Args)]
pub(crate) struct McpArgs {
    #[command(flatten)]
    store: StoreArgs,
    #[command(flatten)]
    tenant: TenantArgs,
    /// Leave out the tools that change anything
    #[arg(long, env = "OSTRACA_READ_ONLY")]
    read_only: bool,
    #[command(flatten)]
    embed: EmbedArgs,
}

/// Runs the command.
pub(crate) async fn run(args: McpArgs) -> Result<(), CliError> {
    let opened = database::open(&args.store, args.embed.interactive())?;
    let app = App {
        database: opened.database,
        auth: AuthMode::Open {
            tenant: args.tenant.tenant,
        },
        public_url: None,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        settings: ServiceSettings::default(),
    };
    let connection = Connection::open(&app, None).await?;
    let connection = if args.read_only {
        connection.read_only()
    } else {
        connection
    };
    tracing::info!(store = %opened.location, "serving MCP on standard input and output");
    let input = BufReader::with_capacity(1 << 16, tokio::io::stdin());
    let stop = async {
        if let Err(error) = signal::stop().await {
            tracing::warn!(%error, "signals cannot be handled; the end of input stops the process");
            std::future::pending::<()>().await;
        }
    };
    serve(Arc::new(connection), input, tokio::io::stdout(), stop).await?;
    Ok(())
}

/// Answers lines until the input ends or `stop` does, and then what is pending.
async fn serve(
    connection: Arc<Connection>,
    mut input: impl AsyncBufRead + Unpin,
    output: impl AsyncWrite + Unpin + Send + 'static,
    stop: impl Future<Output = ()>,
) -> io::Result<()> {
    let (answers, queue) = mpsc::channel(MAX_RUNNING);
    let writer = tokio::spawn(write(queue, output));
    let mut running = JoinSet::new();
    let mut stop = std::pin::pin!(stop);
    let ended = loop {
        let line = tokio::select! {
            line = next_line(&mut input) => line,
            // Nobody reads the answers any more.
            () = answers.closed() => break Ended::Input(Ok(())),
            () = &mut stop => break Ended::Asked,
        };
        let text = match line {
            Ok(Some(text)) => text,
            Ok(None) => break Ended::Input(Ok(())),
            Err(error) => break Ended::Input(Err(error)),
        };
        let handshake = text.contains(HANDSHAKE);
        let (connection, answers) = (Arc::clone(&connection), answers.clone());
        let answer = async move {
            if let Some(answer) = connection.handle_line(&text).await {
                // Fails only if nobody reads the answers, which ends the loop too.
                let _ = answers.send(answer).await;
            }
        };
        if handshake {
            answer.await;
            continue;
        }
        while running.len() >= MAX_RUNNING {
            running.join_next().await;
        }
        while running.try_join_next().is_some() {}
        running.spawn(answer);
    };
    drop(answers);
    let finish = async {
        while running.join_next().await.is_some() {}
        // A writer that panicked has nothing left to say.
        writer.await.unwrap_or(Ok(()))
    };
    match ended {
        Ended::Input(read) => finish.await.and(read),
        Ended::Asked => tokio::time::timeout(GRACE, finish).await.unwrap_or(Ok(())),
    }
}

/// Why no more lines are read.
enum Ended {
    Input(io::Result<()>),
    Asked,
}

/// What a handshake contains. It is answered before the next line is read, as the
/// lines after it depend on what was agreed; a memory that contains the text merely
/// waits for its turn.
const HANDSHAKE: &str = "\"initialize\"";

/// The next line, without its end. What is no text, or too long to be a request, comes
/// as a replacement character, to which the protocol answers with its parse error.
async fn next_line(input: &mut (impl AsyncBufRead + Unpin)) -> io::Result<Option<String>> {
    let mut line = Vec::new();
    let limit = MAX_LINE_BYTES as u64 + 1;
    if (&mut *input)
        .take(limit)
        .read_until(b'\n', &mut line)
        .await?
        == 0
    {
        return Ok(None);
    }
    if line.last() != Some(&b'\n') && line.len() > MAX_LINE_BYTES {
        skip_line(input).await?;
        tracing::warn!(
            max_bytes = MAX_LINE_BYTES,
            "a line is too long and is refused"
        );
        line.clear();
    }
    let text = String::from_utf8(line).ok().filter(|text| !text.is_empty());
    Ok(Some(text.unwrap_or_else(|| {
        char::REPLACEMENT_CHARACTER.to_string()
    })))
}

async fn skip_line(input: &mut (impl AsyncBufRead + Unpin)) -> io::Result<()> {
    loop {
        let buffer = input.fill_buf().await?;
        let (length, end) = (buffer.len(), buffer.iter().position(|byte| *byte == b'\n'));
        input.consume(end.map_or(length, |end| end + 1));
        if length == 0 || end.is_some() {
            return Ok(());
        }
    }
}

/// Writes answers, each as one line, as long as someone reads them.
async fn write(
    mut answers: mpsc::Receiver<String>,
    mut output: impl AsyncWrite + Unpin,
) -> io::Result<()> {
    while let Some(mut answer) = answers.recv().await {
        answer.push('\n');
        output.write_all(answer.as_bytes()).await?;
        output.flush().await?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn lines_end_anywhere_and_what_is_no_text_is_answered() {
        let mut input: &[u8] = b"{\"a\":1}\r\n\xff\xfe\n\nlast";
        let mut lines = Vec::new();
        while let Some(line) = next_line(&mut input).await.unwrap() {
            lines.push(line);
        }
        assert_eq!(lines, ["{\"a\":1}\r\n", "\u{fffd}", "\n", "last"]);
    }

    #[tokio::test]
    async fn a_line_too_long_is_one_refusal_and_the_next_is_read() {
        let text = format!("{}\n{{}}\n", "x".repeat(MAX_LINE_BYTES + 10));
        let mut input = text.as_bytes();
        assert_eq!(
            next_line(&mut input).await.unwrap().as_deref(),
            Some("\u{fffd}")
        );
        assert_eq!(
            next_line(&mut input).await.unwrap().as_deref(),
            Some("{}\n")
        );
        assert_eq!(next_line(&mut input).await.unwrap(), None);
    }
}
