//! News about lists and resources, which each era delivers in its own way.

use std::sync::Arc;

use mcp_core::Era;
use serde_json::{Value, json};
use tokio::task::AbortHandle;

use super::{CallOptions, Client, ClientError};

/// News that come as [events](Client::events) as long as this lives.
#[derive(Debug)]
#[must_use = "dropping it ends the subscription"]
pub struct Subscription {
    /// The request that stays open, in revisions where one does.
    listening: Option<Arc<Listening>>,
}

#[derive(Debug)]
struct Listening(AbortHandle);

impl Drop for Listening {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Subscription {
    /// Whether the server still delivers. Always true where it does so without a request.
    pub fn is_open(&self) -> bool {
        self.listening.as_ref().is_none_or(|listening| !listening.0.is_finished())
    }
}

impl Client {
    /// Wants to hear when lists change, and when these resources do.
    ///
    /// # Errors
    ///
    /// If the server does not want to tell.
    pub async fn subscribe(&self, uris: &[&str]) -> Result<Subscription, ClientError> {
        match self.revision().era() {
            Era::Legacy => {
                for uri in uris {
                    self.subscription("resources/subscribe", uri).await?;
                }
                Ok(Subscription { listening: None })
            }
            Era::Modern => Ok(self.listen(uris)),
        }
    }

    /// No longer wants to hear about a resource, in revisions where that is told.
    ///
    /// # Errors
    ///
    /// If the call failed, or the revision ends subscriptions by dropping them.
    pub async fn unsubscribe(&self, uri: &str) -> Result<(), ClientError> {
        self.only(Era::Legacy, "`resources/unsubscribe`")?;
        self.subscription("resources/unsubscribe", uri).await
    }

    /// Wants to hear when lists change; `None` in revisions where that goes without saying.
    pub(crate) fn listen_for_lists(&self) -> Option<Subscription> {
        (self.revision().era() == Era::Modern).then(|| self.listen(&[]))
    }

    async fn subscription(&self, method: &str, uri: &str) -> Result<(), ClientError> {
        let params = json!({ "uri": uri });
        self.typed::<Value>(method, params, &CallOptions::default()).await.map(drop)
    }

    fn listen(&self, uris: &[&str]) -> Subscription {
        let params = json!({ "notifications": {
            "toolsListChanged": true,
            "promptsListChanged": true,
            "resourcesListChanged": true,
            "resourceSubscriptions": uris,
        }});
        let client = self.clone();
        let listening = tokio::spawn(async move {
            // It stays open as long as somebody wants it.
            let options = CallOptions::new().timeout(FOR_EVER);
            if let Err(error) =
                client.typed::<Value>("subscriptions/listen", params, &options).await
            {
                tracing::debug!(%error, "a subscription ended");
            }
        });
        Subscription { listening: Some(Arc::new(Listening(listening.abort_handle()))) }
    }
}

/// Longer than anybody waits.
const FOR_EVER: std::time::Duration = std::time::Duration::from_secs(60 * 60 * 24 * 365);
