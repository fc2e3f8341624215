//! Bare dispatch: plain JSON-RPC in which the method is the name of the tool.

use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use super::{Conversation, OutputContract, conversation::Written, result::Caching};
use crate::{
    Call, Content, Context, Error, Json, Notification, Peer, RequestId, Revision,
    context::{Caller, Inputs},
};

/// The revision at which bare calls are served, which have none of their own.
pub(super) const BARE_REVISION: Revision = Revision::LATEST;

impl Conversation {
    /// Calls the tool `method` with the params as arguments; the result is its output.
    pub(super) async fn process_bare(
        &self,
        id: &RequestId,
        method: &str,
        params: Option<Json>,
        call: Call,
    ) -> Result<Written, Error> {
        let tool = self.mcp.tool(method)?;
        let arguments = params.unwrap_or_else(Json::empty_object);
        let principal = self.principal.clone();
        let caller = Caller { principal, ..Caller::anonymous(BARE_REVISION) };
        let inputs_and_contracts = (Inputs::requests(), Arc::clone(&self.mcp.shared.contracts));
        let context = Context::new(id.clone(), None, caller, None, call, inputs_and_contracts);
        let result = self.mcp.call_tool(&tool, arguments, context).await?;
        if result.is_error {
            let texts: Vec<&str> = result.content.iter().filter_map(Content::as_text).collect();
            return Err(Error::ToolError { message: texts.join("\n") });
        }
        let contract = OutputContract::of(&tool, &result, BARE_REVISION, OutputContract::RESULT)?;
        let json = match result.structured_content {
            Some(structured) => structured,
            None => self.mcp.write(Revision::LATEST_LEGACY, &result, None, Caching::Unspecified)?,
        };
        Ok(Written { json, contract })
    }

    /// Runs the tool and discards the outcome.
    pub(super) async fn process_bare_notification(
        &self,
        notification: Notification,
        peer: Arc<dyn Peer>,
    ) {
        let Notification { method, params } = notification;
        let call = Call { peer, cancellation: CancellationToken::new() };
        let no_id = RequestId::from("");
        let _ = self.process_bare(&no_id, &method, params, call).await;
    }
}
