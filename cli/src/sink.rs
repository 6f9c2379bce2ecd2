//! Where an import goes: a store that this process opens, or a server that someone
//! runs. Both take the same memories and tell the same outcome for each.

use ostraca_memory::{
    Caller, EmbeddingState, NewMemory, Outcome, RememberRequest, Session, TenantId,
};
use reqwest::Url;

use crate::args::{EmbedArgs, StoreArgs};
use crate::database;
use crate::error::CliError;
use crate::remote::Server;

/// Something that stores memories.
#[derive(Debug)]
pub(crate) enum Sink {
    /// A store that this process opened.
    Store(Session),
    /// A server.
    Server(Server),
}

/// What became of one memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Stored {
    /// It is there.
    Kept {
        /// Whether that is new.
        outcome: Outcome,
        /// Whether it can be found by meaning yet.
        embedding: EmbeddingState,
    },
    /// It was not stored, and why.
    Refused(String),
}

impl Sink {
    /// A tenant of a store.
    pub(crate) fn store(
        store: &StoreArgs,
        embed: &EmbedArgs,
        tenant: TenantId,
    ) -> Result<Self, CliError> {
        let opened = database::open(store, embed.batch())?;
        Ok(Self::Store(
            opened.database.session(Caller::unrestricted(tenant)),
        ))
    }

    /// A server, which takes the tenant from the token.
    pub(crate) fn server(url: &Url, token: Option<String>) -> Self {
        Self::Server(Server::new(url, token))
    }

    /// Stores memories and tells for each, in order, what became of it.
    pub(crate) async fn remember(&self, memories: Vec<NewMemory>) -> Result<Vec<Stored>, CliError> {
        match self {
            Self::Server(server) => Ok(server.remember(&memories).await?),
            Self::Store(session) => {
                let request = RememberRequest {
                    items: memories,
                    idempotency_key: None,
                };
                let reply = session.remember(request).await?;
                Ok(reply
                    .items
                    .into_iter()
                    .map(|item| match item {
                        Ok(remembered) => Stored::Kept {
                            outcome: remembered.outcome,
                            embedding: remembered.embedding,
                        },
                        Err(error) => Stored::refused(error.field(), error.message()),
                    })
                    .collect())
            }
        }
    }
}

impl Stored {
    /// A refusal that names the field of the memory, and not its place in a batch that
    /// the user never saw.
    pub(crate) fn refused(field: Option<&str>, message: &str) -> Self {
        let field = field.map(|field| {
            match field
                .strip_prefix("items[")
                .and_then(|rest| rest.split_once("]."))
            {
                Some((_, own)) => own,
                None => field,
            }
        });
        Self::Refused(
            field.map_or_else(|| message.to_owned(), |field| format!("{field}: {message}")),
        )
    }
}
