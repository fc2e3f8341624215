//! Tool results and resource reads of about 4 KB.

use mcp_core::Side;

use super::json::Json;
use super::rng::Rng;
use super::text;
use super::tool_list::Tool;
use super::tools_call::{params, plain_tool, text_content};
use super::wire::{Answer, Exchange};
use super::words;

/// What agents see most: part of a file, search hits, a document, of about `bytes` bytes.
pub fn exchange(rng: &mut Rng, tools: &[Tool], bytes: usize) -> Exchange {
    if rng.chance(30) {
        return resource_read(rng, bytes);
    }
    let result = match rng.below(4) {
        0 => Json::object([(
            "content",
            Json::Array(vec![text_content(text::source(rng, bytes * 9 / 10))]),
        )]),
        1 => hits(rng, bytes),
        2 => blocks(rng, bytes),
        _ => Json::object([
            ("content", Json::Array(vec![text_content(words::prose(rng, bytes))])),
            ("isError", false.into()),
        ]),
    };
    let tool = plain_tool(rng, tools);
    Exchange {
        from: Side::Client,
        method: "tools/call",
        params: Some(params(rng, tool)),
        answer: Answer::Result(result),
    }
}

fn resource_read(rng: &mut Rng, bytes: usize) -> Exchange {
    let uri = words::uri(rng);
    let text =
        if rng.chance(50) { words::prose(rng, bytes) } else { text::log(rng, bytes * 9 / 10) };
    let contents = Json::object([
        ("uri", uri.as_str().into()),
        ("mimeType", "text/markdown".into()),
        ("text", text.into()),
    ]);
    Exchange {
        from: Side::Client,
        method: "resources/read",
        params: Some(Json::object([("uri", uri.into())])),
        answer: Answer::Result(Json::object([("contents", Json::Array(vec![contents]))])),
    }
}

/// Structured content, and the same again as text.
fn hits(rng: &mut Rng, bytes: usize) -> Json {
    let mut list = Vec::new();
    let mut length = 0;
    while length < bytes * 2 / 5 {
        let hit = Json::object([
            ("path", words::path(rng).into()),
            ("line", rng.integer(1, 2000).into()),
            ("score", (f64::from(u8::try_from(rng.below(100)).unwrap_or(0)) / 100.0).into()),
            ("excerpt", words::sentence(rng, 9).into()),
            ("updated", words::timestamp(rng).into()),
        ]);
        length += hit.to_text().len();
        list.push(hit);
    }
    let total = i64::try_from(list.len()).unwrap_or(0);
    let structured = Json::object([("hits", Json::Array(list)), ("total", total.into())]);
    Json::object([
        ("content", Json::Array(vec![text_content(structured.to_text())])),
        ("structuredContent", structured),
    ])
}

/// Several content blocks of different types.
fn blocks(rng: &mut Rng, bytes: usize) -> Json {
    let mut content = Vec::new();
    let mut length = 0;
    while length < bytes {
        let block = match rng.below(3) {
            0 => Json::object([
                ("type", "resource_link".into()),
                ("uri", words::uri(rng).into()),
                ("name", words::identifier(rng).into()),
                ("description", words::sentence(rng, 10).into()),
                ("mimeType", "text/plain".into()),
                ("size", rng.integer(10, 90_000).into()),
            ]),
            1 => Json::object([
                ("type", "resource".into()),
                (
                    "resource",
                    Json::object([
                        ("uri", words::uri(rng).into()),
                        ("mimeType", "text/x-source".into()),
                        ("text", text::source(rng, 500).into()),
                    ]),
                ),
            ]),
            _ => text_content(words::prose(rng, 300)).with(
                "annotations",
                Json::object([
                    ("audience", vec!["user", "assistant"].into()),
                    ("priority", 0.75.into()),
                ]),
            ),
        };
        length += block.to_text().len();
        content.push(block);
    }
    Json::object([("content", Json::Array(content))])
}
