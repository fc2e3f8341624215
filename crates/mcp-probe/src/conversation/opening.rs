use mcp_core::{Era, Revision};
use serde_json::{Value, json};

use super::{Conversation, ConversationError};

/// How a conversation is opened.
#[derive(Debug, Clone)]
#[expect(clippy::exhaustive_structs, reason = "probes change single members")]
pub struct Opening {
    /// The revision to ask for.
    pub revision: Revision,
    /// The capabilities that the client declares.
    pub capabilities: Value,
    /// Whether requests of the server are answered automatically.
    pub answers: bool,
}

impl Opening {
    /// Opens as an ordinary client that supports roots, sampling and elicitation.
    pub fn at(revision: Revision) -> Opening {
        let mut capabilities = json!({ "roots": {}, "sampling": {} });
        if revision >= Revision::V2025_06_18 {
            capabilities["elicitation"] = json!({});
        }
        Opening { revision, capabilities, answers: true }
    }

    /// The params of `initialize`.
    pub fn initialize_params(&self) -> Value {
        json!({
            "protocolVersion": self.revision.as_str(),
            "capabilities": self.capabilities,
            "clientInfo": client_info(),
        })
    }
}

/// The `clientInfo` of the test client.
pub(super) fn client_info() -> Value {
    json!({ "name": "plumb", "version": env!("CARGO_PKG_VERSION") })
}

impl Conversation {
    /// Opens the conversation in the way of its revision: `initialize` and `initialized`, or
    /// `server/discover`.
    ///
    /// # Errors
    ///
    /// If the server does not answer, refuses, or chooses another revision.
    pub async fn open(&self, opening: &Opening) -> Result<(), ConversationError> {
        let within = self.inner.limits.start;
        let id = json!(self.next_id());
        let (method, params) = match self.revision().era() {
            Era::Legacy => ("initialize", opening.initialize_params()),
            Era::Modern => ("server/discover", Value::Null),
        };
        let message = self.request_message(&id, method, params);
        let reply = self.exchange(&message.to_string(), &id.to_string(), method, within).await?;
        let Some(result) = reply.result() else {
            return Err(ConversationError::Refused(reply.error_text()));
        };
        match self.revision().era() {
            Era::Legacy => {
                let version = &result["protocolVersion"];
                if version != self.revision().as_str() {
                    return Err(ConversationError::Refused(format!(
                        "it answered with version {version}"
                    )));
                }
            }
            Era::Modern => {
                let versions = result["supportedVersions"].as_array();
                let speaks = |versions: &Vec<Value>| {
                    versions.iter().any(|version| version == self.revision().as_str())
                };
                if !versions.is_some_and(speaks) {
                    self.remember(result.clone());
                    let versions = &result["supportedVersions"];
                    return Err(ConversationError::Refused(format!(
                        "it only supports the versions {versions}"
                    )));
                }
            }
        }
        self.remember(result.clone());
        if self.revision().era() == Era::Legacy {
            self.notify("notifications/initialized", Value::Null).await?;
        }
        Ok(())
    }

    /// Stores the result with which the conversation was opened.
    pub(crate) fn remember(&self, result: Value) {
        *self.inner.opened.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = Some(result);
    }
}
