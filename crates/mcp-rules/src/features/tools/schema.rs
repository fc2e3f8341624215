//! The schemas that tools state: whether they are valid schemas.
//!
//! Only what is wrong or unusual is compiled here, through the engine's cache; the rest waits until
//! a call needs it.

use std::borrow::Cow;

use mcp_core::{Revision, Revisions};
use mcp_json::Node;
use mcp_schema::{Dialect, ToolSchemaError, Violation};

use crate::{Findings, Layer, Level, RuleMeta, criteria::Criteria, findings::Fault};

/// The revisions that require valid schemas and specify the dialect.
const WITH_DIALECT: Revisions = Revisions::from(Revision::V2025_11_25);
const WITH_OUTPUT: Revisions = Revisions::from(Revision::V2025_06_18);

rules! {
    INPUT_NOT_OBJECT: "tool-input-schema-not-object", ToolSchema, Level::Error, Revisions::ALL, "server/tools#tool";
    OUTPUT_NOT_OBJECT: "tool-output-schema-not-object", ToolSchema, Level::Error, Revisions::between(Revision::V2025_06_18, Revision::V2025_11_25), "server/tools#tool";
    INPUT_INVALID: "tool-input-schema-invalid", ToolSchema, Level::ErrorIn(WITH_DIALECT), Revisions::ALL, "basic#schema-validation";
    OUTPUT_INVALID: "tool-output-schema-invalid", ToolSchema, Level::ErrorIn(WITH_DIALECT), WITH_OUTPUT, "basic#schema-validation";
    DIALECT_UNKNOWN: "tool-schema-dialect-unknown", ToolSchema, Level::Warning, WITH_DIALECT, "basic#schema-dialect";
    EXTERNAL_REF: "tool-schema-external-ref", ToolSchema, Level::Warning, Revisions::only(Revision::V2026_07_28), "basic#ref-resolution";
}

/// Checks both schemas of a tool.
pub(crate) fn check(criteria: &Criteria, tool: Node<'_>, findings: &mut Findings<'_>) {
    if findings.settings().stops_before(Layer::ToolSchema) {
        return;
    }
    if let Some(schema) = tool.get("inputSchema") {
        check_schema(criteria, schema, &INPUT_INVALID, findings);
    }
    if WITH_OUTPUT.contains(findings.revision())
        && let Some(schema) = tool.get("outputSchema")
    {
        check_schema(criteria, schema, &OUTPUT_INVALID, findings);
    }
}

fn check_schema(
    criteria: &Criteria,
    schema: Node<'_>,
    invalid: &'static RuleMeta,
    findings: &mut Findings<'_>,
) {
    let Err(error) = criteria.tool_schemas().check(schema) else {
        return;
    };
    match error {
        ToolSchemaError::Invalid { violations } => {
            let assumed = schema.get("$schema").is_none();
            let stated = WITH_DIALECT.contains(findings.revision());
            if assumed && !stated && !is_invalid_draft_7(criteria, schema) {
                return;
            }
            report_invalid(schema, invalid, &violations, findings);
        }
        ToolSchemaError::UnknownDialect { dialect } => findings.report(
            Fault::new(
                &DIALECT_UNKNOWN,
                format!("`{dialect}` is not a dialect that every implementation supports"),
            )
            .at(schema.get("$schema").unwrap_or(schema).span())
            .help(format!(
                "use {}, which every implementation must support",
                Dialect::default().uri()
            )),
        ),
        ToolSchemaError::ExternalRef { reference } => {
            report_external(schema, &reference, findings);
        }
        _ => {}
    }
}

fn is_invalid_draft_7(criteria: &Criteria, schema: Node<'_>) -> bool {
    matches!(
        criteria.tool_schemas().compile_as(schema, Dialect::Draft7),
        Err(ToolSchemaError::Invalid { .. })
    )
}

/// Reports once per schema, at the first violation of the meta-schema. Schemas that only our
/// compiler rejects (a regular expression for another engine) are not the peer's fault.
#[cold]
fn report_invalid(
    schema: Node<'_>,
    rule: &'static RuleMeta,
    violations: &[Violation],
    findings: &mut Findings<'_>,
) {
    let Some(violation) = violations.iter().find(|violation| violation.schema_path != "#") else {
        return;
    };
    // The cache keys schemas by their text, which may have appeared elsewhere before.
    let at = schema.pointer(&violation.instance_path).unwrap_or(schema);
    findings.report(
        Fault::new(rule, format!("not a valid schema: {violation}"))
            .at(at.span())
            .help("check it against the meta-schema of its dialect, by default 2020-12"),
    );
}

/// Reports each reference that leads outside the schema.
#[cold]
fn report_external(schema: Node<'_>, first: &str, findings: &mut Findings<'_>) {
    let mut ids = Vec::new();
    let mut references = Vec::new();
    collect(schema, &mut ids, &mut references);
    for node in references {
        let Some(reference) = node.as_str() else {
            continue;
        };
        let document = reference.split('#').next().unwrap_or_default();
        let known = ids.iter().any(|id| id.trim_end_matches('#') == document);
        let external = is_network(document) && !known;
        let relative = !document.is_empty()
            && *reference == *first
            && ids.first().is_some_and(|base| is_network(base));
        if external || (relative && !known) {
            findings.report(
                Fault::new(
                    &EXTERNAL_REF,
                    "the schema refers to another document, which must not be fetched",
                )
                .at(node.span())
                .help("copy the schema into `$defs` and refer to it as `#/$defs/…`"),
            );
        }
    }
}

/// Collects the identifiers and references of a schema, in order. Values that are data are skipped.
pub(crate) fn collect<'a>(
    node: Node<'a>,
    ids: &mut Vec<Cow<'a, str>>,
    references: &mut Vec<Node<'a>>,
) {
    for element in node.elements() {
        collect(element, ids, references);
    }
    for (name, value) in node.members() {
        let Some(name) = name.str_bytes() else {
            continue;
        };
        match &*name {
            b"$id" | b"id" if value.is_string() => ids.extend(value.as_str()),
            b"$ref" | b"$dynamicRef" if value.is_string() => references.push(value),
            b"const" | b"default" | b"enum" | b"examples" => {}
            // The names here are not keywords.
            b"properties" | b"patternProperties" | b"$defs" | b"definitions"
            | b"dependentSchemas" => {
                for (_, inner) in value.members() {
                    collect(inner, ids, references);
                }
            }
            _ => collect(value, ids, references),
        }
    }
}

fn is_network(uri: &str) -> bool {
    let scheme = uri.split_once(':').map_or("", |(scheme, _)| scheme);
    ["http", "https", "ftp", "ftps", "ws", "wss"]
        .into_iter()
        .any(|network| scheme.eq_ignore_ascii_case(network))
}
