//! The tools, one file each, and what they share: a definition that clients can read,
//! the permission that guards it, and a way to run it. A tool translates; what it does
//! is an operation of the domain.

mod brief;
mod forget;
mod get;
mod history;
mod list;
mod recall;
mod remember;
mod restore;
mod scopes;
mod update;
mod watch;

#[cfg(test)]
mod tests;

use std::fmt;
use std::sync::Arc;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use ostraca_memory::{Error, ErrorKind, Permission, Session};
use rmcp::model::{CallToolRequestParams, CallToolResult, ContentBlock, ErrorData, ToolAnnotations};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use crate::error::{self, ErrorBody};
use crate::mcp::dispatch::View;
use crate::wire::{Arguments, input_schema, output_schema};

/// What a tool does to what is stored. The permission and all hints follow from it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Effect {
    /// It only reads.
    Reads,
    /// It adds; what was there stays reachable, and the same call again adds nothing.
    Adds,
    /// It changes what others will read; the same call again changes nothing more.
    Changes,
    /// It takes away; the same call again takes away nothing more.
    Removes,
}

impl Effect {
    fn permission(self) -> Permission {
        match self {
            Self::Reads => Permission::Read,
            Self::Adds | Self::Changes => Permission::Write,
            Self::Removes => Permission::Delete,
        }
    }

    fn hints(self, title: &str) -> ToolAnnotations {
        ToolAnnotations::with_title(title)
            .read_only(self == Self::Reads)
            .destructive(matches!(self, Self::Changes | Self::Removes))
            .idempotent(true)
            .open_world(false)
    }
}

/// What a client reads about a tool.
struct About {
    name: &'static str,
    title: &'static str,
    description: &'static str,
    effect: Effect,
}

type Run = dyn Fn(Arc<Session>, Value) -> BoxFuture<'static, Result<Value, Error>> + Send + Sync;

/// One tool.
pub(crate) struct Tool {
    definition: rmcp::model::Tool,
    permission: Permission,
    run: Box<Run>,
}

impl Tool {
    /// A tool that takes `A` and answers `R`.
    fn new<A, R, F, Fut>(about: About, operation: F) -> Self
    where
        A: Arguments + Send + 'static,
        R: Serialize + JsonSchema,
        F: Fn(Arc<Session>, A) -> Fut + Clone + Send + Sync + 'static,
        Fut: Future<Output = Result<R, Error>> + Send + 'static,
    {
        let definition = rmcp::model::Tool::new(about.name, about.description, Arc::new(input_schema::<A>()))
            .with_title(about.title)
            .with_raw_output_schema(Arc::new(output_schema::<R>()))
            .with_annotations(about.effect.hints(about.title));
        let run = move |session, arguments| {
            let operation = operation.clone();
            async move {
                let reply = operation(session, A::decode(arguments)?).await?;
                serde_json::to_value(reply).map_err(|error| {
                    Error::new(ErrorKind::Internal, "the reply could not be written").with_source(error)
                })
            }
            .boxed()
        };
        Self { definition, permission: about.effect.permission(), run: Box::new(run) }
    }

    /// Its name.
    pub(crate) fn name(&self) -> &str {
        &self.definition.name
    }

    /// What a client reads about it.
    pub(crate) fn definition(&self) -> &rmcp::model::Tool {
        &self.definition
    }

    /// What a caller needs to use it.
    pub(crate) fn permission(&self) -> Permission {
        self.permission
    }
}

impl fmt::Debug for Tool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tool").field("name", &self.name()).field("permission", &self.permission).finish_non_exhaustive()
    }
}

/// Every tool, in the order in which they are listed.
#[derive(Debug)]
pub(crate) struct Tools(Vec<Tool>);

impl Tools {
    pub(crate) fn new() -> Self {
        Self(vec![
            remember::tool(),
            recall::tool(),
            get::tool(),
            list::tool(),
            update::tool(),
            forget::tool(),
            history::tool(),
            restore::tool(),
            scopes::tool(),
            watch::tool(),
        ])
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Tool> {
        self.0.iter()
    }

    pub(crate) fn find(&self, name: &str) -> Option<&Tool> {
        self.iter().find(|tool| tool.name() == name)
    }

    /// Runs a tool. A failure that a model can act on is a result marked as an error;
    /// only a name that is no tool is an error of the protocol.
    pub(crate) async fn call(&self, view: View, request: CallToolRequestParams) -> Result<CallToolResult, ErrorData> {
        let Some(tool) = self.find(&request.name) else {
            return Err(ErrorData::invalid_params(format!("unknown tool: {}", request.name), None));
        };
        if !view.selection.offers(tool) {
            return Ok(failure(&Error::new(
                ErrorKind::Forbidden,
                format!("{} is not offered here: this connection is read-only or names the tools it may use", tool.name()),
            )));
        }
        if let Err(error) = view.session.caller().require(tool.permission) {
            return Ok(failure(&error));
        }
        let arguments = Value::Object(request.arguments.unwrap_or_default());
        match (tool.run)(view.session, arguments).await {
            Ok(reply) => Ok(CallToolResult::structured(reply)),
            Err(error) => {
                error::log(&error);
                Ok(failure(&error))
            }
        }
    }
}

/// A failure as a model reads it: the sentence, then the same for programs.
fn failure(error: &Error) -> CallToolResult {
    let mut body = json!(ErrorBody::from(error));
    if let (Some(seconds), Some(detail)) = (error::retry_after_seconds(error.kind()), body.get_mut("error").and_then(Value::as_object_mut)) {
        detail.insert("retry_after_seconds".to_owned(), json!(seconds));
    }
    CallToolResult::error(vec![ContentBlock::text(error.to_string()), ContentBlock::text(body.to_string())])
}
