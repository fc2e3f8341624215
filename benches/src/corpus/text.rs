//! Source files and logs as text: about 100 KB, full of escapes, with some non-ASCII.

use std::fmt::Write as _;

use mcp_core::Side;

use super::json::Json;
use super::rng::Rng;
use super::tool_list::Tool;
use super::tools_call::{params, plain_tool, text_content};
use super::wire::{Answer, Exchange};
use super::words;

/// A source file read as a resource, or a log returned by a tool, of about `bytes` bytes.
pub fn exchange(rng: &mut Rng, tools: &[Tool], bytes: usize) -> Exchange {
    if rng.chance(50) {
        let uri = format!("file:///workspace/{}", words::path(rng));
        let contents = Json::object([
            ("uri", uri.as_str().into()),
            ("mimeType", "text/plain".into()),
            ("text", source(rng, bytes).into()),
        ]);
        return Exchange {
            from: Side::Client,
            method: "resources/read",
            params: Some(Json::object([("uri", uri.into())])),
            answer: Answer::Result(Json::object([("contents", Json::Array(vec![contents]))])),
        };
    }
    let content = text_content(log(rng, bytes));
    let tool = plain_tool(rng, tools);
    Exchange {
        from: Side::Client,
        method: "tools/call",
        params: Some(params(rng, tool)),
        answer: Answer::Result(Json::object([("content", Json::Array(vec![content]))])),
    }
}

/// Code of no particular language.
pub(crate) fn source(rng: &mut Rng, bytes: usize) -> String {
    let mut text = String::with_capacity(bytes + 100);
    let indent = if rng.chance(50) { "\t" } else { "    " };
    let mut level = 0;
    while text.len() < bytes {
        match rng.below(12) {
            0 if level < 4 => {
                for_level(&mut text, indent, level);
                write_line(
                    &mut text,
                    format_args!("function {}(value) {{", words::identifier(rng)),
                );
                level += 1;
            }
            1 | 2 if level > 0 => {
                level -= 1;
                for_level(&mut text, indent, level);
                write_line(&mut text, format_args!("}}"));
            }
            3 => text.push('\n'),
            4 => {
                for_level(&mut text, indent, level);
                let foreign = words::foreign(rng);
                write_line(&mut text, format_args!("// {} ({foreign})", words::sentence(rng, 7)));
            }
            5 | 6 => {
                for_level(&mut text, indent, level);
                let (key, path) = (words::identifier(rng), words::path(rng).replace('/', "\\"));
                write_line(&mut text, format_args!("open(\"{key}\", \"C:\\{path}\");"));
            }
            _ => {
                for_level(&mut text, indent, level);
                let (left, right) = (words::identifier(rng), words::identifier(rng));
                let word = words::word(rng);
                write_line(&mut text, format_args!("let {left} = {right}.get(\"{word}\") + 1;"));
            }
        }
    }
    text
}

/// Lines of a service's log, some containing JSON.
pub(crate) fn log(rng: &mut Rng, bytes: usize) -> String {
    let mut text = String::with_capacity(bytes + 200);
    while text.len() < bytes {
        let level = rng.pick(&["INFO ", "INFO ", "DEBUG", "WARN ", "ERROR"]);
        let (time, module) = (words::timestamp(rng), words::identifier(rng));
        let detail = match rng.below(4) {
            0 => format!("{{\"path\":\"{}\",\"took\":{}}}", words::path(rng), rng.below(5000)),
            1 => format!(
                "failed: \"{}\"\n\tat {}:{}",
                words::sentence(rng, 5),
                words::path(rng),
                rng.below(900)
            ),
            _ => words::sentence(rng, 9),
        };
        write_line(&mut text, format_args!("{time} {level} [{module}] {detail}"));
    }
    text
}

fn for_level(text: &mut String, indent: &str, level: usize) {
    for _ in 0..level {
        text.push_str(indent);
    }
}

fn write_line(text: &mut String, line: std::fmt::Arguments<'_>) {
    text.write_fmt(line).expect("a String takes everything");
    text.push('\n');
}
