//! Completion: the number of values, and the counts stated for the rest.

use mcp_core::Revisions;
use mcp_json::Node;

use super::resources;
use crate::{Findings, Level, findings::Fault};

/// Maximum number of values in a result.
const MOST: usize = 100;

rules! {
    TOO_MANY_VALUES: "completion-too-many-values", Schema, Level::Error, Revisions::ALL, "server/utilities/completion#completion-results";
    COUNTS_INCONSISTENT: "completion-counts-inconsistent", Schema, Level::Warning, Revisions::ALL, "server/utilities/completion#completion-results";
}

/// Checks the params of `completion/complete`.
pub(crate) fn check_request(params: Node<'_>, findings: &mut Findings<'_>) {
    let Some(reference) = params.get("ref") else {
        return;
    };
    let of_resource = reference.get("type").is_some_and(|kind| kind.str_eq("ref/resource"));
    if of_resource && let Some(uri) = reference.get("uri") {
        resources::check_template(uri, findings);
    }
}

/// Checks the result of `completion/complete`.
pub(crate) fn check_result(result: Node<'_>, findings: &mut Findings<'_>) {
    let Some(completion) = result.get("completion") else {
        return;
    };
    let Some(values) = completion.get("values") else {
        return;
    };
    let count = values.len();
    if count > MOST {
        findings.report(
            Fault::new(&TOO_MANY_VALUES, format!("{count} values exceed the limit of {MOST}"))
                .at(values.span())
                .help("send the best 100 and set `hasMore`"),
        );
    }
    let Some(total) = completion.get("total") else {
        return;
    };
    let Some(number) = total.as_f64() else { return };
    #[expect(clippy::cast_precision_loss, reason = "no list is that long")]
    let count = count as f64;
    let complete = completion.get("hasMore").and_then(Node::as_bool) == Some(false);
    let message = if number < count {
        "`total` is smaller than the number of values"
    } else if complete && number > count {
        "`hasMore` is false although `total` is larger than the number of values"
    } else {
        return;
    };
    findings.report(
        Fault::new(&COUNTS_INCONSISTENT, message)
            .at(total.span())
            .help("count all matches in `total`, including those not sent, or omit it"),
    );
}
