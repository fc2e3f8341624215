use std::{iter, panic::AssertUnwindSafe, sync::Arc};

use futures_util::FutureExt as _;
use serde_json::{Map, Value};

use super::{Mcp, OutputPromise, ServedTool, conversation::Written, params::Params, result::Keep};
use crate::{CallToolResult, Content, Context, Error, Json, Meta, Revision, revision_shape};

impl Mcp {
    pub(super) fn tool(&self, name: &str) -> Result<Arc<ServedTool>, Error> {
        self.tools().get(name).ok_or_else(|| Error::ToolNotFound { name: name.to_owned() })
    }

    /// Runs the tool, if its arguments fit. A failure that the model should see is a result.
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
        tool: &Arc<ServedTool>,
        revision: Revision,
        mut result: CallToolResult,
    ) -> Result<Written, Error> {
        let mut promise = OutputPromise::of(tool, &result, revision, OutputPromise::MEMBER)?;
        let meta = result.meta.take();
        let structured = result.structured_content.clone();
        let mut result = revision_shape::tool_result(revision, result);
        let written = result.structured_content.take();
        if written.is_none()
            && let (Some(unwritten), Some(structured)) = (promise.take(), structured)
        {
            unwritten.check_unwritten(&structured)?;
        }
        // Written as it is: `serde` would read it once more to be sure that it is JSON.
        let member = written.as_ref().map(|structured| ("structuredContent", structured));
        let json = self.write_as("complete", revision, &result, member, meta, Keep::Not)?;
        Ok(Written { json, promise })
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
pub(super) fn arguments_of(params: &Params<'_>) -> Result<Json, Error> {
    match params.arguments() {
        None => Ok(Json::empty_object()),
        Some(arguments) if arguments.is_object() => Ok(arguments),
        Some(_) => Err(Error::invalid_params("`params.arguments` has to be an object")),
    }
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
