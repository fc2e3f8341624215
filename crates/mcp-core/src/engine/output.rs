//! What tools promise about their output.

use std::sync::Arc;

use mcp_json::Node;

use super::{ServedTool, tools::sentences};
use crate::{CallToolResult, Error, Json, Refusal, RefusalReason, Revision};

/// That the structured content of a result fits the output schema of its tool.
///
/// It is checked on the written result rather than on what the tool returned, so that it can be
/// judged on the tape of the message that leaves.
#[derive(Debug, Clone)]
pub struct OutputPromise {
    tool: Arc<ServedTool>,
    revision: Revision,
    /// The JSON pointer from the result to the structured content.
    pointer: &'static str,
}

impl OutputPromise {
    /// Where a result of MCP has its structured content.
    pub(super) const MEMBER: &'static str = "/structuredContent";
    /// Where base JSON-RPC has it: it is the result.
    pub(super) const RESULT: &'static str = "";

    /// What `result` must still be held to once it is written with its structured content at
    /// `pointer`.
    ///
    /// # Errors
    ///
    /// If there is no structured content where some was promised.
    pub(super) fn of(
        tool: &Arc<ServedTool>,
        result: &CallToolResult,
        revision: Revision,
        pointer: &'static str,
    ) -> Result<Option<OutputPromise>, Error> {
        let Some(contract) = tool.output.as_ref().filter(|_| !result.is_error) else {
            return Ok(None);
        };
        let promise = OutputPromise { tool: Arc::clone(tool), revision, pointer };
        match &result.structured_content {
            Some(_) => Ok(Some(promise).filter(|_| contract.is_checked())),
            None => promise.check_structured(None).map(|()| None),
        }
    }

    /// Checks structured content that the written result will not have: its revision has none.
    pub(super) fn check_unwritten(&self, structured: &Json) -> Result<(), Error> {
        let structured = structured
            .to_parsed()
            .map_err(|error| Error::internal(format!("the output is not JSON: {error}")))?;
        self.check_structured(Some(structured.document().root()))
    }

    /// Holds a written result to the promise.
    ///
    /// # Errors
    ///
    /// What to say instead of the result: a tool that breaks its own promise has failed, and its
    /// output is held back.
    pub fn check(&self, result: Node<'_>) -> Result<(), Error> {
        self.check_structured(result.pointer(self.pointer))
    }

    fn check_structured(&self, structured: Option<Node<'_>>) -> Result<(), Error> {
        let Some(contract) = &self.tool.output else { return Ok(()) };
        let findings = contract.enforce(structured, self.revision);
        let name = &self.tool.definition.name;
        let message = match structured {
            None => format!("`{name}` promises structured output and gave none"),
            Some(_) if findings.is_empty() => return Ok(()),
            Some(_) => {
                let what = sentences(&findings);
                format!("the output of `{name}` does not fit its output schema: {what}")
            }
        };
        let reason = RefusalReason::Invalid;
        Err(Error::Refused(Refusal { index: None, reason, message, findings }))
    }
}
