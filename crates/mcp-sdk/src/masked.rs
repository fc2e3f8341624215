//! Paths into messages, with names chosen by the peer masked for the log.

use mcp_core::Side;
use mcp_rules::Finding;

/// Names that may occur in a log: those of the protocol, and those of JSON Schema.
const KNOWN: &[&str] = &[
    "#",
    "$defs",
    "$ref",
    "$schema",
    "_meta",
    "additionalProperties",
    "allOf",
    "annotations",
    "anyOf",
    "arguments",
    "blob",
    "capabilities",
    "clientInfo",
    "code",
    "completion",
    "const",
    "content",
    "contents",
    "context",
    "cursor",
    "data",
    "definitions",
    "dependentRequired",
    "description",
    "elicitation",
    "else",
    "enum",
    "error",
    "exclusiveMaximum",
    "exclusiveMinimum",
    "experimental",
    "extensions",
    "format",
    "icons",
    "id",
    "if",
    "inputRequests",
    "inputResponses",
    "inputSchema",
    "instructions",
    "isError",
    "items",
    "jsonrpc",
    "level",
    "maxItems",
    "maxLength",
    "maximum",
    "message",
    "messages",
    "method",
    "mimeType",
    "minItems",
    "minLength",
    "minimum",
    "model",
    "multipleOf",
    "name",
    "nextCursor",
    "not",
    "notifications",
    "oneOf",
    "outputSchema",
    "params",
    "pattern",
    "patternProperties",
    "prefixItems",
    "progress",
    "progressToken",
    "prompts",
    "properties",
    "propertyNames",
    "protocolVersion",
    "ref",
    "requestId",
    "requestState",
    "requestedSchema",
    "required",
    "resource",
    "resourceTemplates",
    "resources",
    "result",
    "role",
    "roots",
    "sampling",
    "serverInfo",
    "structuredContent",
    "task",
    "tasks",
    "text",
    "then",
    "title",
    "tools",
    "total",
    "type",
    "unevaluatedProperties",
    "uniqueItems",
    "uri",
    "uriTemplate",
    "values",
    "version",
];

/// A JSON Pointer or schema path, with `*` for every token that is not a known name, an index or one
/// of `agreed`.
pub(crate) fn masked(path: &str, agreed: &[&str]) -> String {
    let is_index = |name: &str| name.len() <= 9 && name.bytes().all(|byte| byte.is_ascii_digit());
    let mask = |name| match name {
        name if is_index(name) || KNOWN.binary_search(&name).is_ok() => name,
        name if agreed.contains(&name) => name,
        _ => "*",
    };
    path.split('/').map(mask).collect::<Vec<_>>().join("/")
}

/// Names that both sides know: the client sent them, and the server's schema defines them. Empty for
/// messages of a server, which chose both.
pub(crate) fn agreed(finding: &Finding) -> Vec<&str> {
    let Some(fault) = finding.schema.as_ref().filter(|_| finding.at_fault == Some(Side::Client))
    else {
        return Vec::new();
    };
    let in_schema: Vec<&str> = fault.schema_path.split('/').collect();
    fault.instance_path.split('/').filter(|name| in_schema.contains(name)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_known_names_and_indexes_are_shown() {
        assert_eq!(masked("/params/arguments/password/0", &[]), "/params/arguments/*/0");
        assert_eq!(masked("#/properties/secret/type", &[]), "#/properties/*/type");
        assert_eq!(masked("#/properties/count/type", &["count"]), "#/properties/count/type");
        assert_eq!(masked("/params/12345678901", &[]), "/params/*");
        assert_eq!(masked("", &[]), "");
    }

    #[test]
    fn the_names_are_sorted() {
        assert!(KNOWN.is_sorted());
    }
}
