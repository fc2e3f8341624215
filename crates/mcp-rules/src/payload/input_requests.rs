//! Entries of `inputRequests` (2026-07-28): requests without an envelope, judged as requests.

use mcp_json::{Node, Span};
use mcp_jsonrpc::ErrorCode;
use mcp_schema::{Schemas, Violation};

use super::{
    check::{self, Part},
    explain::explain,
};
use crate::{
    Findings,
    features::inputs::{REQUEST_INVALID, method_of},
    findings::Fault,
};

/// Reports the faults of entries of `inputRequests`. Returns whether there are any.
#[cold]
pub(crate) fn report_requests(
    schemas: &Schemas,
    result: Node<'_>,
    findings: &mut Findings<'_>,
) -> bool {
    let mut wrong = false;
    let entries = result.get("inputRequests");
    for (key, entry) in entries.into_iter().flat_map(Node::members) {
        wrong |= report_request(schemas, key, entry, findings);
    }
    wrong
}

fn report_request(
    schemas: &Schemas,
    key: Node<'_>,
    entry: Node<'_>,
    findings: &mut Findings<'_>,
) -> bool {
    let Some(method) = method_of(entry, findings.revision()) else {
        let at = entry.get("method").unwrap_or(entry).span();
        report_invalid(
            at,
            "the input request has none of the methods `elicitation/create`, `sampling/createMessage` and `roots/list`",
            findings,
        );
        return true;
    };
    let Some(params) = entry.get("params") else {
        if method.params_required {
            report_invalid(entry.span(), &format!("`{}` has no `params`", method.name), findings);
        }
        return method.params_required;
    };
    let Some(definition) = method.params else {
        return false;
    };
    if schemas.accepts(definition, params) {
        return false;
    }
    let violations: Vec<Violation> = explain(schemas, definition, params);
    let prefix = params_path(key);
    check::report_each(&violations, Part::InputRequest, method, &prefix, findings);
    !violations.is_empty()
}

#[cold]
fn report_invalid(at: Span, message: &str, findings: &mut Findings<'_>) {
    findings
        .report(Fault::new(&REQUEST_INVALID, message).at(at).code(ErrorCode::InternalError.code()));
}

/// JSON pointer to the params of the input request under `key`.
fn params_path(key: Node<'_>) -> String {
    let key = key.as_str().unwrap_or_default().replace('~', "~0").replace('/', "~1");
    format!("/result/inputRequests/{key}/params")
}
