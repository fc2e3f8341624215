//! Requests about tasks, and what answers and notifications report about them.

use mcp_json::Node;

use super::{
    conversation::{
        CANCEL_STATUS, CANCEL_TERMINAL_ACCEPTED, CAPABILITY_UNDECLARED, ERROR_NOT_FAILED,
        ID_UNKNOWN, META_RELATED, NOT_BLOCKING, POLL_TOO_FAST, RELATED_REDUNDANT,
        STATUS_TRANSITION, Tasks,
    },
    report::{self, Report},
    task::{Reported, Stamp, Task},
};
use crate::{
    conversation::{
        Event, Flag, Known, Moment, Notes, Remembered, Request, TaskStatus,
        asked::{AskedTask, TaskOperation},
        digest::kept,
    },
    findings::Fault,
};

/// The capability a receiver needs to be asked this.
fn needed(method: &str) -> Option<Flag> {
    match method {
        "tasks/get" | "tasks/result" => Some(Flag::Tasks),
        "tasks/list" => Some(Flag::TasksList),
        "tasks/cancel" => Some(Flag::TasksCancel),
        _ => None,
    }
}

/// Returns whether the receiver offers what it is asked for, as far as known.
fn check_declared(flag: Flag, event: &Event<'_>, known: &Known<'_>, notes: &mut Notes) -> bool {
    let owner = event.from.other();
    let Some(declared) = known.capabilities(owner, event) else { return true };
    if declared.has(flag) {
        return true;
    }
    let message = format!("the {owner} did not declare `{}`", flag.path());
    notes.note(
        Fault::new(&CAPABILITY_UNDECLARED, message)
            .at(event.method_span())
            .related(declared.at().line(), "the capabilities were declared here")
            .help("check the peer's capabilities before using tasks"),
    );
    false
}

impl Tasks {
    /// Judges a request about tasks of the other side.
    pub(super) fn judge_operation(
        &mut self,
        event: &Event<'_>,
        asked: &mut Remembered,
        known: &Known<'_>,
        notes: &mut Notes,
    ) {
        let Some(flag) = needed(event.name) else { return };
        let declared = check_declared(flag, event, known, notes);
        if event.name != "tasks/list" {
            check_redundant(event, notes);
        }
        let owner = event.from.other();
        let id = event.params().and_then(|params| params.get("taskId")?.as_str()).map(kept);
        let sent = self.now;
        let tasks = self.of_mut(owner);
        let all_known = declared && known.from_start && !tasks.forgot();
        let mut task = id.as_deref().and_then(|id| tasks.get_mut(id));
        if event.name == "tasks/get"
            && let Some(task) = &mut task
        {
            task.poll(event, notes);
        }
        let task = task.as_deref();
        let is_result = event.name == "tasks/result";
        if let Some(original) = task.filter(|_| is_result).and_then(|task| task.asked.as_ref()) {
            // The rules about results of the original request find what they need here.
            let asked = asked.remember();
            asked.tool_call.clone_from(&original.tool_call);
            asked.sampling.clone_from(&original.sampling);
            asked.elicitation.clone_from(&original.elicitation);
        }
        let end = task.and_then(Task::end);
        asked.remember().task = Some(Box::new(AskedTask::Operation(TaskOperation {
            sent,
            unknown: all_known && task.is_none(),
            end: end.map(|end| (end.status, end.stamp.at.line())),
            original: task.filter(|_| is_result).and_then(|task| task.original),
            id: id.map(|id| id.as_ref().into()),
        })));
    }

    pub(super) fn judge_notification(
        &mut self,
        event: &Event<'_>,
        known: &Known<'_>,
        notes: &mut Notes,
    ) {
        check_redundant(event, notes);
        for report in report::reports(event) {
            if self.is_unknown_task(&report, event, known) {
                let place = report.node.get("taskId").unwrap_or(report.node);
                let message = format!("no task `{}` was created or listed", report.id);
                notes.note(
                    Fault::new(&ID_UNKNOWN, message)
                        .at(place.span())
                        .help("report on a task under the `taskId` it was created with"),
                );
            }
            if let Some(task) = self.of_mut(event.from).get_mut(&*report.id) {
                task.polled.last = None;
            }
            self.record(&report, None, event, known, notes);
        }
    }

    /// Whether a notification is about a task that cannot be known. A task may outlive its session,
    /// and a notification may overtake the answer that creates the task.
    fn is_unknown_task(&self, report: &Report<'_>, event: &Event<'_>, known: &Known<'_>) -> bool {
        let tasks = self.of(event.from);
        known.from_start
            && event.at.stream().is_none()
            && !tasks.contains(&*report.id)
            && !tasks.forgot()
            && !known.requests.iter_open(event.from.other()).any(|(_, request)| request.task)
    }

    /// Reports a task id that we did not know and its supposed owner does not know either.
    pub(super) fn check_id(
        &self,
        subject: &TaskOperation,
        request: &Request,
        event: &Event<'_>,
        notes: &mut Notes,
    ) {
        let Some(id) = &subject.id else { return };
        let refused = event.error_code() == Some(-32602);
        if subject.unknown && refused && !self.of(event.from).contains(id) {
            let asker = event.from.other();
            notes.always(
                Fault::new(&ID_UNKNOWN, format!("no task `{id}` was created or listed"))
                    .earlier(request.at.line(), asker)
                    .related(event.at.line(), "it was refused here")
                    .help("take the id from the `CreateTaskResult`, unchanged"),
            );
        }
    }

    /// Judges what an answer reports about tasks; `sent` is when the request was sent.
    pub(super) fn judge_reports(
        &mut self,
        sent: u64,
        event: &Event<'_>,
        known: &Known<'_>,
        notes: &mut Notes,
    ) {
        for report in report::reports(event) {
            self.record(&report, Some(sent), event, known, notes);
        }
    }

