//! Results that ask for input (2026-07-28): the questions and the answers.
//!
//! An entry of `inputRequests` is a request without an envelope and is judged as one; an entry of
//! `inputResponses` is judged as a result.

use mcp_core::{Revision, Revisions};
use mcp_json::Node;
use mcp_jsonrpc::ErrorCode;
use mcp_schema::Method;

use crate::{
    Findings, Level,
    criteria::Criteria,
    features::{
        elicitation, roots, sampling,
        walk::{self, Thing},
    },
    findings::Fault,
};

const MODERN: Revisions = Revisions::only(Revision::V2026_07_28);

rules! {
    NOT_ALLOWED: "input-required-not-allowed", Session, Level::Error, MODERN, "basic/patterns/mrtr#supported-requests";
    EMPTY: "input-required-empty", Schema, Level::Error, MODERN, "basic/patterns/mrtr#server-requirements-basic-workflow";
    REQUEST_INVALID: "input-request-invalid", Schema, Level::Error, MODERN, "basic/patterns/mrtr#server-requirements-basic-workflow";
}

/// Reports a result that asks for input although its method cannot be retried with answers.
#[cold]
pub(crate) fn report_not_allowed(
    method: &'static Method,
    result: Node<'_>,
    findings: &mut Findings<'_>,
) {
    findings.report(
        Fault::new(&NOT_ALLOWED, format!("the result of `{}` must not ask for input", method.name))
            .at(result.get("resultType").unwrap_or(result).span())
            .code(ErrorCode::InternalError.code())
            .help("ask in the result of `tools/call`, `prompts/get` or `resources/read`"),
    );
}

/// Checks that an `input_required` result says what it wants.
pub(crate) fn check_not_empty(result: Node<'_>, findings: &mut Findings<'_>) -> bool {
    let asks = result.get("inputRequests").is_some() || result.get("requestState").is_some();
    if !asks {
        findings.report(
            Fault::new(&EMPTY, "the result asks for input without saying which")
                .at(result.span())
                .code(ErrorCode::InternalError.code())
                .help("add `inputRequests`, or `requestState` for a plain retry"),
        );
    }
    asks
}

/// Applies the deeper rules to the entries of `inputRequests`.
pub(crate) fn check_requests(criteria: &Criteria, result: Node<'_>, findings: &mut Findings<'_>) {
    let entries = result.get("inputRequests");
    for (_, entry) in entries.into_iter().flat_map(Node::members) {
        let method = method_of(entry, findings.revision());
        let (Some(method), Some(params)) = (method, entry.get("params")) else {
            continue;
        };
        match method.name {
            "elicitation/create" => elicitation::check_request(params, findings),
            "sampling/createMessage" => {
                sampling::check_request(criteria, params, findings);
            }
            _ => walk::described(params, Thing::Other, findings),
        }
    }
}

/// Applies the deeper rules to the entries of `inputResponses`, whose kind follows from their
/// shape.
pub(crate) fn check_responses(params: Node<'_>, findings: &mut Findings<'_>) {
    if !MODERN.contains(findings.revision()) {
        return;
    }
    let Some(answers) = params.get("inputResponses") else {
        return;
    };
    for (_, answer) in answers.members() {
        if answer.get("roots").is_some() {
            roots::check_result(answer, findings);
        } else if answer.get("model").is_some() {
            sampling::check_result(answer, findings);
            walk::described(answer, Thing::Other, findings);
        }
    }
}

/// The method of an entry of `inputRequests`, if it may be used there.
pub(crate) fn method_of(entry: Node<'_>, revision: Revision) -> Option<&'static Method> {
    let name = entry.get("method")?.str_bytes()?;
    mcp_schema::method(revision, &name).filter(|method| method.input_request_only)
}
