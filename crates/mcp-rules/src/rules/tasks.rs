//! Tasks of 2025-11-25, as far as one message shows them.

use mcp_core::{Revision, Revisions};
use mcp_json::Node;

use crate::{Findings, Level, findings::Fault, format::date_time};

rules! {
    TIMESTAMP_INVALID: "task-timestamp-invalid", Schema, Level::Error, Revisions::only(Revision::V2025_11_25), "basic/utilities/tasks#ttl-and-resource-management";
}

/// A task, or whatever has the members of one.
pub(crate) fn check(task: Node<'_>, findings: &mut Findings<'_>) {
    for member in ["createdAt", "lastUpdatedAt"] {
        if let Some(node) = task.get(member)
            && let Some(text) = node.str_bytes()
            && !date_time::is_rfc3339(&text)
        {
            findings.report(
                Fault::new(
                    &TIMESTAMP_INVALID,
                    format!("`{member}` is not a date and time by RFC 3339"),
                )
                .at(node.span())
                .help("write it as `2025-11-25T10:30:00Z`"),
            );
        }
    }
}

/// The result of `tasks/list`.
pub(crate) fn check_list(result: Node<'_>, findings: &mut Findings<'_>) {
    for task in result.get("tasks").into_iter().flat_map(Node::elements) {
        check(task, findings);
    }
}
