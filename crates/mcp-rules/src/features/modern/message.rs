//! What 2026-07-28 requires of every request and result, as no handshake states it once.

use mcp_core::{Revision, Revisions};
use mcp_json::Node;
use mcp_jsonrpc::ErrorCode;

use crate::{
    Answered, Findings, Level,
    conversation::{META_CAPABILITIES, META_CLIENT_INFO, META_VERSION},
    features::icons,
    findings::Fault,
    format::meta_key,
};

const MODERN: Revisions = Revisions::only(Revision::V2026_07_28);

rules! {
    REQUEST_META_MISSING: "request-meta-missing", Schema, Level::Error, MODERN, "basic#_meta";
    CLIENT_INFO_MISSING: "client-info-missing", Schema, Level::Warning, MODERN, "basic#_meta";
    SERVER_INFO_MISSING: "server-info-missing", Schema, Level::Warning, MODERN, "basic#_meta";
    RESULT_TYPE_MISSING: "result-type-missing", Schema, Level::Error, MODERN, "basic#resulttype", Tolerated;
    RESULT_TYPE_UNKNOWN: "result-type-unknown", Schema, Level::Error, MODERN, "basic#resulttype";
    EXTENSION_ID_INVALID: "extension-id-invalid", Session, Level::Error, MODERN, "basic/versioning#extension-negotiation";
}

/// Help for a request without `_meta`: "add `_meta`" alone would only lead to the next fault.
pub(crate) fn meta_help(lacking: &str) -> String {
    format!(
        "add `{lacking}` that has `{META_VERSION}`, `{META_CAPABILITIES}` and, if possible, \
         `{META_CLIENT_INFO}`"
    )
}

/// The `resultType` of a modern result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ResultType {
    Complete,
    InputRequired,
    /// Defined by an extension; only that knows the shape.
    Foreign,
    /// Already reported; the rest cannot be judged.
    Unusable,
}

/// Reads and checks `resultType`.
pub(crate) fn check_result_type(
    result: Node<'_>,
    answered: Answered,
    findings: &mut Findings<'_>,
) -> ResultType {
    let node = result.get("resultType");
    let text = node.and_then(Node::str_bytes);
    match text.as_deref() {
        Some(b"complete") => ResultType::Complete,
        Some(b"input_required") => ResultType::InputRequired,
        Some(_) if answered.extensions => ResultType::Foreign,
        Some(text) => {
            let message = format!(
                "the result type `{}` is unknown, and no extension was declared that could define it",
                String::from_utf8_lossy(text)
            );
            findings.report(
                Fault::new(&RESULT_TYPE_UNKNOWN, message)
                    .at(node.unwrap_or(result).span())
                    .code(ErrorCode::InternalError.code())
                    .help("use `complete` or `input_required`; other types need an extension that the request declares"),
            );
            ResultType::Unusable
        }
        None => {
            let message = match node {
                Some(_) => "the `resultType` of the result is not a string",
                None => "the result has no `resultType`",
            };
            findings.report(
                Fault::new(&RESULT_TYPE_MISSING, message)
                    .at(node.unwrap_or(result).span())
                    .code(ErrorCode::InternalError.code())
                    .help("add \"resultType\":\"complete\""),
            );
            ResultType::Unusable
        }
    }
}

/// Reports the session's first result that does not name its server.
#[cold]
pub(crate) fn report_server_info(result: Node<'_>, findings: &mut Findings<'_>) {
    let place = result.get("_meta").unwrap_or(result);
    findings.report(
        Fault::new(&SERVER_INFO_MISSING, "the result does not say which server sent it")
            .at(place.span())
            .help("add `io.modelcontextprotocol/serverInfo` to the `_meta` of every result"),
    );
}

/// Checks that the `_meta` of a request names the client.
pub(crate) fn check_client_info(
    meta: Node<'_>,
    client_info: Option<Node<'_>>,
    findings: &mut Findings<'_>,
) {
    if client_info.is_none() {
        findings.report(
            Fault::new(&CLIENT_INFO_MISSING, "the request does not say which client sent it")
                .at(meta.span())
                .help(format!("add `{META_CLIENT_INFO}` to the `_meta` of every request")),
        );
    }
    icons::check_implementation(client_info, findings);
}

/// Checks the names of extensions in declared capabilities.
pub(crate) fn check_extensions(capabilities: Node<'_>, findings: &mut Findings<'_>) {
    let Some(extensions) = capabilities.get("extensions") else {
        return;
    };
    for (key, _) in extensions.members() {
        let Some(name) = key.str_bytes() else {
            continue;
        };
        let message = if !meta_key::is_valid(&name) {
            "breaks the grammar of `_meta` keys"
        } else if !meta_key::has_prefix(&name) {
            "has no prefix"
        } else {
            continue;
        };
        let name = String::from_utf8_lossy(&name);
        findings.report(
            Fault::new(
                &EXTENSION_ID_INVALID,
                format!("the extension identifier `{name}` {message}"),
            )
            .at(key.span())
            .help("name an extension after a domain that you own: `com.example/name`"),
        );
    }
}

/// Whether a result is final; up to 2025-11-25 all are.
pub(crate) fn is_complete(result: Node<'_>) -> bool {
    result.get("resultType").is_none_or(|kind| kind.str_eq("complete"))
}
