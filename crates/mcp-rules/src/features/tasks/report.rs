use std::borrow::Cow;

use mcp_core::Revision;
use mcp_json::Node;

use crate::conversation::{Event, TaskStatus, digest::kept};

/// What a message reports about one task.
#[derive(Debug, Clone)]
pub(crate) struct Report<'a> {
    pub(crate) id: Cow<'a, str>,
    pub(crate) status: Option<TaskStatus>,
    /// The object that has the members of a task.
    pub(super) node: Node<'a>,
}

impl<'a> Report<'a> {
    fn of(node: Node<'a>) -> Option<Report<'a>> {
        let id = kept(node.get("taskId")?.as_str()?);
        Some(Report { id, status: node.get("status").and_then(TaskStatus::of), node })
    }

    /// The node that states the status.
    pub(super) fn status_node(&self) -> Node<'a> {
        self.node.get("status").unwrap_or(self.node)
    }
}

/// The task that an answer creates. If none was asked for, the answer must hold nothing else.
pub(crate) fn created<'a>(event: &Event<'a>) -> Option<Report<'a>> {
    if event.revision != Revision::V2025_11_25 {
        return None;
    }
    let request = event.answered()?;
    let result = event.result()?;
    let report = Report::of(result.get("task")?)?;
    let wanted = request.task && request.method()?.task_result.is_some();
    let nothing_else =
        || result.members().all(|(name, _)| name.str_eq("task") || name.str_eq("_meta"));
    (wanted || nothing_else()).then_some(report)
}

/// The tasks, created earlier, that a message reports on.
pub(crate) fn reports<'a>(event: &Event<'a>) -> impl Iterator<Item = Report<'a>> {
    let about_tasks = event.revision == Revision::V2025_11_25;
    let one = match event.name {
        "notifications/tasks/status" => event.params(),
        "tasks/get" | "tasks/cancel" => event.result(),
        _ => None,
    };
    let listed = event.result().filter(|_| event.name == "tasks/list");
    let listed = listed.and_then(|result| result.get("tasks"));
    one.into_iter()
        .chain(listed.into_iter().flat_map(Node::elements))
        .filter(move |_| about_tasks)
        .filter_map(Report::of)
}
