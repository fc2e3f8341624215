//! One step of a walk, as data: it can be repeated, left out, and made simpler.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::discover::LISTS;

/// For how long results of tasks are to be kept, in milliseconds.
const TASK_TTL: u64 = 60_000;

/// A step of a walk.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Step {
    /// `ping`, or `server/discover` where there is none.
    Greet,
    /// The first page of a list, by its index in [`LISTS`].
    List(usize),
    /// All pages of a list.
    ListAll(usize),
    /// The next page of a list; only after a page of it.
    NextPage(usize),
    /// A call of a tool.
    Call { tool: String, arguments: Value, progress: bool, cancel: bool },
    /// A resource.
    Read(String),
    /// A prompt.
    Prompt { name: String, arguments: Value },
    /// Values for an argument.
    Complete { reference: Value, argument: String, value: String },
    /// Interest in a resource.
    Subscribe(String),
    /// No more interest in it; only after a subscription.
    Unsubscribe(String),
    /// Interest in kinds of changes (2026-07-28), by the filter that names them.
    Listen(Value),
    /// No more interest in what was listened for last; only while something is.
    Unlisten,
    /// The stream of a GET, on which the server says what nobody asked for (2025-03-26 to 2025-11-25
    /// over HTTP); only one at a time.
    OpenStream,
    /// The end of that stream; only while there is one.
    CloseStream,
    /// From which level on to log.
    Level(&'static str),
    /// A call of a tool as a task (2025-11-25).
    Task { tool: String, arguments: Value },
    /// A request about the last task, by its method; only after a task, but for `tasks/list`.
    OfTask(&'static str),
}

impl Step {
    /// Whether it counts as a call.
    pub(super) fn is_call(&self) -> bool {
        matches!(
            self,
            Step::Call { .. }
                | Step::Read(_)
                | Step::Prompt { .. }
                | Step::Task { .. }
                | Step::OfTask("tasks/result")
        )
    }

    /// The params of its request.
    pub(super) fn params(&self) -> Value {
        match self {
            Step::Greet
            | Step::List(_)
            | Step::ListAll(_)
            | Step::NextPage(_)
            | Step::Unlisten
            | Step::OpenStream
            | Step::CloseStream
            | Step::OfTask(_) => Value::Null,
            Step::Task { tool, arguments } => {
                json!({ "name": tool, "arguments": arguments, "task": { "ttl": TASK_TTL } })
            }
            Step::Listen(filter) => json!({ "notifications": filter }),
            Step::Call { tool, arguments, .. } => json!({ "name": tool, "arguments": arguments }),
            Step::Read(uri) | Step::Subscribe(uri) | Step::Unsubscribe(uri) => {
                json!({ "uri": uri })
            }
            Step::Prompt { name, arguments } => json!({ "name": name, "arguments": arguments }),
            Step::Complete { reference, argument, value } => {
                json!({ "ref": reference, "argument": { "name": argument, "value": value } })
            }
            Step::Level(level) => json!({ "level": level }),
        }
    }

    /// Its method, in the handshake era; that of HTTP for streams.
    pub(super) fn method(&self) -> &'static str {
        match self {
            Step::Greet => "ping",
            Step::List(list) | Step::ListAll(list) | Step::NextPage(list) => LISTS[*list].0,
            Step::Call { .. } | Step::Task { .. } => "tools/call",
            Step::OfTask(method) => method,
            Step::Read(_) => "resources/read",
            Step::Prompt { .. } => "prompts/get",
            Step::Complete { .. } => "completion/complete",
            Step::Subscribe(_) => "resources/subscribe",
            Step::Unsubscribe(_) => "resources/unsubscribe",
            Step::Listen(_) => "subscriptions/listen",
            Step::Unlisten => "notifications/cancelled",
            Step::OpenStream | Step::CloseStream => "GET",
            Step::Level(_) => "logging/setLevel",
        }
    }

    /// What it would do, for people. Whether `hangs_up`: what cancels is the end of a connection.
    pub(super) fn preview(&self, hangs_up: bool) -> String {
        match self {
            Step::OpenStream => "GET".to_owned(),
            Step::CloseStream => "the end of that GET".to_owned(),
            Step::Unlisten if hangs_up => "the end of a subscriptions/listen".to_owned(),
            Step::Call { cancel: true, .. } if hangs_up => {
                format!("{} {}, hung up", self.method(), self.params())
            }
            Step::ListAll(_) => format!("{} (all pages)", self.method()),
            Step::NextPage(_) => format!("{} (the next page)", self.method()),
            Step::Unlisten => format!("{} (a subscription)", self.method()),
            Step::Call { cancel: true, .. } => {
                format!("{} {}, then notifications/cancelled", self.method(), self.params())
            }
            _ if self.params().is_null() => self.method().to_owned(),
            _ => format!("{} {}", self.method(), self.params()),
        }
    }
}

/// Whether every step may follow those before it.
pub(super) fn are_valid(steps: &[Step]) -> bool {
    let (mut subscribed, mut listed) = (BTreeSet::new(), BTreeSet::new());
    let (mut listening, mut has_task, mut has_stream) = (0_usize, false, false);
    steps.iter().all(|step| match step {
        Step::List(list) => {
            listed.insert(*list);
            true
        }
        Step::NextPage(list) => listed.contains(list),
        Step::Subscribe(uri) => {
            subscribed.insert(uri);
            true
        }
        Step::Unsubscribe(uri) => subscribed.remove(uri),
        Step::Listen(_) => {
            listening += 1;
            true
        }
        Step::Task { .. } => {
            has_task = true;
            true
        }
        Step::OpenStream => !std::mem::replace(&mut has_stream, true),
        Step::CloseStream => std::mem::replace(&mut has_stream, false),
        Step::OfTask(method) => has_task || *method == "tasks/list",
        Step::Unlisten => {
            let is_listening = listening > 0;
            listening = listening.saturating_sub(1);
            is_listening
        }
        _ => true,
    })
}
