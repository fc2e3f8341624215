//! Answers to `sampling/createMessage` against the request.

use mcp_core::{Revision, Revisions, Side};
use mcp_json::Node;
use mcp_jsonrpc::ErrorCode;
use serde::{Deserialize, Serialize};

use super::{MAX_CHECKS, message::blocks};
use crate::{
    Level, contract,
    conversation::{
        Event, Flag, Known, Notes, Remembered, Topic, What,
        asked::{AskedSampling, OfferedTool, ToolChoice},
        stated_schema::{self, StatedSchema},
    },
    features::{Family, shown::shown},
    findings::Fault,
};

const WITH_TOOLS: Revisions = Revisions::from(Revision::V2025_11_25);

rules! {
    TOOL_CHOICE_VIOLATED: "sampling-tool-choice-violated", Session, Level::Error, WITH_TOOLS, "client/sampling#tool-choice-modes";
    TOOLS_NOT_REJECTED: "sampling-tools-not-rejected", Session, Level::Error, Revisions::only(Revision::V2025_11_25), "client/sampling#tools-in-sampling";
    TOOL_INPUT_INVALID: "sampling-tool-input-invalid", Session, Level::Warning, WITH_TOOLS, "client/sampling#sampling-with-tools";
    STOP_REASON_MISMATCH: "sampling-stop-reason-mismatch", Session, Level::Warning, WITH_TOOLS, "client/sampling#sampling-with-tools";
}

/// Maximum tools remembered per request.
const MAX_TOOLS: usize = 512;
/// Maximum bytes of their schemas.
const SCHEMA_BYTES: usize = 64 << 10;
/// Maximum faults reported per answer.
const SHOWN: usize = 10;

/// Stateless: the requests hold everything needed.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Sampling {}

impl Family for Sampling {
    fn concerns(event: &Event<'_>) -> bool {
        matches!(event.topic, Topic::Sampling | Topic::Tasks) && WITH_TOOLS.contains(event.revision)
    }

    fn follow(
        &mut self,
        event: &Event<'_>,
        asked: &mut Remembered,
        known: &Known<'_>,
        notes: &mut Notes,
    ) {
        match (event.what, event.name, event.params()) {
            (What::Request(_), "sampling/createMessage", Some(params)) => {
                let sampling = AskedSampling::of(params, event, known);
                asked.remember().sampling = Some(Box::new(sampling));
            }
            (What::Answer(_), "sampling/createMessage" | "tasks/result", _) => {
                follow_answer(event, known, notes);
            }
            _ => {}
        }
    }
}

impl AskedSampling {
    /// Extracts what the params of `sampling/createMessage` ask for.
    pub(crate) fn of(params: Node<'_>, event: &Event<'_>, known: &Known<'_>) -> AskedSampling {
        let choice = params.get("toolChoice");
        let mode = choice.and_then(|choice| choice.get("mode")?.as_str());
        let tools = params.get("tools");
        let mut room = stated_schema::room(event, known, SCHEMA_BYTES);
        let offered = tools.into_iter().flat_map(Node::elements).filter_map(|tool| {
            let input = tool.get("inputSchema").filter(|schema| schema.is_object());
            Some(OfferedTool {
                name: (*tool.get("name")?.as_str()?).into(),
                input: input.map(|schema| {
                    StatedSchema::of(schema, event.revision, &mut room, known.criteria)
                }),
            })
        });
        AskedSampling {
            at: event.at,
            choice: match mode.as_deref() {
                Some("none") => ToolChoice::None,
                Some("required") => ToolChoice::Required,
                _ => ToolChoice::Free,
            },
            tools: offered.take(MAX_TOOLS).collect(),
            more_tools: tools.is_some_and(|tools| tools.len() > MAX_TOOLS),
            uses_tools: tools.or(choice).is_some(),
        }
    }
}

/// Checks the answer to a request, or the outcome of a task created for one.
fn follow_answer(event: &Event<'_>, known: &Known<'_>, notes: &mut Notes) {
    let (Some(request), Some(result)) = (event.answered(), event.result()) else {
        return;
    };
    let Some(asked) = &request.asked.sampling else { return };
    if event.name == "sampling/createMessage" {
        check_not_rejected(asked, result, event, known, notes);
    }
    if !(request.task && result.get("task").is_some()) {
        check_answer(asked, result, known, notes);
    }
}

