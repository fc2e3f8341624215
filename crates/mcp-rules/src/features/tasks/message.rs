//! Tasks of 2025-11-25: rules about single messages.

use mcp_core::{Revision, Revisions};
use mcp_json::Node;
use mcp_jsonrpc::ErrorCode;
use mcp_schema::Method;

use crate::{Findings, Level, findings::Fault, format::date_time};

const ONLY: Revisions = Revisions::only(Revision::V2025_11_25);

rules! {
    TIMESTAMP_INVALID: "task-timestamp-invalid", Schema, Level::Error, ONLY, "basic/utilities/tasks#ttl-and-resource-management";
    RESULT_TYPE: "task-result-type", Session, Level::Error, ONLY, "basic/utilities/tasks#result-retrieval";
    CREATE_UNEXPECTED: "task-create-result-unexpected", Session, Level::Error, ONLY, "basic/utilities/tasks#creating-tasks";
}

/// Checks a task, or any object with the members of one.
pub(crate) fn check(task: Node<'_>, findings: &mut Findings<'_>) {
    for member in ["createdAt", "lastUpdatedAt"] {
        if let Some(node) = task.get(member)
            && let Some(text) = node.str_bytes()
            && !date_time::is_rfc3339(&text)
        {
            findings.report(
                Fault::new(&TIMESTAMP_INVALID, format!("`{member}` is not an RFC 3339 date-time"))
                    .at(node.span())
                    .help("write it as `2025-11-25T10:30:00Z`"),
            );
        }
    }
}

/// Checks the result of `tasks/list`.
pub(crate) fn check_list(result: Node<'_>, findings: &mut Findings<'_>) {
    for task in result.get("tasks").into_iter().flat_map(Node::elements) {
        check(task, findings);
    }
}

/// Whether `result` creates a task, in a revision that has them and with the rule's layer enabled.
pub(crate) fn creates_task(result: Node<'_>, findings: &Findings<'_>) -> bool {
    CREATE_UNEXPECTED.applies.contains(findings.revision())
        && !findings.settings().stops_before(CREATE_UNEXPECTED.layer)
        && result.get("task").is_some_and(|task| task.get("taskId").is_some_and(Node::is_string))
}

/// Reports a task created although the request did not ask for one.
#[cold]
pub(crate) fn report_unexpected(
    result: Node<'_>,
    method: &'static Method,
    findings: &mut Findings<'_>,
) {
    findings.report(
        Fault::new(
            &CREATE_UNEXPECTED,
            format!("`{}` is answered with a task that it did not ask for", method.name),
        )
        .at(result.get("task").unwrap_or(result).span())
        .code(ErrorCode::InternalError.code())
        .help("create tasks only for requests with `params.task`"),
    );
}
