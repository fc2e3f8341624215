//! What RFC 8259 allows but peers mishandle.

use mcp_core::{Revision, Revisions};
use mcp_json::{Kind, Node};
use mcp_jsonrpc::Envelope;

use crate::{Findings, Level, findings::Fault};

rules! {
    INVALID_UTF8: "invalid-utf8", Json, Level::Error, Revisions::ALL, "basic/transports#messages";
    DUPLICATE_KEY: "json-duplicate-key", Json, Level::Warning, Revisions::ALL, "basic#messages";
    LONE_SURROGATE: "json-lone-surrogate", Json, Level::Warning, Revisions::ALL, "basic/transports#messages";
    DEPTH_LIMIT: "json-depth-limit", Json, Level::Warning, Revisions::ALL, "", Unjudged;
    UNSAFE_INTEGER: "id-unsafe-integer", Json, Level::Warning, Revisions::ALL, "";
    HTTP_BODY_NOT_JSON: "http-body-not-json", Json, Level::Error, Revisions::from(Revision::V2025_03_26), "basic/transports#sending-messages-to-the-server";
    MESSAGE_NOT_JSON: "message-not-json", Json, Level::Error, Revisions::ALL, "basic/transports#custom-transports";
    SSE_DATA_INVALID: "sse-data-invalid", Http, Level::Error, Revisions::from(Revision::V2025_03_26), "basic/transports#sending-messages-to-the-server";
}

/// Reports what the parser noticed but tolerated.
pub(crate) fn check(message: Node<'_>, findings: &mut Findings<'_>) {
    let document = message.document();
    if document.has_duplicate_keys() {
        report_duplicate_keys(message, findings);
    }
    if document.has_lone_surrogates() {
        report_lone_surrogates(message, findings);
    }
}

#[cold]
fn report_duplicate_keys(message: Node<'_>, findings: &mut Findings<'_>) {
    let within = message.span();
    // In ascending order.
    let entries: Vec<u32> = message.elements().map(Node::index).collect();
    for duplicate in message.document().duplicate_keys() {
        if duplicate.again.start < within.start || duplicate.again.end > within.end {
            continue;
        }
        let fault =
            Fault::new(&DUPLICATE_KEY, format!("the member `{}` occurs twice", duplicate.name))
                .at(duplicate.again)
                .help("parsers disagree on which one counts: write each member once");
        let object = duplicate.object.index();
        let entry = entries.binary_search(&object).ok();
        let decides = Envelope::MEMBERS.contains(&&*duplicate.name);
        if decides && (entry.is_some() || object == message.index()) {
            findings.scene().index = entry;
            findings.report(fault.ambiguous());
            findings.scene().index = None;
        } else {
            findings.report(fault);
        }
    }
}

#[cold]
fn report_lone_surrogates(message: Node<'_>, findings: &mut Findings<'_>) {
    let within = message.span();
    for span in message.document().lone_surrogates() {
        if span.start < within.start || span.end > within.end {
            continue;
        }
        findings.report(
            Fault::new(&LONE_SURROGATE, "half of a surrogate pair is not a character")
                .at(span)
                .help("write both halves, or the character itself in UTF-8"),
        );
    }
}

/// Reports an integer that a peer with double-precision numbers will change.
pub(crate) fn check_integer(member: &str, node: Node<'_>, findings: &mut Findings<'_>) {
    const SAFE: u64 = (1 << 53) - 1;
    if node.kind() != Kind::Integer || node.span().end - node.span().start < 16 {
        return;
    }
    if node.as_i64().is_none_or(|value| value.unsigned_abs() > SAFE) {
        findings.report(
            Fault::new(&UNSAFE_INTEGER, format!("`{member}` is beyond ±(2^53 − 1)"))
                .at(node.span())
                .help("use a smaller number, or a string"),
        );
    }
}
