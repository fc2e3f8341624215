use std::{iter, panic::AssertUnwindSafe};

use futures_util::FutureExt as _;
use serde_json::{Map, Value, value::RawValue};

use super::{Mcp, ServedTool, result::Keep};
use crate::{
    CallToolResult, Content, Context, Error, Json, Meta, Refusal, RefusalReason, Revision,
    revision_shape,
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
        let name = &tool.definition.name;
        let findings = tool.input.enforce(Some(&arguments), revision);
        if !findings.is_empty() {
            let summary = format!("the arguments of `{name}` do not fit its input schema");
            return self.refuse_arguments(summary, findings, revision);
        }
        // Only bare calls come here with something else, where no contract has objected to it.
        if !arguments.is_object() {
            return Err(Error::invalid_params("the arguments of a tool have to be an object"));
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
        check_output(tool, &result, revision)?;
        if let (true, Some(structured)) = (result.content.is_empty(), &result.structured_content) {
            // Clients that do not know structured content read the same as text.
            result.content.push(Content::text(structured.to_string()));
        }
        Ok(result)
    }

    fn refuse_arguments(
        &self,
        summary: String,
        findings: Vec<Json>,
        revision: Revision,
    ) -> Result<CallToolResult, Error> {
        if self.settings().refuses_arguments_at(revision) {
            let message = match sentences(&findings) {
                what if what.is_empty() => summary,
                what => format!("{summary}: {what}"),
            };
            return Err(Error::InvalidParams { message, findings });
        }
        if findings.is_empty() {
            return Ok(CallToolResult::error(summary));
        }
        let faults = findings.iter().filter_map(sentence);
        let lines: Vec<String> = iter::once(format!("{summary}:")).chain(faults).collect();
        let findings: Vec<Value> = findings.iter().filter_map(|one| one.read().ok()).collect();
        let mut result = CallToolResult::error(lines.join("\n"));
        result.meta = Some(Meta::new().with(Meta::FINDINGS, findings));
        Ok(result)
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

/// What the tool says. One that panics has failed like any other.
async fn run(
    tool: &ServedTool,
    arguments: Json,
    context: Context,
) -> Result<CallToolResult, Error> {
    let running = async { tool.handler.call(arguments, context).await };
    AssertUnwindSafe(running).catch_unwind().await.unwrap_or_else(|panic| {
        let name = &tool.definition.name;
        let said = panic
            .downcast_ref::<&str>()
            .copied()
            .or_else(|| panic.downcast_ref::<String>().map(String::as_str));
        tracing::error!(tool = name, "panicked: {}", said.unwrap_or("nothing that can be shown"));
        Err(Error::internal(format!("`{name}` failed unexpectedly")))
    })
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

/// What the findings say, for those who see only text: the first few of them.
pub(crate) fn sentences(findings: &[Json]) -> String {
    const SHOWN: usize = 3;
    let mut said: Vec<String> = findings.iter().take(SHOWN).filter_map(sentence).collect();
    if findings.len() > SHOWN {
        said.push(format!("and {} more", findings.len() - SHOWN));
    }
    said.join("; ")
}

/// Where something is wrong, and what.
fn sentence(finding: &Json) -> Option<String> {
    #[derive(serde::Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Said {
        instance_path: Option<String>,
        message: Option<String>,
        keyword: Option<String>,
        #[serde(default)]
        params: Map<String, Value>,
    }
    /// Longer ones are cut: models need a hint, not the schema once more.
    const LONGEST: usize = 200;
    let said = finding.read::<Said>().ok()?;
    let mut sentence = said.message?;
    if said.keyword.is_some_and(|keyword| UNNAMED.contains(&keyword.as_str()))
        && let Some(named) = said.params.values().next()
    {
        sentence.push_str(": ");
        let named = named.to_string();
        sentence.extend(named.chars().take(LONGEST));
        sentence.push_str(if named.chars().nth(LONGEST).is_some() { "…" } else { "" });
    }
    match said.instance_path {
        Some(path) if !path.is_empty() => Some(format!("{path}: {sentence}")),
        _ => Some(sentence),
    }
}

/// Keywords whose messages do not say what is allowed, or what is not.
const UNNAMED: [&str; 5] =
    ["additionalProperties", "const", "enum", "propertyNames", "unevaluatedProperties"];
