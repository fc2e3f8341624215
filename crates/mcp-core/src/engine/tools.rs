use std::{iter, panic::AssertUnwindSafe, sync::Arc};

use futures_util::FutureExt as _;
use serde_json::{Map, Value};

use super::{
    Mcp, OutputContract, ServedTool, conversation::Written, params::Params, result::Caching,
};
use crate::{
    CallToolResult, Content, Context, Error, Json, Meta, Revision, excerpt, first_findings,
    revision_shape,
};

impl Mcp {
    pub(super) fn tool(&self, name: &str) -> Result<Arc<ServedTool>, Error> {
        self.tools().get(name).ok_or_else(|| Error::ToolNotFound { name: name.to_owned() })
    }

    /// Runs the tool if its arguments are valid. A failure that the model should see is a result.
    pub(super) async fn call_tool(
        &self,
        tool: &ServedTool,
        arguments: Json,
        context: Context,
    ) -> Result<CallToolResult, Error> {
        let revision = context.revision();
        let name = &tool.definition.name;
        let findings = if tool.input.is_checked() {
            let parsed = arguments.to_parsed().map_err(|error| {
                Error::invalid_params(format!("the arguments are not JSON: {error}"))
            })?;
            tool.input.enforce(Some(parsed.document().root()), revision)
        } else {
            Vec::new()
        };
        if !findings.is_empty() {
            let summary = format!("the arguments of `{name}` do not match its input schema");
            return self.refuse_arguments(summary, findings, revision);
        }
        // Only bare calls get here with anything else, if no contract rejected it.
        if !arguments.is_object() {
            return Err(Error::invalid_params("the arguments of a tool must be an object"));
        }
        let mut result = match run(tool, arguments, context).await {
            Ok(result) => result,
            Err(Error::ToolError { message }) => return Ok(CallToolResult::error(message)),
            Err(Error::InvalidArguments { message, findings }) => {
                return self.refuse_arguments(message, findings, revision);
            }
            Err(Error::Internal { message }) if !self.settings().prefers_protocol_errors() => {
                return Ok(CallToolResult::error(message));
            }
            Err(error) => return Err(error),
        };
        if let (true, Some(structured)) = (result.content.is_empty(), &result.structured_content) {
            // Clients that do not support structured content read the same as text.
            result.content.push(Content::text(structured.to_string()));
        }
        Ok(result)
    }

    fn refuse_arguments(
        &self,
        summary: String,
        mut findings: Vec<Json>,
        revision: Revision,
    ) -> Result<CallToolResult, Error> {
        findings.truncate(first_findings(&findings).len());
        if self.settings().refuses_arguments_at(revision) {
            let message = match describe_all(&findings) {
                what if what.is_empty() => summary,
                what => format!("{summary}: {what}"),
            };
            return Err(Error::InvalidParams { message, findings });
        }
        if findings.is_empty() {
            return Ok(CallToolResult::error(summary));
        }
        let faults = findings.iter().filter_map(describe);
        let lines: Vec<String> = iter::once(format!("{summary}:")).chain(faults).collect();
        let findings: Vec<Value> = findings.iter().filter_map(|one| one.read().ok()).collect();
        let mut result = CallToolResult::error(lines.join("\n"));
        result.meta = Some(Meta::new().with(Meta::FINDINGS, findings));
        Ok(result)
    }

    pub(super) fn write_tool_result(
        &self,
        tool: &Arc<ServedTool>,
        revision: Revision,
        mut result: CallToolResult,
    ) -> Result<Written, Error> {
        let mut contract = OutputContract::of(tool, &result, revision, OutputContract::MEMBER)?;
        let meta = result.meta.take();
        let structured = result.structured_content.clone();
        let mut result = revision_shape::tool_result(revision, result);
        let written = result.structured_content.take();
        if written.is_none()
            && let (Some(unwritten), Some(structured)) = (contract.take(), structured)
        {
            unwritten.check_unwritten(&structured)?;
        }
        // Copied verbatim: `serde` would parse it again to validate it.
        let member = written.as_ref().map(|structured| ("structuredContent", structured));
        let json =
            self.write_as("complete", revision, &result, member, meta, Caching::Unspecified)?;
        Ok(Written { json, contract })
    }
}

/// Runs the tool. A panic is an error like any other.
async fn run(
    tool: &ServedTool,
    arguments: Json,
    context: Context,
) -> Result<CallToolResult, Error> {
    let running = async { tool.handler.call(arguments, context).await };
    AssertUnwindSafe(running).catch_unwind().await.unwrap_or_else(|panic| {
        let name = &tool.definition.name;
        let message = panic
            .downcast_ref::<&str>()
            .copied()
            .or_else(|| panic.downcast_ref::<String>().map(String::as_str));
        // The message may contain what the client sent.
        tracing::error!(tool = name, "a tool panicked");
        tracing::debug!(tool = name, message, "the panic message");
        Err(Error::internal(format!("`{name}` failed unexpectedly")))
    })
}

/// A tool's arguments as an object; `{}` if there are none.
pub(super) fn arguments_of(params: &Params<'_>) -> Result<Json, Error> {
    match params.arguments() {
        None => Ok(Json::empty_object()),
        Some(arguments) if arguments.is_object() => Ok(arguments),
        Some(_) => Err(Error::invalid_params("`params.arguments` must be an object")),
    }
}

/// The first few findings as text.
pub(crate) fn describe_all(findings: &[Json]) -> String {
    const SHOWN: usize = 3;
    let mut texts: Vec<String> = findings.iter().take(SHOWN).filter_map(describe).collect();
    if findings.len() > SHOWN {
        texts.push(format!("and {} more", findings.len() - SHOWN));
    }
    texts.join("; ")
}

/// A finding as text: the path and the message.
fn describe(finding: &Json) -> Option<String> {
    #[derive(serde::Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Finding {
        instance_path: Option<String>,
        message: Option<String>,
        keyword: Option<String>,
        #[serde(default)]
        params: Map<String, Value>,
    }
    /// Longer values are truncated: models need a hint, not the whole schema.
    const MAX_SHOWN: usize = 200;
    let finding = finding.read::<Finding>().ok()?;
    let mut text = finding.message?;
    if finding.keyword.is_some_and(|keyword| VALUE_IN_PARAMS.contains(&keyword.as_str()))
        && let Some(value) = finding.params.values().next()
    {
        text.push_str(": ");
        text.push_str(&excerpt(&value.to_string(), MAX_SHOWN));
    }
    match finding.instance_path {
        Some(path) if !path.is_empty() => Some(format!("{path}: {text}")),
        _ => Some(text),
    }
}

/// Keywords whose messages do not include the allowed or offending value.
const VALUE_IN_PARAMS: [&str; 5] =
    ["additionalProperties", "const", "enum", "propertyNames", "unevaluatedProperties"];
