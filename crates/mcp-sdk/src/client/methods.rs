//! The methods of the protocol, one function each.

use std::{collections::BTreeMap, sync::PoisonError};

use mcp_core::{
    CallToolResult, CompleteRequest, Completion, DiscoverResult, Era, GetPromptResult, Json,
    LogLevel, Notification, Peer as _, ReadResourceResult, Root,
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{CallOptions, Client, ClientError, roots::Roots};

impl Client {
    /// Calls a tool.
    ///
    /// # Errors
    ///
    /// If the call itself failed. A tool that failed is a result with `is_error`.
    pub async fn call_tool(
        &self,
        name: &str,
        arguments: impl Serialize,
    ) -> Result<CallToolResult, ClientError> {
        self.call_tool_with(name, arguments, &CallOptions::default()).await
    }

    /// Calls a tool with options: time-out, progress.
    ///
    /// # Errors
    ///
    /// As for [`Client::call_tool`].
    pub async fn call_tool_with(
        &self,
        name: &str,
        arguments: impl Serialize,
        options: &CallOptions,
    ) -> Result<CallToolResult, ClientError> {
        let method = "tools/call";
        let arguments = serde_json::to_value(arguments)
            .map_err(|cause| ClientError::Unwritable { method: method.into(), cause })?;
        let mut params = json!({ "name": name });
        if !arguments.is_null() {
            params["arguments"] = arguments;
        }
        self.typed(method, params, options).await
    }

    /// Gets a prompt.
    ///
    /// # Errors
    ///
    /// If the call failed.
    pub async fn get_prompt(
        &self,
        name: &str,
        arguments: &BTreeMap<String, String>,
    ) -> Result<GetPromptResult, ClientError> {
        let mut params = json!({ "name": name });
        if !arguments.is_empty() {
            params["arguments"] = json!(arguments);
        }
        self.typed("prompts/get", params, &CallOptions::default()).await
    }

    /// Reads a resource.
    ///
    /// # Errors
    ///
    /// If the call failed.
    pub async fn read_resource(&self, uri: &str) -> Result<ReadResourceResult, ClientError> {
        self.typed("resources/read", json!({ "uri": uri }), &CallOptions::default()).await
    }

    /// Requests completions for an argument.
    ///
    /// # Errors
    ///
    /// If the call failed.
    pub async fn complete(&self, request: &CompleteRequest) -> Result<Completion, ClientError> {
        #[derive(Deserialize)]
        struct Complete {
            completion: Completion,
        }
        let method = "completion/complete";
        let params = serde_json::to_value(request)
            .map_err(|cause| ClientError::Unwritable { method: method.into(), cause })?;
        let result: Complete = self.typed(method, params, &CallOptions::default()).await?;
        Ok(result.completion)
    }

    /// Checks that the server responds. In revisions without `ping` this calls `server/discover`.
    ///
    /// # Errors
    ///
    /// If it does not answer.
    pub async fn ping(&self) -> Result<(), ClientError> {
        let options = CallOptions::default();
        match self.revision().era() {
            Era::Legacy => self.typed::<Value>("ping", Value::Null, &options).await.map(drop),
            Era::Modern => self.discover().await.map(drop),
        }
    }

    /// Asks a server of a stateless revision which revisions and capabilities it supports.
    ///
    /// # Errors
    ///
    /// If the call failed, or the revision has no such method.
    pub async fn discover(&self) -> Result<DiscoverResult, ClientError> {
        self.only(Era::Modern, "`server/discover`")?;
        self.typed("server/discover", Value::Null, &CallOptions::default()).await
    }

    /// Requests log messages at this level and above. They arrive as [events](Client::events).
    ///
    /// # Errors
    ///
    /// If the server has to be told and rejects it.
    pub async fn set_log_level(&self, level: LogLevel) -> Result<(), ClientError> {
        *self.inner.log_level.write().unwrap_or_else(PoisonError::into_inner) = Some(level);
        if self.revision().era() == Era::Modern {
            return Ok(()); // Each request says so from now on.
        }
        let params = json!({ "level": level });
        self.typed::<Value>("logging/setLevel", params, &CallOptions::default()).await.map(drop)
    }

    /// Changes the roots, and notifies the server in revisions that have such a notification; in
    /// the others it asks when it needs to know.
    ///
    /// # Errors
    ///
    /// If the client was not built with [`ClientBuilder::roots_may_change`], a URI does not begin
    /// with `file://`, or the server could not be notified. In the last case it gets the new roots
    /// when it asks next.
    ///
    /// [`ClientBuilder::roots_may_change`]: crate::ClientBuilder::roots_may_change
    pub async fn set_roots(
        &self,
        roots: impl IntoIterator<Item = Root>,
    ) -> Result<(), ClientError> {
        let changing = self.inner.builder.answers.changing_roots();
        let changing = changing.ok_or(ClientError::RootsFixed)?;
        let roots: Vec<Root> = roots.into_iter().collect();
        Roots::check(&roots)?;
        changing.set(roots);
        match self.revision().era() {
            Era::Legacy => self.notify("notifications/roots/list_changed", None).await,
            Era::Modern => Ok(()),
        }
    }

    /// Sends any notification.
    ///
    /// # Errors
    ///
    /// If it could not be sent.
    pub async fn notify(&self, method: &str, params: Option<Json>) -> Result<(), ClientError> {
        let notification = Notification { method: method.to_owned().into(), params };
        let told = self.inner.peer.notify(notification).await;
        told.map_err(|source| ClientError::call(method, source))
    }

    pub(super) fn only(&self, era: Era, what: &'static str) -> Result<(), ClientError> {
        let revision = self.revision();
        if revision.era() == era {
            Ok(())
        } else {
            Err(ClientError::NotInRevision { what, revision })
        }
    }
}
