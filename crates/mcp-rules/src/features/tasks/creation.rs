//! Requests to run as tasks, and the answers that create them.

use mcp_core::Side;
use mcp_json::Node;

use super::{
    conversation::{
        AUGMENTATION_UNDECLARED, CREATE_RESULT_MISSING, ID_DUPLICATE, INITIAL_STATUS,
        REQUIRED_NOT_REJECTED, SUPPORT_FORBIDDEN, SUPPORT_REQUIRED, Tasks,
    },
    report::Report,
    task::{Reported, Stamp, Task},
};
use crate::{
    Severity,
    conversation::{
        Asked, Event, Flag, Known, Name, Notes, Request, TaskStatus, asked::AskedTask,
        listings::TaskSupport,
    },
    findings::Fault,
};

/// Errors that reject a call that must be a task: the one for tools, and the one for receivers that
/// require a task for every request of a kind.
const REFUSALS: [i64; 2] = [-32601, -32600];

/// The capability a receiver needs to run this request as a task.
fn needed(method: &str) -> Option<Flag> {
    match method {
        "tools/call" => Some(Flag::TasksToolsCall),
        "sampling/createMessage" => Some(Flag::TasksSampling),
        "elicitation/create" => Some(Flag::TasksElicitation),
        _ => None,
    }
}

/// Judges whether a request may, or must, run as a task.
pub(super) fn judge_request(
    event: &Event<'_>,
    known: &Known<'_>,
    notes: &mut Notes,
) -> Option<Box<AskedTask>> {
    let flag = needed(event.name)?;
    let receiver = event.from.other();
    let declared = known.capabilities(receiver, event)?;
    let task = event.params()?.get("task").filter(|task| task.is_object());
    if !declared.has(flag) {
        if let Some(task) = task {
            let message = format!("the {receiver} did not declare `{}`", flag.path());
            let severity =
                if event.name == "tools/call" { Severity::Error } else { Severity::Warning };
            notes.note(
                Fault::new(&AUGMENTATION_UNDECLARED, message)
                    .at(task.span())
                    .severity(severity)
                    .related(declared.at().line(), "the capabilities were declared here")
                    .help("omit `task` for peers that did not declare it"),
            );
        }
        return None;
    }
    let support = if event.from == Side::Client { tool_support(event, known) } else { None };
    match (task, support) {
        (Some(task), Some((TaskSupport::Forbidden, listed))) => {
            notes.note(forbidden(task, listed));
            None
        }
        (Some(_), _) => Some(Box::new(AskedTask::Task)),
        (None, Some((TaskSupport::Required, listed))) => {
            notes.note(required(event, listed));
            Some(Box::new(AskedTask::NoTask))
        }
        (None, _) => None,
    }
}

/// The called tool's listed task support, and where it was listed.
fn tool_support(event: &Event<'_>, known: &Known<'_>) -> Option<(TaskSupport, Option<u64>)> {
    let name = event.params()?.get("name")?.as_str()?;
    let tool = known.listings.tools.get(&name)?;
    Some((tool.task_support, tool.at.line()))
}

fn forbidden(task: Node<'_>, listed: Option<u64>) -> Fault {
    Fault::new(&SUPPORT_FORBIDDEN, "the call asks for a task, but the tool does not support tasks")
        .at(task.span())
        .related(listed, "the tool was listed here")
        .help("send `task` only for tools whose `execution.taskSupport` is optional or required")
}

fn required(event: &Event<'_>, listed: Option<u64>) -> Fault {
    let place = event.params().unwrap_or(event.node());
    Fault::new(&SUPPORT_REQUIRED, "the call does not ask for a task, but the tool requires one")
        .at(place.span())
        .related(listed, "the tool was listed here")
        .help("add `\"task\":{}` to the params")
}

/// Judges the answer to a request that asked for a task, or should have.
pub(super) fn judge_answer(request: &Request, event: &Event<'_>, notes: &mut Notes) {
    let asked = request.at.line();
    match (request.asked.task.as_deref(), event.result()) {
        (Some(AskedTask::Task), Some(result)) if result.get("task").is_none() => notes.note(
            Fault::new(
                &CREATE_RESULT_MISSING,
                "the result does not create the task that was asked for",
            )
            .at(result.span())
            .related(asked, "the request was here")
            .help("answer with `{\"task\":{…}}`, and return the outcome through `tasks/result`"),
        ),
        (Some(AskedTask::NoTask), result) if request.cancelled.is_none() => {
            let code = event.error_code().filter(|code| !REFUSALS.contains(code));
            let message = match (result, code) {
                (Some(_), _) => "a tool that requires a task was run without one".to_owned(),
                (None, Some(code)) => format!("the call without a task is refused with {code}"),
                (None, None) => return,
            };
            let code = event.error().and_then(|error| error.get("code"));
            notes.note(
                Fault::new(&REQUIRED_NOT_REJECTED, message)
                    .at(result.or(code).unwrap_or(event.node()).span())
                    .related(asked, "the call was here")
                    .help("refuse such a call with -32601"),
            );
        }
        _ => {}
    }
}

/// The part of a request's state that rules about its result need.
fn kept_for_result(asked: &Asked) -> Asked {
    Asked {
        tool_call: asked.tool_call.clone(),
        sampling: asked.sampling.clone(),
        elicitation: asked.elicitation.clone(),
        ..Asked::default()
    }
}

impl Tasks {
    /// Records a new task.
    pub(super) fn create(
        &mut self,
        new: &Report<'_>,
        request: &Request,
        event: &Event<'_>,
        known: &Known<'_>,
        notes: &mut Notes,
    ) {
        let id_node = new.node.get("taskId").unwrap_or(new.node);
        let stamp = Stamp { at: event.at, number: self.now };
        let earlier = self.of(event.from).get(&*new.id);
        let first = earlier.and_then(|task| task.created);
        if let Some(first) = first {
            let message = format!("the {} already has a task `{}`", event.from, new.id);
            notes.note(
                Fault::new(&ID_DUPLICATE, message)
                    .at(id_node.span())
                    .related(first.line(), "the other task was created here")
                    .help("generate a new id for each task, for example a UUID"),
            );
        }
        if let Some(status) = new.status.filter(|status| *status != TaskStatus::Working) {
            let message = format!("the task begins as `{}`", status.name());
            notes.note(
                Fault::new(&INITIAL_STATUS, message)
                    .at(new.status_node().span())
                    .help("create every task as `working`, and report the next status later"),
            );
        }
        let mut task = Task {
            created: Some(event.at),
            original: match request.name {
                Name::Known(method) => Some(method),
                Name::Other(_) => None,
            },
            asked: Some(Box::new(kept_for_result(&request.asked))),
            status: new.status.map(|status| Reported { status, stamp }),
            ..Task::default()
        };
        task.note_interval(new);
        // A notification may have overtaken this answer, and is then more recent.
        if let Some(earlier) = earlier.filter(|_| first.is_none()) {
            task.status = earlier.status.or(task.status);
        }
        self.of_mut(event.from).insert(new.id.as_ref().into(), task, known.limits.remembered);
    }
}
