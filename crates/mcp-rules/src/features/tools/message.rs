//! Tools: their names and the contents of their results.

use mcp_core::{Revision, Revisions};
use mcp_json::Node;

use super::{portability, schema, x_mcp_header};
use crate::{
    Findings, Layer, Level,
    criteria::Criteria,
    features::{
        repeated::repeated,
        walk::{self, Home, Thing},
    },
    findings::Fault,
};

/// Recommended maximum characters in a name.
const LONGEST: usize = 128;
const WITH_NAMING: Revisions = Revisions::from(Revision::V2025_11_25);

rules! {
    NAME_LENGTH: "tool-name-length", ToolSchema, Level::Warning, WITH_NAMING, "server/tools#tool-names";
    NAME_CHARSET: "tool-name-charset", ToolSchema, Level::Warning, WITH_NAMING, "server/tools#tool-names";
    NAME_DUPLICATE: "tool-name-duplicate", ToolSchema, Level::Warning, Revisions::ALL, "server/tools#tool";
    STRUCTURED_CONTENT_NO_TEXT: "tool-structured-content-no-text", ToolSchema, Level::Warning, Revisions::from(Revision::V2025_06_18), "server/tools#structured-content";
}

/// Checks the result of `tools/list`.
pub(crate) fn check_list(criteria: &Criteria, result: Node<'_>, findings: &mut Findings<'_>) {
    let Some(list) = result.get("tools") else {
        return;
    };
    for tool in list.elements() {
        check_tool(criteria, tool, findings);
    }
    portability::check(list, findings);
    for name in repeated(list, "name") {
        findings.report(
            Fault::new(&NAME_DUPLICATE, "the page already lists a tool with this name")
                .at(name.span())
                .help("`tools/call` finds tools by name: give each tool a unique one"),
        );
    }
}

/// Checks one tool of a list.
pub(crate) fn check_tool(criteria: &Criteria, tool: Node<'_>, findings: &mut Findings<'_>) {
    if let Some(name) = tool.get("name") {
        check_name(name, findings);
    }
    if !findings.settings().stops_before(Layer::ToolSchema) {
        schema::check(criteria, tool, findings);
        x_mcp_header::check(tool, findings);
    }
    walk::described(tool, Thing::ToolOrPrompt, findings);
}

/// Checks the result of `tools/call`.
pub(crate) fn check_call(result: Node<'_>, findings: &mut Findings<'_>) {
    let content = result.get("content");
    if let Some(content) = content {
        walk::content(content, Home::Elsewhere, findings);
    }
    let Some(structured) = result.get("structuredContent") else {
        return;
    };
    let has_text = content
        .into_iter()
        .flat_map(Node::elements)
        .any(|block| block.get("type").is_some_and(|kind| kind.str_eq("text")));
    if !has_text {
        findings.report(
            Fault::new(&STRUCTURED_CONTENT_NO_TEXT, "clients that read only `content` get no text")
                .at(content.unwrap_or(structured).span())
                .help("add a `text` block with the same data as JSON"),
        );
    }
}

/// Whether a name of this length breaks the specification itself.
pub(crate) fn objects_to_length(length: usize, findings: &Findings<'_>) -> bool {
    length > LONGEST && findings.wants(&NAME_LENGTH)
}

/// Whether a character of this name breaks the specification itself.
pub(crate) fn objects_to_charset(name: &str, findings: &Findings<'_>) -> bool {
    !name.bytes().all(is_usual) && findings.wants(&NAME_CHARSET)
}

const fn is_usual(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.')
}

fn check_name(name: Node<'_>, findings: &mut Findings<'_>) {
    if !WITH_NAMING.contains(findings.revision()) {
        return;
    }
    let Some(text) = name.str_bytes() else { return };
    let all_usual = text.iter().copied().all(is_usual);
    // UTF-8 continuation bytes do not count.
    let length = if all_usual {
        text.len()
    } else {
        text.iter().filter(|byte| **byte & 0xc0 != 0x80).count()
    };
    if length == 0 || length > LONGEST {
        let message = match length {
            0 => "the tool name is empty".to_owned(),
            _ => format!("{length} characters exceed the {LONGEST} a tool name should have"),
        };
        findings.report(
            Fault::new(&NAME_LENGTH, message)
                .at(name.span())
                .help("choose a name of 1 to 128 characters"),
        );
    }
    if !all_usual {
        findings.report(
            Fault::new(&NAME_CHARSET, "the tool name has a character that is not recommended")
                .at(name.span())
                .help("use ASCII letters, digits, `_`, `-` and `.`"),
        );
    }
}
