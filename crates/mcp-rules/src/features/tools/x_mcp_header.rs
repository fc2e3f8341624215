//! `x-mcp-header`: tool parameters that clients mirror into HTTP headers (2026-07-28).

use std::collections::HashSet;

use mcp_core::{Revision, Revisions};
use mcp_json::Node;

use crate::{Findings, Layer, Level, findings::Fault, mirrored::annotations};

const MODERN: Revisions = Revisions::only(Revision::V2026_07_28);

rules! {
    NAME_INVALID: "x-mcp-header-name-invalid", ToolSchema, Level::Error, MODERN, "server/tools#x-mcp-header", Tolerated;
    DUPLICATE: "x-mcp-header-duplicate", ToolSchema, Level::Error, MODERN, "basic/transports/streamable-http#schema-extension", Tolerated;
    TYPE_INVALID: "x-mcp-header-type-invalid", ToolSchema, Level::Error, MODERN, "basic/transports/streamable-http#schema-extension", Tolerated;
    UNREACHABLE: "x-mcp-header-unreachable", ToolSchema, Level::Error, MODERN, "basic/transports/streamable-http#schema-extension", Tolerated;
}

/// Checks the annotations in the `inputSchema` of a listed tool.
pub(crate) fn check(tool: Node<'_>, findings: &mut Findings<'_>) {
    if !MODERN.contains(findings.revision()) || findings.settings().stops_before(Layer::ToolSchema)
    {
        return;
    }
    let mut names = HashSet::new();
    for annotation in tool.get("inputSchema").map(annotations).unwrap_or_default() {
        let at = annotation.value.span();
        if annotation.path.is_none() {
            findings.report(
                Fault::new(&UNREACHABLE, "clients do not look for `x-mcp-header` here").at(at).help(
                    "put it on a property that is reached from the root through `properties` alone",
                ),
            );
            continue;
        }
        if !annotation.has_type() {
            let at = annotation.schema.get("type").map_or(at, Node::span);
            findings.report(
                Fault::new(
                    &TYPE_INVALID,
                    "the parameter with `x-mcp-header` is not a `string`, `integer` or `boolean`",
                )
                .at(at)
                .help("give the property one of these types, or remove `x-mcp-header`"),
            );
        }
        let Some(name) = annotation.name() else {
            findings.report(
                Fault::new(&NAME_INVALID, "the value of `x-mcp-header` is not an HTTP token")
                    .at(at)
                    .help("use letters, digits and hyphens"),
            );
            continue;
        };
        if !names.insert(name.to_ascii_lowercase()) {
            findings.report(
                Fault::new(&DUPLICATE, "another parameter is already mirrored into this header")
                    .at(at)
                    .help("header names ignore case: give each parameter a unique one"),
            );
        }
    }
}
