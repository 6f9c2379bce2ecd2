//! `describe_scope`: writes down what belongs into a scope, for the agents that ask
//! for the scopes there are. It needs no memory to lie there.

use ostraca_search::{ScopePath, text};
use serde_json::Value;

use crate::caller::Permission;
use crate::error::{Error, Result};
use crate::receipt::Receipt;
use crate::session::Session;

/// What to write down.
#[derive(Debug, Clone)]
pub struct DescribeScopeRequest {
    /// Which scope.
    pub scope: ScopePath,
    /// What belongs there; absent, the guidance is removed.
    pub guidance: Option<String>,
}

/// The guidance is written.
#[derive(Debug, Clone)]
pub struct DescribeScopeReply {
    /// What it took.
    pub receipt: Receipt,
}

pub(crate) const GUIDANCE: &str = "|guidance|";
const MAX_GUIDANCE_BYTES: usize = 2_000;

pub(crate) fn setting_name(realm: &str, scope: &str) -> String {
    format!("{realm}{GUIDANCE}{scope}")
}

impl Session {
    /// Writes or removes a scope's guidance.
    ///
    /// # Errors
    /// Invalid or `TooLarge` at `guidance`, Forbidden without `memories:write`,
    /// Unavailable if storage fails.
    pub async fn describe_scope(
        &self,
        request: DescribeScopeRequest,
    ) -> Result<DescribeScopeReply> {
        self.caller.require(Permission::Write)?;
        if let Some(guidance) = &request.guidance {
            if text::is_blank(guidance) {
                return Err(Error::invalid(
                    "guidance",
                    "the guidance is blank; say what belongs there, or leave it out to remove it",
                ));
            }
            if guidance.len() > MAX_GUIDANCE_BYTES {
                return Err(Error::too_large(
                    "guidance",
                    format!(
                        "the guidance has {} bytes, the limit is {MAX_GUIDANCE_BYTES}",
                        guidance.len()
                    ),
                ));
            }
        }
        let io = self.db.io();
        let name = setting_name(&self.caller.realm, request.scope.as_str());
        let value = request.guidance.map(Value::String);
        let committed = self
            .decide(&io, None, move |decider| {
                if decider.setting(&name) != value.as_ref() {
                    decider.set(&name, value.clone());
                }
                Ok(())
            })
            .await?;
        Ok(DescribeScopeReply {
            receipt: Self::receipt(&io, committed.seq),
        })
    }
}
