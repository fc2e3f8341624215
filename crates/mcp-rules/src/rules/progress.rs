//! Progress tokens, and the other ids that notifications repeat. A token of a wrong type is a
//! violation of the definition; the table of refinements names it.

use mcp_core::{Revision, Revisions};
use mcp_json::Node;

use super::json;
use crate::{Findings, Level, findings::Fault};

rules! {
    TOKEN_TYPE: "progress-token-type", Session, Level::Error, Revisions::ALL, "basic/utilities/progress#progress-flow";
    CANCEL_MISSING_REQUEST_ID: "cancel-missing-request-id", Session, Level::Error, Revisions::only(Revision::V2025_11_25), "basic/utilities/cancellation#cancellation-flow";
}

/// The params of `notifications/progress`.
pub(crate) fn check_progress(params: Node<'_>, findings: &mut Findings<'_>) {
    if let Some(token) = params.get("progressToken") {
        json::check_integer("progressToken", token, findings);
    }
}

/// The params of `notifications/cancelled`.
pub(crate) fn check_cancelled(params: Node<'_>, findings: &mut Findings<'_>) {
    match params.get("requestId") {
        Some(id) => json::check_integer("requestId", id, findings),
        None => findings.report(
            Fault::new(&CANCEL_MISSING_REQUEST_ID, "the cancellation does not name the request")
                .at(params.span())
                .help("add `requestId`; a task is cancelled with `tasks/cancel`"),
        ),
    }
}
