use serde_json::value::RawValue;

use super::{Dispatch, InvalidArguments, Mcp, ServedTool, result::Keep};
use crate::{
    CallToolResult, Content, Context, Error, Json, Refusal, RefusalReason, Revision, revision_shape,
};

impl Mcp {
    pub(super) fn tool(&self, name: &str) -> Result<std::sync::Arc<ServedTool>, Error> {
        self.tools().get(name).ok_or_else(|| Error::ToolNotFound { name: name.to_owned() })
    }

    /// Runs the tool, past its contracts. A failure that the model should see is a result.
    pub(super) async fn call_tool(
        &self,
        tool: &ServedTool,
        arguments: Json,
        context: Context,
    ) -> Result<CallToolResult, Error> {
        let revision = context.revision();
        if let Some(refused) = self.refuse_arguments(tool, &arguments, revision) {
            return refused;
        }
        // Only bare calls come here with something else, where no contract has objected to it.
        if !arguments.is_object() {
            return Err(Error::invalid_params("the arguments of a tool have to be an object"));
        }
        let result = tool.handler.call(arguments, context).await;
        let mut result = match result {
            Err(Error::ToolError { message }) => return Ok(CallToolResult::error(message)),
            result => result?,
        };
        check_output(tool, &result, revision)?;
        if let (true, Some(structured)) = (result.content.is_empty(), &result.structured_content) {
            // Clients that do not know structured content read the same as text.
            result.content.push(Content::text(structured.to_string()));
        }
        Ok(result)
    }

    fn refuse_arguments(
        &self,
        tool: &ServedTool,
        arguments: &Json,
        revision: Revision,
    ) -> Option<Result<CallToolResult, Error>> {
        let findings = tool.input.enforce(Some(arguments), revision);
        if findings.is_empty() {
            return None;
        }
        let message = format!(
            "the arguments of `{}` do not fit its input schema: {}",
            tool.definition.name,
            sentences(&findings)
        );
        // Base JSON-RPC has no results for models to read.
        if self.settings().dispatch == Dispatch::Bare {
            return Some(Err(Error::InvalidParams { message, findings }));
        }
        Some(match self.settings().invalid_arguments {
            InvalidArguments::ProtocolError => Err(Error::InvalidParams { message, findings }),
            InvalidArguments::ToolResult => Ok(CallToolResult::error(message)),
        })
    }

    pub(super) fn write_tool_result(
        &self,
        revision: Revision,
        mut result: CallToolResult,
    ) -> Result<Json, Error> {
        let meta = result.meta.take();
        let result = revision_shape::tool_result(revision, result);
        self.write(revision, &result, meta, Keep::Not)
    }
}

/// A tool's arguments as an object; `{}` if there are none.
pub(super) fn arguments_of(params: &Json, arguments: Option<&RawValue>) -> Result<Json, Error> {
    match arguments {
        None => Ok(Json::empty_object()),
        Some(arguments) if arguments.get().starts_with('{') => Ok(params.part(arguments)),
        Some(_) => Err(Error::invalid_params("`params.arguments` has to be an object")),
    }
}

/// A tool that breaks its own promise has failed; its output is held back.
fn check_output(
    tool: &ServedTool,
    result: &CallToolResult,
    revision: Revision,
) -> Result<(), Error> {
    let Some(contract) = tool.output.as_ref().filter(|_| !result.is_error) else { return Ok(()) };
    let structured = result.structured_content.as_ref();
    let findings = contract.enforce(structured, revision);
    let name = &tool.definition.name;
    let message = match structured {
        None => format!("`{name}` promises structured output and gave none"),
        Some(_) if findings.is_empty() => return Ok(()),
        Some(_) => {
            let what = sentences(&findings);
            format!("the output of `{name}` does not fit its output schema: {what}")
        }
    };
    Err(Error::Refused(Refusal { index: None, reason: RefusalReason::Invalid, message, findings }))
}

/// What the findings say, for those who see only text.
pub(crate) fn sentences(findings: &[Json]) -> String {
    #[derive(serde::Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Said {
        instance_path: Option<String>,
        message: Option<String>,
    }
    const SHOWN: usize = 3;
    let mut said: Vec<String> = findings
        .iter()
        .take(SHOWN)
        .filter_map(|finding| finding.read::<Said>().ok())
        .filter_map(|said| match (said.instance_path, said.message?) {
            (Some(path), message) if !path.is_empty() => Some(format!("{path}: {message}")),
            (_, message) => Some(message),
        })
        .collect();
    if findings.len() > SHOWN {
        said.push(format!("and {} more", findings.len() - SHOWN));
    }
    said.join("; ")
}
