//! Resources: their URIs, templates, listings and contents.

use mcp_core::{Revision, Revisions};
use mcp_json::Node;

use crate::{
    Findings, Level,
    features::{
        repeated::repeated,
        walk::{self, Thing},
    },
    findings::Fault,
};

rules! {
    URI_INVALID: "resource-uri-invalid", Schema, Level::ErrorIn(Revisions::from(Revision::V2025_06_18)), Revisions::ALL, "server/resources#custom-uri-schemes";
    URI_TEMPLATE_INVALID: "resource-uri-template-invalid", Schema, Level::Warning, Revisions::ALL, "server/resources#resource-templates";
    URI_DUPLICATE: "resource-uri-duplicate", Schema, Level::Warning, Revisions::ALL, "server/resources#resource";
    TEXT_AND_BLOB: "resource-text-and-blob", Schema, Level::Warning, Revisions::ALL, "server/resources#resource-contents";
    EMPTY_CONTENTS: "resource-empty-contents", Schema, Level::Warning, Revisions::only(Revision::V2026_07_28), "server/resources#error-handling";
    URI_PROVIDER: "resource-uri-provider", Schema, Level::OptIn, Revisions::ALL, "";
}

/// Checks the result of `resources/list`.
pub(crate) fn check_list(result: Node<'_>, findings: &mut Findings<'_>) {
    let Some(list) = result.get("resources") else {
        return;
    };
    for resource in list.elements() {
        if let Some(uri) = resource.get("uri") {
            check_uri(uri, findings);
        }
        walk::described(resource, Thing::Resource, findings);
    }
    for uri in repeated(list, "uri") {
        findings.report(
            Fault::new(&URI_DUPLICATE, "the page already lists this URI")
                .at(uri.span())
                .help("a URI identifies a resource: list each one once"),
        );
    }
}

/// Checks the result of `resources/templates/list`.
pub(crate) fn check_templates(result: Node<'_>, findings: &mut Findings<'_>) {
    let list = result.get("resourceTemplates");
    for template in list.into_iter().flat_map(Node::elements) {
        if let Some(uri) = template.get("uriTemplate") {
            check_template(uri, findings);
        }
        walk::described(template, Thing::Resource, findings);
    }
}

/// Checks the result of `resources/read`.
pub(crate) fn check_read(result: Node<'_>, findings: &mut Findings<'_>) {
    let Some(contents) = result.get("contents") else {
        return;
    };
    for item in contents.elements() {
        walk::contents(item, findings);
    }
    if contents.is_empty() {
        findings.report(
            Fault::new(&EMPTY_CONTENTS, "the result of `resources/read` has no contents")
                .at(contents.span())
                .help("answer −32602 if it does not exist; if it is empty, send an empty `text`"),
        );
    }
}

/// Checks `params.uri`, or any other member that names a resource.
pub(crate) fn check_member(node: Node<'_>, member: &str, findings: &mut Findings<'_>) {
    if let Some(uri) = node.get(member) {
        check_uri(uri, findings);
    }
}

/// Checks the URI of a resource.
pub(crate) fn check_uri(uri: Node<'_>, findings: &mut Findings<'_>) {
    let Some(bytes) = uri.str_bytes() else { return };
    if !mcp_schema::is_plain_uri(&bytes) || findings.wants(&URI_PROVIDER) {
        check_uri_thoroughly(uri, findings);
    }
}

#[inline(never)]
fn check_uri_thoroughly(uri: Node<'_>, findings: &mut Findings<'_>) {
    let Some(text) = uri.as_str() else { return };
    if let Err(fault) = mcp_schema::absolute_uri(&text) {
        let span = match fault.position() {
            Some(position) => {
                let length = text.get(position..).and_then(|rest| rest.chars().next());
                walk::inside(uri, position, length.map_or(1, char::len_utf8))
            }
            None => uri.span(),
        };
        findings.report(
            Fault::new(&URI_INVALID, fault.to_string())
                .at(span)
                .help("send an absolute URI (RFC 3986), such as `file:///notes.txt`"),
        );
    } else if findings.wants(&URI_PROVIDER)
        && let Err(fault) = mcp_schema::provider_uri(&text)
    {
        findings.report(
            Fault::new(&URI_PROVIDER, fault.to_string())
                .at(uri.span())
                .help("put the name of the provider after `resource://`"),
        );
    }
}

/// Checks a `uriTemplate`, or the URI of a `ref/resource`.
pub(crate) fn check_template(template: Node<'_>, findings: &mut Findings<'_>) {
    let Some(text) = template.as_str() else {
        return;
    };
    if let Err(fault) = mcp_schema::uri_template(&text) {
        let length = text.get(fault.position..).and_then(|rest| rest.chars().next());
        let span = walk::inside(template, fault.position, length.map_or(1, char::len_utf8));
        findings.report(
            Fault::new(&URI_TEMPLATE_INVALID, fault.to_string())
                .at(span)
                .help("follow RFC 6570: `{name}`, `{+path}`, `{?query,limit}`"),
        );
    }
}

#[cold]
pub(crate) fn report_text_and_blob(blob: Node<'_>, findings: &mut Findings<'_>) {
    findings.report(
        Fault::new(&TEXT_AND_BLOB, "the contents have both `text` and `blob`")
            .at(blob.span())
            .help("send `text` for text, and `blob` for everything else"),
    );
}
