//! Base JSON-RPC instead of MCP: the method is the tool.

use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use super::{Conversation, OutputPromise, conversation::Written, result::Keep};
use crate::{
    Call, Content, Context, Error, Json, Notification, Peer, RequestId, Revision,
    context::{Caller, Inputs},
};

/// The revision as which tools are served that know of none.
pub(super) const BARE_REVISION: Revision = Revision::LATEST;

impl Conversation {
    /// The params are the arguments of the tool `method`, the result is what it gives back.
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
        let caller = Caller { principal, ..Caller::nobody(BARE_REVISION) };
        let asking = (Inputs::requests(), Arc::clone(&self.mcp.shared.contracts));
        let context = Context::new(id.clone(), None, caller, None, call, asking);
        let result = self.mcp.call_tool(&tool, arguments, context).await?;
        if result.is_error {
            let said: Vec<&str> = result.content.iter().filter_map(Content::as_text).collect();
            return Err(Error::ToolError { message: said.join("\n") });
        }
        let promise = OutputPromise::of(&tool, &result, BARE_REVISION, OutputPromise::RESULT)?;
        let json = match result.structured_content {
            Some(structured) => structured,
            None => self.mcp.write(Revision::LATEST_LEGACY, &result, None, Keep::Not)?,
        };
        Ok(Written { json, promise })
    }

    /// Runs the tool all the same. What came of it is for nobody to know.
    pub(super) async fn process_bare_notification(
        &self,
        notification: Notification,
        peer: Arc<dyn Peer>,
    ) {
        let Notification { method, params } = notification;
        let call = Call { peer, cancellation: CancellationToken::new() };
        let nameless = RequestId::from("");
        let _ = self.process_bare(&nameless, &method, params, call).await;
    }
}
