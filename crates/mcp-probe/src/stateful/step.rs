//! A step of a walk as data, which can be repeated, left out and simplified.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::discover::LISTS;

/// The requested time to keep task results, in milliseconds.
const TASK_TTL: u64 = 60_000;

/// A step of a walk.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Step {
    /// `ping`, or `server/discover` in revisions without it.
    Greet,
    /// The first page of a list, by its index in [`LISTS`].
    List(usize),
    /// All pages of a list.
    ListAll(usize),
    /// The next page of a list; only after a page of it.
    NextPage(usize),
    /// Call a tool.
    Call { tool: String, arguments: Value, progress: bool, cancel: bool },
    /// Read a resource.
    Read(String),
    /// Get a prompt.
    Prompt { name: String, arguments: Value },
    /// Complete an argument.
    Complete { reference: Value, argument: String, value: String },
    /// Subscribe to a resource.
    Subscribe(String),
    /// Unsubscribe from it; only after a subscription.
    Unsubscribe(String),
    /// Subscribe to kinds of changes (2026-07-28), by filter.
    Listen(Value),
    /// Cancel the last such subscription; only while there is one.
    Unlisten,
    /// Open the GET stream for messages of the server (2025-03-26 to 2025-11-25 over HTTP); only
    /// one at a time.
    OpenStream,
    /// Close that stream; only while it is open.
    CloseStream,
    /// Set the log level.
    Level(&'static str),
    /// Call a tool as a task (2025-11-25).
    Task { tool: String, arguments: Value },
    /// Send a request about the last task, by method; only after a task, except `tasks/list`.
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

    /// Its method, in the handshake era; for streams the HTTP method.
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

    /// A description for a dry run. `hangs_up`: requests are cancelled by closing the connection.
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

/// Whether every step is valid after those before it.
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
