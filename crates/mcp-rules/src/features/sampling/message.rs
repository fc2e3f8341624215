//! Sampling: the messages a server sends to the client's model.
//!
//! Every tool use must be answered in the next message, by tool results only; providers refuse
//! anything that is not balanced in this way.

use std::{borrow::Cow, collections::HashMap};

use mcp_core::{Revision, Revisions};
use mcp_json::Node;
use mcp_jsonrpc::ErrorCode;

use super::MAX_CHECKS;
use crate::{
    Findings, Level,
    contract::{self, SchemaContract},
    criteria::Criteria,
    features::{
        tools::schema,
        walk::{self, Home, Thing},
    },
    findings::Fault,
};

const WITH_TOOLS: Revisions = Revisions::from(Revision::V2025_11_25);

rules! {
    TOOL_RESULT_MIXED: "sampling-tool-result-mixed", Schema, Level::Error, WITH_TOOLS, "client/sampling#tool-result-messages";
    TOOL_USE_UNBALANCED: "sampling-tool-use-unbalanced", Schema, Level::Error, WITH_TOOLS, "client/sampling#tool-use-and-result-balance";
    TOOL_RESULT_UNMATCHED: "sampling-tool-result-unmatched", Schema, Level::Error, WITH_TOOLS, "client/sampling#tool-use-and-result-balance";
    STRUCTURED_CONTENT_INVALID: "sampling-structured-content-invalid", Session, Level::Warning, WITH_TOOLS, "client/sampling#tool-use-and-result-balance";
    TOOL_BLOCK_ROLE: "sampling-tool-block-role", Schema, Level::Warning, WITH_TOOLS, "client/sampling#message-roles";
}

/// Checks the params of `sampling/createMessage`.
pub(crate) fn check_request(criteria: &Criteria, params: Node<'_>, findings: &mut Findings<'_>) {
    let messages = params.get("messages");
    walk::messages(messages, Home::Elsewhere, findings);
    if !WITH_TOOLS.contains(findings.revision()) {
        return;
    }
    for tool in params.get("tools").into_iter().flat_map(Node::elements) {
        schema::check(criteria, tool, findings);
        walk::described(tool, Thing::ToolOrPrompt, findings);
    }
    for message in messages.into_iter().flat_map(Node::elements) {
        walk::described(message, Thing::Other, findings);
    }
    let mut before = ToolBlocks::default();
    let mut messages = messages.into_iter().flat_map(Node::elements).peekable();
    while let Some(message) = messages.next() {
        before = check_message(&before, message, messages.peek().copied(), findings);
    }
    if findings.wants(&STRUCTURED_CONTENT_INVALID) {
        check_structured(criteria, params, findings);
    }
}

/// Checks structured results against the output schemas of the tools the request itself offers.
fn check_structured(criteria: &Criteria, params: Node<'_>, findings: &mut Findings<'_>) {
    const SHOWN: usize = 10;
    let mut left = SHOWN;
    let mut checks = MAX_CHECKS;
    let tools = params.get("tools").into_iter().flat_map(Node::elements);
    let schemas: HashMap<_, _> = tools
        .filter_map(|tool| Some((tool.get("name")?.str_bytes()?, tool.get("outputSchema")?)))
        .collect();
    if schemas.is_empty() {
        return;
    }
    let mut before = ToolBlocks::default();
    for message in params.get("messages").into_iter().flat_map(Node::elements) {
        for block in blocks(message) {
            let name = used_tool(&before, block).and_then(Node::str_bytes);
            let schema = name.and_then(|name| schemas.get(&name));
            let (Some(schema), Some(content)) = (schema, block.get("structuredContent")) else {
                continue;
            };
            if checks == 0 {
                let message = format!("there are more than {MAX_CHECKS} structured results");
                return findings.report(Fault::unjudged(&STRUCTURED_CONTENT_INVALID, message));
            }
            checks -= 1;
            let breaches =
                SchemaContract::read(criteria.tool_schemas(), *schema, findings.revision())
                    .breaches(content);
            let faults = contract::faults(
                &STRUCTURED_CONTENT_INVALID,
                &breaches,
                ErrorCode::InvalidParams,
                "send structured content that matches the tool's `outputSchema`",
            );
            faults.take(left).for_each(|fault| findings.report(fault));
            left = left.saturating_sub(breaches.found.len());
            if left == 0 {
                return;
            }
        }
        before = ToolBlocks::uses(message);
    }
}

/// The tool uses of a message by their ids, or its tool results by the ids of their uses. Indexed, as
/// comparing all pairs would take quadratic time.
#[derive(Debug, Default)]
struct ToolBlocks<'a>(HashMap<Cow<'a, [u8]>, Node<'a>>);