    pub(super) fn judge_cancelled(
        &mut self,
        subject: &TaskOperation,
        event: &Event<'_>,
        known: &Known<'_>,
        notes: &mut Notes,
    ) {
        let Some(report) = report::reports(event).next() else { return };
        let Some(status) = report.status else { return };
        if let Some((end, line)) = subject.end {
            let message = format!(
                "the cancellation is accepted, although the task was already `{}`",
                end.name()
            );
            notes.note(
                Fault::new(&CANCEL_TERMINAL_ACCEPTED, message)
                    .at(report.status_node().span())
                    .related(line, "that status was reported here")
                    .help("refuse to cancel a task that has ended, with error -32602"),
            );
            let stamp = Stamp { at: event.at, number: self.now };
            if let Some(task) = self.entry(event.from, &report.id, known) {
                task.status = Some(Reported { status, stamp });
            }
            return;
        }
        if status != TaskStatus::Cancelled {
            let message =
                format!("the cancellation is accepted, but the task is `{}`", status.name());
            notes.note(
                Fault::new(&CANCEL_STATUS, message)
                    .at(report.status_node().span())
                    .help("set the status to `cancelled` before answering, or refuse with -32602"),
            );
        }
        self.judge_reports(subject.sent, event, known, notes);
    }

    /// Records what a message reports about a task; `requested` is when it was asked for, if it
    /// was.
    fn record(
        &mut self,
        report: &Report<'_>,
        requested: Option<u64>,
        event: &Event<'_>,
        known: &Known<'_>,
        notes: &mut Notes,
    ) {
        let stamp = Stamp { at: event.at, number: self.now };
        let Some(task) = self.entry(event.from, &report.id, known) else { return };
        task.note_interval(report);
        let Some(status) = report.status else { return };
        if let Some(end) = task.end()
            && end.status != status
        {
            if !end.stamp.is_before(requested, event.at) {
                return; // The two crossed; a final status stays final.
            }
            notes.note(
                Fault::new(
                    &STATUS_TRANSITION,
                    format!(
                        "the task is `{}`, after it was `{}`",
                        status.name(),
                        end.status.name()
                    ),
                )
                .at(report.status_node().span())
                .related(end.stamp.at.line(), "the task had ended here")
                .help("never change the status of a task that has ended"),
            );
        } else if let Some(fault) = task.not_blocking(status, requested, event.at) {
            notes.note(fault.at(report.status_node().span()));
        }
        if status == TaskStatus::Completed
            && let Some(fault) = task.error_not_failed()
        {
            notes.note(fault.at(report.status_node().span()));
        }
        task.status = Some(Reported { status, stamp });
    }
}

impl Task {
    /// Returns the fault of a task that continues after its result was delivered. Reported once.
    fn not_blocking(
        &mut self,
        status: TaskStatus,
        requested: Option<u64>,
        now: Moment,
    ) -> Option<Fault> {
        let delivered = self.delivered.filter(|_| !status.is_final())?;
        if !delivered.stamp.is_before(requested, now) {
            return None;
        }
        self.delivered = None;
        let message =
            format!("the task is `{}`, but its result was already returned", status.name());
        Some(
            Fault::new(&NOT_BLOCKING, message)
                .related(delivered.stamp.at.line(), "the result was here")
                .help("answer `tasks/result` only when the task has ended"),
        )
    }

    /// Returns the fault of a task that is completed although its result is an error. Reported
    /// once.
    fn error_not_failed(&mut self) -> Option<Fault> {
        let delivered = self.delivered.as_mut().filter(|delivered| delivered.is_error)?;
        delivered.is_error = false;
        Some(completed_with_error().related(delivered.stamp.at.line(), "the result was here"))
    }

    /// Records the poll interval the owner asks for.
    pub(super) fn note_interval(&mut self, report: &Report<'_>) {
        self.polled.interval = report.node.get("pollInterval").and_then(Node::as_i64);
    }

    fn poll(&mut self, event: &Event<'_>, notes: &mut Notes) {
        if let (Some(last), Some(interval)) = (self.polled.last, self.polled.interval)
            && let (Some(before), Some(now)) = (last.millis(), event.at.millis())
            && let Some(gap) = now.checked_sub(before).filter(|gap| *gap >= 0)
            // A tenth of tolerance for timers and for the delay on the way to the observer.
            && gap < interval.saturating_sub(interval / 10)
        {
            notes.note(
                Fault::new(
                    &POLL_TOO_FAST,
                    format!("the task is polled after {gap} ms instead of {interval} ms"),
                )
                .at(event.method_span())
                .related(last.line(), "it was requested here")
                .help("wait for `pollInterval` between two `tasks/get`, or use `tasks/result`"),
            );
        }
        self.polled.last = Some(event.at);
    }
}

pub(super) fn completed_with_error() -> Fault {
    Fault::new(&ERROR_NOT_FAILED, "the task is `completed`, but its tool call has failed")
        .help("a task whose result has `isError` is `failed`")
}

/// Checks that a request or notification with the task's id in its params does not repeat it.
fn check_redundant(event: &Event<'_>, notes: &mut Notes) {
    if let Some(related) = event.meta().and_then(|meta| meta.get(META_RELATED)) {
        notes.note(redundant().at(related.span()));
    }
}

/// The same for results; only that of `tasks/result` has nowhere else to put it.
pub(super) fn check_redundant_result(event: &Event<'_>, notes: &mut Notes) {
    if event.name != "tasks/result" && event.result().is_some() {
        check_redundant(event, notes);
    }
}

fn redundant() -> Fault {
    Fault::new(&RELATED_REDUNDANT, "the message already names its task in its own members")
        .help(format!("omit `{META_RELATED}` here"))
}
