//! Tools that conform to the specification and still do not work everywhere: what well-known
//! clients and model providers refuse, drop or change.
//!
//! None of this is a protocol fault, so every rule is off by default; the profile `portability`
//! enables all of them. The documentation of each rule names who objects and cites the source.

mod node;
mod references;
mod schema;
mod subschema;
mod tool;

use mcp_core::Revisions;
use mcp_json::Node;

use crate::{Findings, Level, findings::Fault};

/// Maximum tools `OpenAI` accepts in a request, and therefore VS Code and others too.
const MOST_TOOLS: usize = 128;

rules! {
    TOO_MANY_TOOLS: "portable-too-many-tools", ToolSchema, Level::OptIn, Revisions::ALL, "";
    NAME_LENGTH: "portable-tool-name-length", ToolSchema, Level::OptIn, Revisions::ALL, "";
    NAME_CHARSET: "portable-tool-name-charset", ToolSchema, Level::OptIn, Revisions::ALL, "";
    NAME_START: "portable-tool-name-start", ToolSchema, Level::OptIn, Revisions::ALL, "";
    DESCRIPTION_MISSING: "portable-description-missing", ToolSchema, Level::OptIn, Revisions::ALL, "";
    DESCRIPTION_LENGTH: "portable-description-length", ToolSchema, Level::OptIn, Revisions::ALL, "";
    TOP_LEVEL_UNION: "portable-top-level-union", ToolSchema, Level::OptIn, Revisions::ALL, "";
    PROPERTY_NAME: "portable-property-name", ToolSchema, Level::OptIn, Revisions::ALL, "";
    DIALECT: "portable-dialect", ToolSchema, Level::OptIn, Revisions::ALL, "";
    REFERENCE: "portable-reference", ToolSchema, Level::OptIn, Revisions::ALL, "";
    RECURSIVE_SCHEMA: "portable-recursive-schema", ToolSchema, Level::OptIn, Revisions::ALL, "";
    DEEP_NESTING: "portable-deep-nesting", ToolSchema, Level::OptIn, Revisions::ALL, "";
    SCHEMA_SIZE: "portable-schema-size", ToolSchema, Level::OptIn, Revisions::ALL, "";
    BOOLEAN_SCHEMA: "portable-boolean-schema", ToolSchema, Level::OptIn, Revisions::ALL, "";
    MISSING_TYPE: "portable-missing-type", ToolSchema, Level::OptIn, Revisions::ALL, "";
    UNION_TYPE: "portable-union-type", ToolSchema, Level::OptIn, Revisions::ALL, "";
    ARRAY_WITHOUT_ITEMS: "portable-array-without-items", ToolSchema, Level::OptIn, Revisions::ALL, "";
    TUPLE: "portable-tuple", ToolSchema, Level::OptIn, Revisions::ALL, "";
    OBJECT_WITHOUT_PROPERTIES: "portable-object-without-properties", ToolSchema, Level::OptIn, Revisions::ALL, "";
    OPEN_MAP: "portable-open-map", ToolSchema, Level::OptIn, Revisions::ALL, "";
    REQUIRED_UNDEFINED: "portable-required-undefined", ToolSchema, Level::OptIn, Revisions::ALL, "";
    FORMAT: "portable-format", ToolSchema, Level::OptIn, Revisions::ALL, "";
    ENUM_VALUE: "portable-enum-value", ToolSchema, Level::OptIn, Revisions::ALL, "";
    PATTERN_LOOKAROUND: "portable-pattern-lookaround", ToolSchema, Level::OptIn, Revisions::ALL, "";
    COMPOSITION: "portable-composition", ToolSchema, Level::OptIn, Revisions::ALL, "";
    KEYWORD: "portable-keyword", ToolSchema, Level::OptIn, Revisions::ALL, "";
}

/// Checks the tools of one page of a listing.
pub(crate) fn check(list: Node<'_>, findings: &mut Findings<'_>) {
    if !RULES.iter().any(|rule| findings.wants(rule)) {
        return;
    }
    let count = list.elements().count();
    if count > MOST_TOOLS {
        let first_beyond = list.elements().nth(MOST_TOOLS).unwrap_or(list);
        findings.report(
            Fault::new(
                &TOO_MANY_TOOLS,
                format!("{count} tools on one page; OpenAI models and VS Code accept {MOST_TOOLS}"),
            )
            .at(first_beyond.span())
            .help("offer fewer tools, or let users enable groups of them"),
        );
    }
    for tool in list.elements() {
        tool::check(tool, findings);
        if let Some(input) = tool.get("inputSchema") {
            schema::check(input, findings);
            references::check(input, findings);
            schema::check_dialect(input, findings);
        }
        if let Some(output) = tool.get("outputSchema") {
            references::check(output, findings);
            schema::check_dialect(output, findings);
        }
    }
}
