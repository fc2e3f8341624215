//! The contracts of tools: arguments, structured content, order.

use mcp_core::{Revision, Revisions};
use mcp_json::Node;
use mcp_jsonrpc::ErrorCode;
use serde::{Deserialize, Serialize};

use super::order;
use crate::{
    Level, contract,
    conversation::{
        Event, Known, Notes, Remembered, Topic, asked::ToolCall, stated_schema::StatedSchema,
    },
    features::{Family, modern::is_complete, shown::shown},
    findings::Fault,
};

const WITH_OUTPUT: Revisions = Revisions::from(Revision::V2025_06_18);

rules! {
    ARGUMENTS_INVALID: "tool-arguments-invalid", ToolSchema, Level::Warning, Revisions::ALL, "server/tools#tool", Contract;
    ARGUMENTS_INVALID_ACCEPTED: "tool-arguments-invalid-accepted", ToolSchema, Level::Warning, Revisions::ALL, "server/tools#security-considerations";
    UNKNOWN: "tool-unknown", ToolSchema, Level::Warning, Revisions::ALL, "server/tools#error-handling";
    STRUCTURED_CONTENT_INVALID: "tool-structured-content-invalid", ToolSchema, Level::Error, WITH_OUTPUT, "server/tools#output-schema";
    STRUCTURED_CONTENT_MISSING: "tool-structured-content-missing", ToolSchema, Level::Error, WITH_OUTPUT, "server/tools#output-schema";
    ORDER_UNSTABLE: "tools-order-unstable", ToolSchema, Level::Warning, Revisions::only(Revision::V2026_07_28), "server/tools#capabilities";
}

/// Names longer than this are not remembered.
const LONGEST_NAME: usize = 1024;

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Tools {
    order: order::Order,
}

impl Family for Tools {
    fn concerns(event: &Event<'_>) -> bool {
        matches!(event.topic, Topic::Tools | Topic::Tasks)
    }

    fn follow(
        &mut self,
        event: &Event<'_>,
        asked: &mut Remembered,
        known: &Known<'_>,
        notes: &mut Notes,
    ) {
        match event.name {
            "tools/call" if event.request().is_some() => {
                if let Some(call) = check_call(event, known, notes) {
                    asked.remember().tool_call = Some(Box::new(call));
                }
            }
            "tools/call" if event.is_answer() => check_answer(event, known, notes),
            // `asked` is that of the original call: the task hands it on.
            "tasks/result" if event.is_answer() => check_task_result(event, known, notes),
            "tools/list" if event.is_answer() => self.order.follow(event, known, notes),
            _ => {}
        }
    }
}

/// Checks a call against the listed tool.
fn check_call(event: &Event<'_>, known: &Known<'_>, notes: &mut Notes) -> Option<ToolCall> {
    let params = event.params()?;
    let node = params.get("name")?;
    let name = node.as_str()?;
    let tools = &known.listings.tools;
    let tool = tools.get(&name);
    if tool.is_none() && tools.lacks(&name) {
        notes.note(
            Fault::new(&UNKNOWN, format!("the server lists no tool `{}`", shown(&name)))
                .at(node.span())
                .code(ErrorCode::InvalidParams.code())
                .help(tools.suggestion(&name)),
        );
    }
    let tool = tool.filter(|_| name.len() <= LONGEST_NAME)?;
    let breaches = match (&tool.input, params.get("arguments")) {
        (None, _) => contract::Breaches::default(),
        (Some(schema), None) => schema.contract(known.criteria).breaches_by_absence(params.span()),
        (Some(schema), Some(arguments)) => schema.contract(known.criteria).breaches(arguments),
    };
    let faults = contract::faults(
        &ARGUMENTS_INVALID,
        &breaches,
        ErrorCode::InvalidParams,
        "send arguments that match the tool's `inputSchema`",
    );
    for fault in faults {
        notes.note(fault.related(tool.at.line(), "the tool was listed here"));
    }
    let output = tool.output.as_ref().and_then(StatedSchema::digest);
    let is_invalid = !breaches.found.is_empty();
    // Otherwise the result cannot be judged.
    (is_invalid || output.is_some()).then(|| ToolCall {
        name: (*name).into(),
        changes: tools.changes(),
        output,
        is_invalid,
    })
}

/// Checks the answer to a call.
fn check_answer(event: &Event<'_>, known: &Known<'_>, notes: &mut Notes) {
    let (Some(request), Some(result)) = (event.answered(), event.result()) else {
        return;
    };
    let Some(call) = &request.asked.tool_call else { return };
    let is_task = request.task && result.get("task").is_some();
    if is_task || !is_success(result) {
        return;
    }
    if call.is_invalid {
        notes.note(
            Fault::new(
                &ARGUMENTS_INVALID_ACCEPTED,
                format!(
                    "`{}` succeeds although the arguments violated its `inputSchema`",
                    shown(&call.name)
                ),
            )
            .at(result.span())
            .related(request.at.line(), "the call was here")
            .help("answer with `isError: true`, or make the schema describe what is accepted"),
        );
    }
    check_structured(call, result, event, known, notes);
}

/// Checks the result of a task.
fn check_task_result(event: &Event<'_>, known: &Known<'_>, notes: &mut Notes) {
    let call = event.answered().and_then(|request| request.asked.tool_call.as_ref());
    if let (Some(call), Some(result)) = (call, event.result()) {
        check_structured(call, result, event, known, notes);
    }
}

/// Checks the structured content of a call's result, whichever way it arrived.
fn check_structured(
    call: &ToolCall,
    result: Node<'_>,
    event: &Event<'_>,
    known: &Known<'_>,
    notes: &mut Notes,
) {
    let tools = &known.listings.tools;
    let is_current = tools.changes() == call.changes && WITH_OUTPUT.contains(event.revision);
    let Some(tool) = tools.get(&call.name).filter(|_| is_current) else { return };
    let Some(schema) = &tool.output else { return };
    // If relisted in the meantime with another schema, it is unclear which one counts.
    if call.output.is_none() || call.output != schema.digest() || !is_success(result) {
        return;
    }
    let Some(content) = result.get("structuredContent") else {
        notes.note(
            Fault::new(
                &STRUCTURED_CONTENT_MISSING,
                format!(
                    "`{}` has an `outputSchema`, but answers without `structuredContent`",
                    shown(&call.name)
                ),
            )
            .at(result.span())
            .code(ErrorCode::InternalError.code())
            .related(tool.at.line(), "the tool was listed here")
            .help("add `structuredContent`, or set `isError` if the tool failed"),
        );
        return;
    };
    let breaches = schema.contract(known.criteria).breaches(content);
    let faults = contract::faults(
        &STRUCTURED_CONTENT_INVALID,
        &breaches,
        ErrorCode::InternalError,
        "return structured content that matches the tool's `outputSchema`",
    );
    for fault in faults {
        notes.note(fault.related(tool.at.line(), "the tool was listed here"));
    }
}

/// Whether a result is final and does not report a failure.
fn is_success(result: Node<'_>) -> bool {
    let failed = result.get("isError").and_then(Node::as_bool) == Some(true);
    is_complete(result) && !failed
}
