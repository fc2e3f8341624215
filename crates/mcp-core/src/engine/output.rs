//! The output contracts of tools.

use std::sync::Arc;

use mcp_json::Node;

use super::{ServedTool, tools::describe_all};
use crate::{CallToolResult, Error, Json, Refusal, RefusalReason, Revision};

/// A tool's contract that the structured content of a result matches its output schema.
///
/// It is checked on the serialized result rather than on the value that the tool returned, because
/// the outgoing message is parsed anyway.
#[derive(Debug, Clone)]
pub struct OutputContract {
    tool: Arc<ServedTool>,
    revision: Revision,
    /// The JSON pointer from the result to the structured content.
    pointer: &'static str,
}

impl OutputContract {
    /// The pointer to the structured content in an MCP result.
    pub(super) const MEMBER: &'static str = "/structuredContent";
    /// The same for a bare call, whose result is the structured content.
    pub(super) const RESULT: &'static str = "";

    /// The check to make once `result` is serialized with its structured content at `pointer`.
    ///
    /// # Errors
    ///
    /// If the tool has an output schema and `result` has no structured content.
    pub(super) fn of(
        tool: &Arc<ServedTool>,
        result: &CallToolResult,
        revision: Revision,
        pointer: &'static str,
    ) -> Result<Option<OutputContract>, Error> {
        let Some(contract) = tool.output.as_ref().filter(|_| !result.is_error) else {
            return Ok(None);
        };
        let output = OutputContract { tool: Arc::clone(tool), revision, pointer };
        match &result.structured_content {
            Some(_) => Ok(Some(output).filter(|_| contract.is_checked())),
            None => output.check_structured(None).map(|()| None),
        }
    }

    /// Checks structured content that is not serialized, because the revision has none.
    pub(super) fn check_unwritten(&self, structured: &Json) -> Result<(), Error> {
        let structured = structured
            .to_parsed()
            .map_err(|error| Error::internal(format!("the output is not JSON: {error}")))?;
        self.check_structured(Some(structured.document().root()))
    }

    /// Checks a serialized result.
    ///
    /// # Errors
    ///
    /// The error to send instead of the result: a tool that violates its own schema has failed, and
    /// its output is withheld.
    pub fn check(&self, result: Node<'_>) -> Result<(), Error> {
        self.check_structured(result.pointer(self.pointer))
    }

    fn check_structured(&self, structured: Option<Node<'_>>) -> Result<(), Error> {
        let Some(contract) = &self.tool.output else { return Ok(()) };
        let findings = contract.enforce(structured, self.revision);
        let name = &self.tool.definition.name;
        let message = match structured {
            None => format!("`{name}` has an output schema but returned no structured content"),
            Some(_) if findings.is_empty() => return Ok(()),
            Some(_) => {
                let what = describe_all(&findings);
                format!("the output of `{name}` does not match its output schema: {what}")
            }
        };
        let reason = RefusalReason::Invalid;
        Err(Error::Refused(Refusal { index: None, reason, message, findings, facts: None }))
    }
}
