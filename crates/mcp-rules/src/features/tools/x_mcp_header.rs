//! `x-mcp-header`: parameters of a tool that clients mirror into HTTP headers (2026-07-28).

use std::borrow::Cow;

use mcp_core::{Revision, Revisions};
use mcp_json::Node;

use crate::{Findings, Layer, Level, findings::Fault, format::token};

const MODERN: Revisions = Revisions::only(Revision::V2026_07_28);

rules! {
    NAME_INVALID: "x-mcp-header-name-invalid", ToolSchema, Level::Error, MODERN, "server/tools#x-mcp-header", Tolerated;
    DUPLICATE: "x-mcp-header-duplicate", ToolSchema, Level::Error, MODERN, "basic/transports/streamable-http#schema-extension", Tolerated;
    TYPE_INVALID: "x-mcp-header-type-invalid", ToolSchema, Level::Error, MODERN, "basic/transports/streamable-http#schema-extension", Tolerated;
    UNREACHABLE: "x-mcp-header-unreachable", ToolSchema, Level::Error, MODERN, "basic/transports/streamable-http#schema-extension", Tolerated;
}

/// The annotations in the `inputSchema` of a listed tool.
pub(crate) fn check(tool: Node<'_>, findings: &mut Findings<'_>) {
    if !MODERN.contains(findings.revision()) || findings.settings().stops_before(Layer::ToolSchema)
    {
        return;
    }
    if let Some(schema) = tool.get("inputSchema") {
        let mut names = Vec::new();
        walk(schema, Reach::Root, &mut names, findings);
    }
}

/// How a schema is reached from the root.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reach {
    Root,
    /// Through `properties` alone.
    Property,
    /// In any other way.
    Hidden,
}

fn walk<'a>(
    schema: Node<'a>,
    reach: Reach,
    names: &mut Vec<Cow<'a, [u8]>>,
    findings: &mut Findings<'_>,
) {
    for (keyword, value) in schema.members() {
        let Some(keyword) = keyword.str_bytes() else {
            continue;
        };
        match &*keyword {
            b"x-mcp-header" => check_annotation(schema, value, reach, names, findings),
            b"properties" => {
                let reach = match reach {
                    Reach::Root | Reach::Property => Reach::Property,
                    Reach::Hidden => Reach::Hidden,
                };
                for (_, property) in value.members() {
                    walk(property, reach, names, findings);
                }
            }
            b"patternProperties" | b"$defs" | b"definitions" | b"dependentSchemas"
            | b"dependencies" => {
                for (_, inner) in value.members() {
                    walk(inner, Reach::Hidden, names, findings);
                }
            }
            b"items"
            | b"prefixItems"
            | b"additionalItems"
            | b"unevaluatedItems"
            | b"contains"
            | b"additionalProperties"
            | b"unevaluatedProperties"
            | b"propertyNames"
            | b"allOf"
            | b"anyOf"
            | b"oneOf"
            | b"not"
            | b"if"
            | b"then"
            | b"else" => {
                walk(value, Reach::Hidden, names, findings);
                for inner in value.elements() {
                    walk(inner, Reach::Hidden, names, findings);
                }
            }
            _ => {}
        }
    }
}

fn check_annotation<'a>(
    schema: Node<'a>,
    annotation: Node<'a>,
    reach: Reach,
    names: &mut Vec<Cow<'a, [u8]>>,
    findings: &mut Findings<'_>,
) {
    if reach != Reach::Property {
        findings.report(
            Fault::new(&UNREACHABLE, "clients do not find `x-mcp-header` here")
                .at(annotation.span())
                .help(
                    "put it on a property that is reached from the root through `properties` alone",
                ),
        );
        return;
    }
    let primitive = schema.get("type").is_some_and(|kind| {
        ["string", "integer", "boolean"].into_iter().any(|name| kind.str_eq(name))
    });
    if !primitive {
        let at = schema.get("type").unwrap_or(annotation);
        findings.report(
            Fault::new(
                &TYPE_INVALID,
                "the parameter for a header is not a `string`, `integer` or `boolean`",
            )
            .at(at.span())
            .help("give the property one of these types, or take `x-mcp-header` away"),
        );
    }
    let Some(name) = annotation.str_bytes().filter(|name| token::is_token(name)) else {
        findings.report(
            Fault::new(&NAME_INVALID, "the value of `x-mcp-header` is not an HTTP token")
                .at(annotation.span())
                .help("use letters, digits and hyphens"),
        );
        return;
    };
    if names.iter().any(|earlier| earlier.eq_ignore_ascii_case(&name)) {
        findings.report(
            Fault::new(&DUPLICATE, "another parameter is mirrored into this header already")
                .at(annotation.span())
                .help("header names ignore case: give each parameter its own"),
        );
    } else {
        names.push(name);
    }
}