impl<'a> ToolBlocks<'a> {
    fn uses(message: Node<'a>) -> ToolBlocks<'a> {
        ToolBlocks::of(message, Kind::Use, "id")
    }

    fn results(message: Node<'a>) -> ToolBlocks<'a> {
        ToolBlocks::of(message, Kind::Result, "toolUseId")
    }

    /// Of several blocks with the same id, the first is kept.
    fn of(message: Node<'a>, wanted: Kind, id: &str) -> ToolBlocks<'a> {
        let mut found = HashMap::new();
        for block in blocks(message).filter(|block| kind(*block) == wanted) {
            if let Some(id) = block.get(id).and_then(Node::str_bytes) {
                found.entry(id).or_insert(block);
            }
        }
        ToolBlocks(found)
    }

    /// The block with this id.
    fn get(&self, id: Node<'_>) -> Option<Node<'a>> {
        self.0.get(&*id.str_bytes()?).copied()
    }
}

/// The name in the tool use that a successful tool result answers, in the message before.
fn used_tool<'a>(before: &ToolBlocks<'a>, result: Node<'a>) -> Option<Node<'a>> {
    let failed = result.get("isError").and_then(Node::as_bool) == Some(true);
    if kind(result) != Kind::Result || failed {
        return None;
    }
    before.get(result.get("toolUseId")?)?.get("name")
}

/// Checks the result of `sampling/createMessage`, or the answer to such an input request.
pub(crate) fn check_result(result: Node<'_>, findings: &mut Findings<'_>) {
    if let Some(content) = result.get("content") {
        walk::content(content, Home::Elsewhere, findings);
    }
}

/// Checks one message and returns its tool uses, for checking the next.
fn check_message<'a>(
    before: &ToolBlocks<'a>,
    message: Node<'a>,
    after: Option<Node<'a>>,
    findings: &mut Findings<'_>,
) -> ToolBlocks<'a> {
    let from_user = message.get("role").is_some_and(|role| role.str_eq("user"));
    let mut first_use = None;
    let mut has_results = false;
    let mut other = None;
    for block in blocks(message) {
        match kind(block) {
            Kind::Use => {
                first_use = first_use.or(Some(block));
                other = other.or(Some(block));
                if from_user {
                    report_role(block, "`tool_use`", "assistant", findings);
                }
            }
            Kind::Result => {
                has_results = true;
                if !from_user {
                    report_role(block, "`tool_result`", "user", findings);
                }
                check_matched(before, block, findings);
            }
            Kind::Other => other = other.or(Some(block)),
        }
    }
    if has_results && let Some(other) = other {
        findings.report(
            Fault::new(&TOOL_RESULT_MIXED, "the message mixes tool results with other content")
                .at(other.span())
                .help("move the other content into a message of its own, after the results"),
        );
    }
    if first_use.is_none() {
        return ToolBlocks::default();
    }
    check_answered(message, after, findings);
    ToolBlocks::uses(message)
}

/// A tool result belongs to a tool use in the message before it.
fn check_matched(before: &ToolBlocks<'_>, result: Node<'_>, findings: &mut Findings<'_>) {
    let Some(id) = result.get("toolUseId") else {
        return;
    };
    if before.get(id).is_none() {
        findings.report(
            Fault::new(&TOOL_RESULT_UNMATCHED, "no `tool_use` in the previous message has this id")
                .at(id.span())
                .help("refer to a `tool_use` of the previous message by its `id`"),
        );
    }
}

/// Checks that every tool use is answered in the next message.
fn check_answered(message: Node<'_>, after: Option<Node<'_>>, findings: &mut Findings<'_>) {
    let results = |after: Node<'_>| {
        blocks(after).any(|block| kind(block) == Kind::Result)
            && blocks(after).any(|block| kind(block) != Kind::Result)
    };
    if after.is_some_and(results) {
        return; // Reported by `sampling-tool-result-mixed`.
    }
    // If their role is wrong, `sampling-tool-block-role` says so.
    let answers = after.map(ToolBlocks::results).unwrap_or_default();
    let unanswered = blocks(message)
        .filter(|block| kind(*block) == Kind::Use)
        .find(|block| block.get("id").is_some_and(|id| answers.get(id).is_none()));
    if let Some(block) = unanswered {
        findings.report(
            Fault::new(
                &TOOL_USE_UNBALANCED,
                "the next message does not contain the result of this tool use",
            )
            .at(block.get("id").unwrap_or(block).span())
            .help("follow it with a user message that has a `tool_result` for every `tool_use`"),
        );
    }
}

#[cold]
fn report_role(block: Node<'_>, what: &str, role: &str, findings: &mut Findings<'_>) {
    findings.report(
        Fault::new(&TOOL_BLOCK_ROLE, format!("{what} is not in a message with the role `{role}`"))
            .at(block.get("type").unwrap_or(block).span())
            .help("tool calls have the role `assistant`, and their results the role `user`"),
    );
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Use,
    Result,
    Other,
}

fn kind(block: Node<'_>) -> Kind {
    match block.get("type") {
        Some(kind) if kind.str_eq("tool_use") => Kind::Use,
        Some(kind) if kind.str_eq("tool_result") => Kind::Result,
        _ => Kind::Other,
    }
}

/// The content blocks of a message: a single one, or a list.
pub(crate) fn blocks(message: Node<'_>) -> impl Iterator<Item = Node<'_>> {
    let content = message.get("content");
    let single = content.filter(|content| content.is_object());
    single.into_iter().chain(content.into_iter().flat_map(Node::elements))
}
