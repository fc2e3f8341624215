//! `_meta`: its keys, and the trace context in it.

use std::borrow::Cow;

use mcp_core::{Revision, Revisions};
use mcp_json::Node;

use super::{icons, modern};
use crate::{
    Findings, Level,
    conversation::{META_CAPABILITIES, META_CLIENT_INFO, META_SERVER_INFO, META_VERSION},
    findings::Fault,
    format::{meta_key, trace_context},
    wire::json,
};

const WITH_GRAMMAR: Revisions = Revisions::from(Revision::V2025_06_18);

rules! {
    KEY_INVALID: "meta-key-invalid", Schema, Level::Error, WITH_GRAMMAR, "basic#_meta";
    KEY_RESERVED: "meta-key-reserved", Schema, Level::Warning, WITH_GRAMMAR, "basic#_meta";
    TRACE_CONTEXT_INVALID: "trace-context-invalid", Schema, Level::Error, Revisions::only(Revision::V2026_07_28), "basic#_meta";
}

/// The prefix of keys that revisions define.
const PREFIX: &[u8] = b"io.modelcontextprotocol/";

/// Checks the `_meta` of an object, a notification or a result.
pub(crate) fn check(meta: Node<'_>, findings: &mut Findings<'_>) {
    if !WITH_GRAMMAR.contains(findings.revision()) {
        return;
    }
    for (key, value) in meta.members() {
        if let Some(name) = key.str_bytes() {
            check_entry(&name, key, value, findings);
        }
    }
}

/// Checks the `_meta` of a result, which in 2026-07-28 names the server.
pub(crate) fn check_result(meta: Node<'_>, findings: &mut Findings<'_>) {
    check(meta, findings);
    if findings.revision() >= Revision::V2026_07_28 {
        icons::check_implementation(meta.get(META_SERVER_INFO), findings);
    }
}

/// Checks the `_meta` of a request: its progress token and, in 2026-07-28, the required metadata.
pub(crate) fn check_request(meta: Node<'_>, findings: &mut Findings<'_>) {
    let has_grammar = WITH_GRAMMAR.contains(findings.revision());
    let modern = findings.revision() >= Revision::V2026_07_28;
    let mut client_info = None;
    for (key, value) in meta.members() {
        let Some(name) = key.str_bytes() else {
            continue;
        };
        match &*name {
            b"progressToken" => json::check_integer("progressToken", value, findings),
            name if modern && name == META_VERSION.as_bytes() => {}
            name if modern && name == META_CAPABILITIES.as_bytes() => {
                modern::check_extensions(value, findings);
            }
            name if modern && name == META_CLIENT_INFO.as_bytes() => client_info = Some(value),
            name if has_grammar => check_entry(name, key, value, findings),
            _ => {}
        }
    }
    if modern {
        modern::check_client_info(meta, client_info, findings);
    }
}

#[inline]
fn check_entry(name: &[u8], key: Node<'_>, value: Node<'_>, findings: &mut Findings<'_>) {
    if let Some(rest) = name.strip_prefix(PREFIX) {
        // The prefix is well-formed; names the revision defines are the common case.
        if is_defined(rest, findings.revision()) {
            return;
        }
    } else if matches!(name, b"traceparent" | b"tracestate" | b"baggage") {
        check_trace_context(name, value, findings);
        return;
    }
    if !meta_key::is_valid(name) {
        report_invalid(name, key, findings);
    } else if meta_key::is_reserved(name, findings.revision()) && !findings.extensible() {
        report_reserved(name, key, findings);
    }
}

/// Whether the revision defines this name under the protocol's own prefix.
fn is_defined(name: &[u8], revision: Revision) -> bool {
    match revision {
        Revision::V2025_11_25 => {
            matches!(name, b"related-task" | b"model-immediate-response")
        }
        Revision::V2026_07_28 => matches!(
            name,
            b"protocolVersion"
                | b"clientCapabilities"
                | b"clientInfo"
                | b"logLevel"
                | b"serverInfo"
                | b"subscriptionId"
        ),
        _ => false,
    }
}

#[cold]
fn report_invalid(name: &[u8], key: Node<'_>, findings: &mut Findings<'_>) {
    findings.report(
        Fault::new(
            &KEY_INVALID,
            format!("`{}` breaks the grammar of `_meta` keys", shown(name)),
        )
        .at(key.span())
        .help("write a name of letters, digits, `-`, `_`, `.`, with an optional prefix such as `com.example/`"),
    );
}

#[cold]
fn report_reserved(name: &[u8], key: Node<'_>, findings: &mut Findings<'_>) {
    findings.report(
        Fault::new(
            &KEY_RESERVED,
            format!("the prefix of `{}` is reserved for the protocol", shown(name)),
        )
        .at(key.span())
        .help("use a prefix of your own, such as `com.example/`"),
    );
}

fn check_trace_context(name: &[u8], value: Node<'_>, findings: &mut Findings<'_>) {
    let (is_valid, help): (fn(&[u8]) -> bool, _) = match name {
        b"traceparent" => (
            trace_context::is_traceparent,
            "write `00-<32 hex digits>-<16 hex digits>-<2 hex digits>`, lower case, ids not zero",
        ),
        b"tracestate" => {
            (trace_context::is_tracestate, "write `key=value`, several separated by commas")
        }
        _ => (
            trace_context::is_baggage,
            "write `key=value`, several separated by commas, values percent-encoded",
        ),
    };
    if !value.str_bytes().is_some_and(|text| is_valid(&text)) {
        findings.report(
            Fault::new(
                &TRACE_CONTEXT_INVALID,
                format!("`{}` does not have the W3C format", shown(name)),
            )
            .at(value.span())
            .help(help),
        );
    }
}

fn shown(name: &[u8]) -> Cow<'_, str> {
    String::from_utf8_lossy(name)
}
