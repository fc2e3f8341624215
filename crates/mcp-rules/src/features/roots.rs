//! Roots that a client lists.

use mcp_core::Revisions;
use mcp_json::Node;

use super::walk::{self, Thing};
use crate::{Findings, Level, findings::Fault};

rules! {
    URI_NOT_FILE: "root-uri-not-file", Schema, Level::Error, Revisions::ALL, "client/roots#root";
}

/// Checks the result of `roots/list`, or the answer to such an input request.
pub(crate) fn check_result(result: Node<'_>, findings: &mut Findings<'_>) {
    for root in result.get("roots").into_iter().flat_map(Node::elements) {
        if let Some(uri) = root.get("uri")
            && let Some(text) = uri.str_bytes()
            && !text.starts_with(b"file://")
        {
            findings.report(
                Fault::new(&URI_NOT_FILE, "the URI of the root does not start with `file://`")
                    .at(uri.span())
                    .help("convert the absolute path with a library function for file URLs"),
            );
        }
        walk::described(root, Thing::Other, findings);
    }
}
