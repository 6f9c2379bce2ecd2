//! The tools, one file each, and what they share: a definition that clients can read,
//! the permission that guards it, and a way to run it. A tool translates; what it does
//! is an operation of the domain.

mod brief;
mod concise;
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
use rmcp::model::{
    CallToolRequestParams, CallToolResult, ContentBlock, ErrorData, ToolAnnotations,
};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::error::{self, ErrorBody};
use crate::mcp::bounded::{MAX_TEXT_BYTES, fewer};
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

/// How the answer of a tool is kept to what a model can take in.
#[derive(Debug, Clone, Copy)]
enum Bound {
    /// It is short, or tells of a change, which is never withheld.
    Short,
    /// It is a page of these; the argument `limit` makes it shorter.
    Page(&'static str),
    /// It is these, which the argument named; fewer have to be asked for.
    Named {
        items: &'static str,
        argument: &'static str,
    },
}

/// What a client reads about a tool.
#[derive(Debug, Clone, Copy)]
struct About {
    name: &'static str,
    title: &'static str,
    description: &'static str,
    effect: Effect,
    bound: Bound,
}

type Run = dyn Fn(Arc<Session>, Value) -> BoxFuture<'static, Result<Value, Error>> + Send + Sync;

/// One tool.
pub(crate) struct Tool {
    definition: rmcp::model::Tool,
    permission: Permission,
    bound: Bound,
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
        let definition =
            rmcp::model::Tool::new(about.name, about.description, Arc::new(input_schema::<A>()))
                .with_title(about.title)
                .with_raw_output_schema(Arc::new(concise::concise(output_schema::<R>())))
                .with_annotations(about.effect.hints(about.title));
        let run = move |session, arguments| {
            let operation = operation.clone();
            async move {
                let reply = operation(session, A::decode(arguments)?).await?;
                serde_json::to_value(reply).map_err(|error| {
                    Error::new(ErrorKind::Internal, "the reply could not be written")
                        .with_source(error)
                })
            }
            .boxed()
        };
        Self {
            definition,
            permission: about.effect.permission(),
            bound: about.bound,
            run: Box::new(run),
        }
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

    async fn call(
        &self,
        session: Arc<Session>,
        mut arguments: Map<String, Value>,
    ) -> Result<CallToolResult, Error> {
        let mut shortened = false;
        loop {
            // Only a page may be asked for again; what is stored can be large.
            let given = match self.bound {
                Bound::Page(_) => arguments.clone(),
                Bound::Short | Bound::Named { .. } => std::mem::take(&mut arguments),
            };
            let mut reply = (self.run)(Arc::clone(&session), Value::Object(given)).await?;
            if shortened && let Some(truncated) = reply.get_mut("truncated") {
                *truncated = Value::Bool(true);
            }
            let text = reply.to_string();
            let count = |items| {
                reply
                    .get(items)
                    .and_then(Value::as_array)
                    .map_or(0, Vec::len)
            };
            match self.bound {
                Bound::Page(items) if let Some(fewer) = fewer(count(items), text.len()) => {
                    arguments.insert("limit".to_owned(), json!(fewer));
                    shortened = true;
                    continue;
                }
                Bound::Named { items, argument }
                    if let Some(fewer) = fewer(count(items), text.len()) =>
                {
                    let message = format!(
                        "name too much for one answer, which holds {MAX_TEXT_BYTES} bytes; ask for about {fewer} at once"
                    );
                    return Err(Error::too_large(argument, message));
                }
                Bound::Short | Bound::Page(_) | Bound::Named { .. } => {}
            }
            let mut result = CallToolResult::success(vec![ContentBlock::text(text)]);
            result.structured_content = Some(reply);
            return Ok(result);
        }
    }
}

impl fmt::Debug for Tool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tool")
            .field("name", &self.name())
            .field("permission", &self.permission)
            .finish_non_exhaustive()
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
    pub(crate) async fn call(
        &self,
        view: View,
        request: CallToolRequestParams,
    ) -> Result<CallToolResult, ErrorData> {
        let Some(tool) = self.find(&request.name) else {
            return Err(ErrorData::invalid_params(
                format!("unknown tool: {}", request.name),
                None,
            ));
        };
        if !view.selection.offers(tool) {
            return Ok(failure(&Error::new(
                ErrorKind::Forbidden,
                format!(
                    "{} is not offered here: this connection is read-only or names the tools it may use",
                    tool.name()
                ),
            )));
        }
        if let Err(error) = view.session.caller().require(tool.permission) {
            return Ok(failure(&error));
        }
        Ok(tool
            .call(view.session, request.arguments.unwrap_or_default())
            .await
            .unwrap_or_else(|error| {
                error::log(&error);
                failure(&error)
            }))
    }
}

/// A failure as a model reads it: the sentence, then the same for programs.
fn failure(error: &Error) -> CallToolResult {
    let mut body = json!(ErrorBody::from(error));
    if let (Some(seconds), Some(detail)) = (
        error::retry_after_seconds(error.kind()),
        body.get_mut("error").and_then(Value::as_object_mut),
    ) {
        detail.insert("retry_after_seconds".to_owned(), json!(seconds));
    }
    CallToolResult::error(vec![
        ContentBlock::text(error.to_string()),
        ContentBlock::text(body.to_string()),
    ])
}
