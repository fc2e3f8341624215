//! Tasks of 2025-11-25: creation, polling, results and cancellation.
//!
//! Either side may ask for a task; the other side owns it, assigns its id and reports on it. Later
//! revisions have tasks as an extension with other shapes, which is not judged here.

use mcp_core::{Revision, Revisions, Side};
use mcp_schema::Method;
use serde::{Deserialize, Serialize};

use super::{creation, operations, report::created, task::Task};
use crate::{
    Level,
    conversation::{
        Bounded, Event, Known, MethodRef, Notes, Remembered, Request, Topic, What,
        asked::{AskedTask, TaskOperation},
    },
    features::Family,
};

const ONLY: Revisions = Revisions::only(Revision::V2025_11_25);

rules! {
    AUGMENTATION_UNDECLARED: "task-augmentation-undeclared", Session, Level::Error, ONLY, "basic/utilities/tasks#capability-negotiation";
    CAPABILITY_UNDECLARED: "tasks-capability-undeclared", Session, Level::Error, ONLY, "basic/utilities/tasks#capabilities";
    SUPPORT_FORBIDDEN: "task-support-forbidden", Session, Level::Error, ONLY, "basic/utilities/tasks#tool-level-negotiation";
    SUPPORT_REQUIRED: "task-support-required", Session, Level::Error, ONLY, "basic/utilities/tasks#tool-level-negotiation";
    REQUIRED_NOT_REJECTED: "task-required-not-rejected", Session, Level::Error, ONLY, "basic/utilities/tasks#tool-level-negotiation";
    CREATE_RESULT_MISSING: "task-create-result-missing", Session, Level::Error, ONLY, "basic/utilities/tasks#result-retrieval";
    INITIAL_STATUS: "task-initial-status", Session, Level::Error, ONLY, "basic/utilities/tasks#task-status-lifecycle";
    STATUS_TRANSITION: "task-status-transition", Session, Level::Error, ONLY, "basic/utilities/tasks#task-status-lifecycle";
    ID_DUPLICATE: "task-id-duplicate", Session, Level::Error, ONLY, "basic/utilities/tasks#task-id-requirements";
    ID_UNKNOWN: "task-id-unknown", Session, Level::Warning, ONLY, "basic/utilities/tasks#protocol-errors";
    CANCEL_TERMINAL_ACCEPTED: "task-cancel-terminal-accepted", Session, Level::Error, ONLY, "basic/utilities/tasks#task-cancellation";
    CANCEL_STATUS: "task-cancel-status", Session, Level::Error, ONLY, "basic/utilities/tasks#task-cancellation";
    RELATED_MISSING: "task-result-related-missing", Session, Level::Error, ONLY, "basic/utilities/tasks#related-task-metadata";
    RELATED_REDUNDANT: "task-related-redundant", Session, Level::Warning, ONLY, "basic/utilities/tasks#associating-task-related-messages";
    NOT_BLOCKING: "task-result-not-blocking", Session, Level::Error, ONLY, "basic/utilities/tasks#result-retrieval";
    ERROR_NOT_FAILED: "task-error-not-failed", Session, Level::Warning, ONLY, "basic/utilities/tasks#task-execution-errors";
    POLL_TOO_FAST: "task-poll-too-fast", Session, Level::Warning, ONLY, "basic/utilities/tasks#getting-tasks";
}

/// The `_meta` member that names the task a message belongs to.
pub(super) const META_RELATED: &str = "io.modelcontextprotocol/related-task";

/// The tasks of both sides, by owner.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Tasks {
    client: Bounded<Box<str>, Task>,
    server: Bounded<Box<str>, Task>,
    /// Message counter, to order messages where line numbers cannot.
    pub(super) now: u64,
}

/// The id of the task that a request is about.
pub(crate) fn subject(request: &Request) -> Option<&str> {
    operation(request).and_then(|subject| subject.id.as_deref())
}

/// The method whose result must be in the answer to a `tasks/result`.
pub(crate) fn original(request: &Request) -> Option<&'static Method> {
    operation(request).and_then(|subject| subject.original).map(MethodRef::get)
}

fn operation(request: &Request) -> Option<&TaskOperation> {
    match request.asked.task.as_deref() {
        Some(AskedTask::Operation(subject)) => Some(subject),
        _ => None,
    }
}

impl Family for Tasks {
    fn concerns(event: &Event<'_>) -> bool {
        let may_become_one = matches!(
            event.topic,
            Topic::Tools | Topic::Sampling | Topic::Elicitation | Topic::Tasks
        );
        event.revision == Revision::V2025_11_25
            && match event.what {
                What::Request(_) => may_become_one,
                What::Notification => event.topic == Topic::Tasks,
                What::Answer(answer) => answer.request.is_some(),
            }
    }

    fn follow(
        &mut self,
        event: &Event<'_>,
        asked: &mut Remembered,
        known: &Known<'_>,
        notes: &mut Notes,
    ) {
        self.now += 1;
        match event.what {
            What::Request(_) if event.name.starts_with("tasks/") => {
                self.judge_operation(event, asked, known, notes);
            }
            What::Request(_) => {
                if let Some(task) = creation::judge_request(event, known, notes) {
                    asked.remember().task = Some(task);
                }
            }
            What::Notification if event.name == "notifications/tasks/status" => {
                self.judge_notification(event, known, notes);
            }
            What::Notification => {}
            What::Answer(answer) => {
                if let Some(request) = answer.request {
                    self.judge_answer(request, event, known, notes);
                }
            }
        }
    }

    fn restart(&mut self) {
        for tasks in [&mut self.client, &mut self.server] {
            let ids: Vec<_> = tasks.iter().map(|(id, _)| id.clone()).collect();
            for id in ids {
                if let Some(task) = tasks.get_mut(&id) {
                    *task = Task::default();
                }
            }
        }
    }
}

impl Tasks {
    pub(super) fn of(&self, owner: Side) -> &Bounded<Box<str>, Task> {
        match owner {
            Side::Client => &self.client,
            Side::Server => &self.server,
        }
    }

    pub(super) fn of_mut(&mut self, owner: Side) -> &mut Bounded<Box<str>, Task> {
        match owner {
            Side::Client => &mut self.client,
            Side::Server => &mut self.server,
        }
    }

    /// The task with this id, inserted if unknown.
    pub(super) fn entry(&mut self, owner: Side, id: &str, known: &Known<'_>) -> Option<&mut Task> {
        let tasks = self.of_mut(owner);
        if !tasks.contains(id) {
            tasks.insert(id.into(), Task::default(), known.limits.remembered);
        }
        tasks.get_mut(id)
    }

    fn judge_answer(
        &mut self,
        request: &Request,
        event: &Event<'_>,
        known: &Known<'_>,
        notes: &mut Notes,
    ) {
        creation::judge_answer(request, event, notes);
        if let Some(new) = created(event) {
            self.create(&new, request, event, known, notes);
        }
        let Some(subject) = operation(request) else { return };
        match event.name {
            "tasks/result" => self.judge_outcome(subject, event, notes),
            "tasks/cancel" => self.judge_cancelled(subject, event, known, notes),
            _ => self.judge_reports(subject.sent, event, known, notes),
        }
        self.check_id(subject, request, event, notes);
        operations::check_redundant_result(event, notes);
    }
}
