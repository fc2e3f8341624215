//! Rules about a tool's name and description.

use mcp_json::Node;

use super::{DESCRIPTION_LENGTH, DESCRIPTION_MISSING, NAME_CHARSET, NAME_LENGTH, NAME_START};
use crate::{Findings, features::tools::message, findings::Fault};

/// Maximum characters in a name for `OpenAI`, Gemini, Bedrock and claude.ai.
const LONGEST_NAME: usize = 64;
/// Maximum characters `OpenAI` accepts in a description.
pub(super) const LONGEST_DESCRIPTION: usize = 1024;

pub(super) fn check(tool: Node<'_>, findings: &mut Findings<'_>) {
    if let Some(name) = tool.get("name") {
        check_name(name, findings);
    }
    check_description(tool, findings);
}

fn check_name(name: Node<'_>, findings: &mut Findings<'_>) {
    let Some(text) = name.as_str() else { return };
    let length = text.chars().count();
    if length > LONGEST_NAME && !message::objects_to_length(length, findings) {
        findings.report(
            Fault::new(
                &NAME_LENGTH,
                format!(
                    "the name has {length} characters; OpenAI, Gemini and Bedrock accept {LONGEST_NAME}"
                ),
            )
            .at(name.span())
            .help("shorten it to about 40: clients put the server's name in front"),
        );
    }
    let usual = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-');
    if let Some(odd) = text.chars().find(|letter| !usual(*letter))
        && !message::objects_to_charset(&text, findings)
    {
        findings.report(
            Fault::new(
                &NAME_CHARSET,
                format!("OpenAI, Anthropic and Bedrock refuse `{odd}` in a tool name"),
            )
            .at(name.span())
            .help("use ASCII letters, digits, `_` and `-`"),
        );
    }
    if text.starts_with(|first: char| first.is_ascii_digit() || first == '-') {
        findings.report(
            Fault::new(&NAME_START, "Gemini refuses a name that begins with a digit or a hyphen")
                .at(name.span())
                .help("begin it with a letter or `_`"),
        );
    }
}

fn check_description(tool: Node<'_>, findings: &mut Findings<'_>) {
    let description = tool.get("description");
    let text = description.and_then(Node::as_str);
    if text.as_ref().is_none_or(|text| text.trim().is_empty()) {
        findings.report(
            Fault::new(
                &DESCRIPTION_MISSING,
                "the tool has no description; clients then send an empty one, which Bedrock refuses",
            )
            .at(description.or_else(|| tool.get("name")).unwrap_or(tool).span())
            .help("say in a sentence what the tool does and when to use it"),
        );
    }
    if let (Some(description), Some(text)) = (description, text) {
        let length = text.chars().count();
        if length > LONGEST_DESCRIPTION {
            findings.report(
                Fault::new(
                    &DESCRIPTION_LENGTH,
                    format!(
                        "the description has {length} characters; OpenAI accepts {LONGEST_DESCRIPTION}, and Claude Code truncates it to 2048"
                    ),
                )
                .at(description.span())
                .help("put what matters first, and move the rest into a prompt or a resource"),
            );
        }
    }
}