/// A client that has not declared tools must reject a request that has some.
fn check_not_rejected(
    asked: &AskedSampling,
    result: Node<'_>,
    event: &Event<'_>,
    known: &Known<'_>,
    notes: &mut Notes,
) {
    let Some(declared) = known.capabilities(Side::Client, event) else { return };
    // A client without sampling at all is reported by another rule.
    let tools_only = declared.has(Flag::Sampling) && !declared.has(Flag::SamplingTools);
    if asked.uses_tools && tools_only {
        notes.note(
            Fault::new(
                &TOOLS_NOT_REJECTED,
                "the client answers a request that has tools, but it did not declare `sampling.tools`",
            )
            .at(result.span())
            .related(asked.at.line(), "the request was here")
            .help("answer with an error, or declare `sampling.tools`"),
        );
    }
}

/// Checks the model's answer: the `result` of a response or an entry of `inputResponses`.
pub(crate) fn check_answer(
    asked: &AskedSampling,
    result: Node<'_>,
    known: &Known<'_>,
    notes: &mut Notes,
) {
    let is_use = |block: &Node<'_>| block.get("type").is_some_and(|kind| kind.str_eq("tool_use"));
    let first_use = blocks(result).find(is_use);
    let reason = result.get("stopReason");
    let stopped = |name: &str| reason.is_some_and(|reason| reason.str_eq(name));
    match (asked.choice, first_use) {
        (ToolChoice::None, Some(block)) => {
            notes.note(
                Fault::new(
                    &TOOL_CHOICE_VIOLATED,
                    "a tool is used, but the request has `toolChoice` set to `none`",
                )
                .at(block.span())
                .related(asked.at.line(), "the request was here")
                .help("tell the model's provider that it must not use tools"),
            );
            return;
        }
        (ToolChoice::Required, None) if stopped("endTurn") && !asked.tools.is_empty() => {
            notes.note(
                Fault::new(
                    &TOOL_CHOICE_VIOLATED,
                    "the request has `toolChoice` set to `required`, but no tool is used",
                )
                .at(result.get("content").unwrap_or(result).span())
                .related(asked.at.line(), "the request was here")
                .help("tell the model's provider that it must use a tool, or answer with an error"),
            );
        }
        (_, None) if stopped("toolUse") => {
            notes.note(
                Fault::new(
                    &STOP_REASON_MISMATCH,
                    "`stopReason` is `toolUse`, but there is no `tool_use` block",
                )
                .at(reason.unwrap_or(result).span())
                .help("add the tool calls, or say why the model stopped"),
            );
        }
        _ => {}
    }
    check_inputs(asked, result, known, notes);
}

/// Checks the tool uses of an answer against the tools offered.
fn check_inputs(asked: &AskedSampling, result: Node<'_>, known: &Known<'_>, notes: &mut Notes) {
    let mut left = SHOWN;
    let mut checks = MAX_CHECKS;
    for block in blocks(result) {
        let name = block
            .get("name")
            .filter(|_| block.get("type").is_some_and(|kind| kind.str_eq("tool_use")) && left > 0);
        let Some(node) = name else { continue };
        let Some(name) = node.as_str() else { continue };
        let Some(tool) = asked.tools.iter().find(|tool| *tool.name == *name) else {
            if !asked.more_tools {
                left -= 1;
                notes.note(not_offered(asked, node, &name));
            }
            continue;
        };
        let (Some(schema), Some(input)) = (&tool.input, block.get("input")) else { continue };
        if checks == 0 {
            let message = format!("the answer uses tools more than {MAX_CHECKS} times");
            notes.note(Fault::unjudged(&TOOL_INPUT_INVALID, message));
            return;
        }
        checks -= 1;
        let breaches = schema.contract(known.criteria).breaches(input);
        let faults = contract::faults(
            &TOOL_INPUT_INVALID,
            &breaches,
            ErrorCode::InternalError,
            "check the model's input against the tool's `inputSchema`",
        );
        for fault in faults.take(left) {
            notes.note(fault.related(asked.at.line(), "the tool was offered here"));
        }
        left = left.saturating_sub(breaches.found.len());
    }
}

fn not_offered(asked: &AskedSampling, node: Node<'_>, name: &str) -> Fault {
    let names = asked.tools.iter().map(|tool| &*tool.name);
    let help = match mcp_schema::nearest(name, names) {
        Some(near) => format!("did you mean `{near}`?"),
        None => "use only the tools of the request".to_owned(),
    };
    Fault::new(&TOOL_INPUT_INVALID, format!("the request offers no tool `{}`", shown(name)))
        .at(node.span())
        .related(asked.at.line(), "the request was here")
        .help(help)
}
