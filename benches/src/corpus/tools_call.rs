//! Calls whose arguments fit the tool's own schema.

use mcp_core::Side;

use super::json::Json;
use super::rng::Rng;
use super::tool_list::Tool;
use super::wire::{Answer, Exchange};
use super::words;

/// A call of one of `tools` and a short result.
pub fn exchange(rng: &mut Rng, tools: &[Tool]) -> Exchange {
    let tool = rng.pick_from(tools);
    let bytes = rng.between(60, 260);
    let mut text = words::prose(rng, bytes);
    let mut structured = None;
    if tool.structured {
        let content = tool.structured_content(rng);
        text = content.to_text();
        structured = Some(content);
    }
    let mut result = Json::object([("content", Json::Array(vec![text_content(text)]))]);
    if let Some(content) = structured {
        result = result.with("structuredContent", content);
    }
    Exchange {
        from: Side::Client,
        method: "tools/call",
        params: Some(params(rng, tool)),
        answer: Answer::Result(result),
    }
}

/// The params of a call of `tool`.
pub(crate) fn params(rng: &mut Rng, tool: &Tool) -> Json {
    Json::object([("name", tool.name.as_str().into()), ("arguments", tool.arguments(rng))])
}

/// A tool whose results do not need structured content, so that any content is valid.
pub(crate) fn plain_tool<'a>(rng: &mut Rng, tools: &'a [Tool]) -> &'a Tool {
    let start = rng.below(tools.len());
    let (before, after) = tools.split_at(start);
    after.iter().chain(before).find(|tool| !tool.structured).unwrap_or(&tools[start])
}

/// A text block.
pub(crate) fn text_content(text: impl Into<Json>) -> Json {
    Json::object([("type", "text".into()), ("text", text.into())])
}
