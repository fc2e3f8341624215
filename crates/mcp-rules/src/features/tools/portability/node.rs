//! Rules about one subschema of a tool's input schema.

use std::collections::HashSet;

use mcp_core::Revision;
use mcp_json::Node;
use mcp_schema::Dialect;

use super::{
    ARRAY_WITHOUT_ITEMS, BOOLEAN_SCHEMA, COMPOSITION, DESCRIPTION_LENGTH, ENUM_VALUE, FORMAT,
    KEYWORD, MISSING_TYPE, OBJECT_WITHOUT_PROPERTIES, OPEN_MAP, PATTERN_LOOKAROUND,
    REQUIRED_UNDEFINED, TUPLE, UNION_TYPE,
    subschema::{Subschema, SubschemaRole},
    tool::LONGEST_DESCRIPTION,
};
use crate::{Findings, findings::Fault};

pub(super) fn check(subschema: Subschema<'_>, findings: &mut Findings<'_>) {
    if subschema.schema.as_bool().is_some() {
        check_boolean(subschema, findings);
    }
    if !subschema.schema.is_object() {
        return;
    }
    check_type(subschema, findings);
    check_array(subschema, findings);
    check_object(subschema, findings);
    check_required(subschema, findings);
    check_format(subschema, findings);
    check_enum(subschema, findings);
    check_pattern(subschema, findings);
    check_keywords(subschema, findings);
    check_description(subschema, findings);
}

fn check_boolean(subschema: Subschema<'_>, findings: &mut Findings<'_>) {
    // `additionalProperties: false` is ubiquitous.
    if subschema.role == SubschemaRole::MapValue {
        return;
    }
    findings.report(
        Fault::new(
            &BOOLEAN_SCHEMA,
            "the schema is just `true` or `false`: Gemini, opencode and the Claude Agent SDK fail on it",
        )
        .at(subschema.schema.span())
        .help("write an object with a `type`"),
    );
}

fn check_type(subschema: Subschema<'_>, findings: &mut Findings<'_>) {
    let Some(kind) = subschema.schema.get("type") else {
        let value = matches!(
            subschema.role,
            SubschemaRole::Value | SubschemaRole::Property | SubschemaRole::MapValue
        );
        if value && !subschema.has_any(&["$ref", "anyOf", "oneOf", "allOf"]) {
            findings.report(
                Fault::new(
                    &MISSING_TYPE,
                    "the schema has no `type`: Gemini refuses it and Gemini CLI skips the tool",
                )
                .at(subschema.schema.span())
                .help("add a `type`, even next to an `enum`; accept arbitrary values as a JSON string"),
            );
        }
        return;
    };
    if kind.is_array() {
        findings.report(
            Fault::new(&UNION_TYPE, "`type` is a list, which Gemini refuses").at(kind.span()).help(
                "give one type; instead of allowing null, do not list the parameter in `required`",
            ),
        );
    }
}

fn check_array(subschema: Subschema<'_>, findings: &mut Findings<'_>) {
    let items = subschema.schema.get("items");
    let prefix = subschema.schema.get("prefixItems");
    if let Some(tuple) = prefix.or(items.filter(|items| items.is_array()))
        && (prefix.is_some() || allows_items_list(subschema, findings))
    {
        findings.report(
            Fault::new(
                &TUPLE,
                "the schema defines items by position: xAI refuses it, VS Code and Gemini change or refuse it",
            )
            .at(tuple.span())
            .help("use an object with named properties, or one schema for all items"),
        );
    }
    if subschema.is("array") && items.is_none() && prefix.is_none() {
        findings.report(
            Fault::new(
                &ARRAY_WITHOUT_ITEMS,
                "the array has no `items`: OpenAI, Gemini and VS Code refuse the tool",
            )
            .at(subschema.schema.span())
            .help("say what the array contains: `\"items\": {\"type\": \"string\"}`"),
        );
    }
}

/// Whether the specification allows `items` to be a list; where it does not, another rule reports
/// it.
fn allows_items_list(subschema: Subschema<'_>, findings: &Findings<'_>) -> bool {
    match subschema.root.get("$schema").and_then(Node::as_str) {
        Some(stated) => Dialect::from_uri(&stated) != Some(Dialect::Draft202012),
        None => findings.revision() < Revision::V2025_11_25,
    }
}

fn check_object(subschema: Subschema<'_>, findings: &mut Findings<'_>) {
    if !subschema.is("object") {
        return;
    }
    let properties = subschema.schema.get("properties");
    if subschema.role == SubschemaRole::Root && properties.is_none() {
        findings.report(
            Fault::new(
                &OBJECT_WITHOUT_PROPERTIES,
                "the schema has no `properties`: OpenAI refuses the tool",
            )
            .at(subschema.schema.span())
            .help("a tool without parameters has `\"properties\": {}`"),
        );
        return;
    }
    let empty = properties.is_none_or(Node::is_empty);
    let others = subschema.schema.get("additionalProperties");
    if let Some(others) = others
        && (others.is_object() || (empty && others.as_bool() == Some(true)))
    {
        findings.report(
            Fault::new(
                &OPEN_MAP,
                "the object is a map with any keys: Claude Code and others drop its entries, OpenAI's strict mode refuses it",
            )
            .at(others.span())
            .help("accept a list of objects with a name and a value"),
        );
        return;
    }
    let shaped = subschema.has_any(&["$ref", "anyOf", "oneOf", "allOf", "patternProperties"]);
    let inner = !matches!(subschema.role, SubschemaRole::Root | SubschemaRole::Condition);
    if inner && empty && !shaped {
        findings.report(
            Fault::new(
                &OBJECT_WITHOUT_PROPERTIES,
                "the object has no properties: Gemini refuses it, and other models send an empty object",
            )
            .at(subschema.schema.span())
            .help("list its properties, or accept a JSON string"),
        );
    }
}

fn check_required(subschema: Subschema<'_>, findings: &mut Findings<'_>) {
    let (Some(properties), Some(required)) =
        (subschema.schema.get("properties"), subschema.schema.get("required"))
    else {
        return;
    };
    if subschema.role == SubschemaRole::Condition || !findings.wants(&REQUIRED_UNDEFINED) {
        return;
    }
    let known: HashSet<_> = properties.members().filter_map(|(name, _)| name.str_bytes()).collect();
    for name in required.elements() {
        if name.str_bytes().is_some_and(|text| !known.contains(&text)) {
            findings.report(
                Fault::new(
                    &REQUIRED_UNDEFINED,
                    "the property is required but not in `properties`: Gemini refuses the tool",
                )
                .at(name.span())
                .help("define the property, or do not require it"),
            );
        }
    }
}

fn check_format(subschema: Subschema<'_>, findings: &mut Findings<'_>) {
    let Some(format) = subschema.schema.get("format") else { return };
    let number = subschema.is("number") || subschema.is("integer");
    let known: &[&str] =
        if number { &["float", "double", "int32", "int64"] } else { &["date-time", "enum"] };
    if !format.is_string() || known.iter().any(|name| format.str_eq(name)) {
        return;
    }
    let (message, help) = if number {
        (
            "not a standard number format: strict validators such as Genkit's refuse the tool",
            "omit `format`, and use `minimum` and `maximum`",
        )
    } else {
        (
            "Gemini accepts no string format but `date-time` and `enum`, OpenAI's strict mode only some",
            "omit `format`, and describe the format in the description",
        )
    };
    findings.report(Fault::new(&FORMAT, message).at(format.span()).help(help));
}

fn check_enum(subschema: Subschema<'_>, findings: &mut Findings<'_>) {
    let values = subschema.schema.get("enum");
    let odd = |value: &Node<'_>| !value.is_string() || value.str_eq("");
    if let Some(value) = values.into_iter().flat_map(Node::elements).find(odd) {
        findings.report(
            Fault::new(&ENUM_VALUE, "Gemini refuses enum values that are empty or not strings")
                .at(value.span())
                .help("use non-empty strings, or `minimum` and `maximum` for numbers"),
        );
    }
}

fn check_pattern(subschema: Subschema<'_>, findings: &mut Findings<'_>) {
    let Some(pattern) = subschema.schema.get("pattern") else { return };
    let looks_around = pattern
        .as_str()
        .is_some_and(|text| ["(?=", "(?!", "(?<=", "(?<!"].iter().any(|part| text.contains(part)));
    if looks_around {
        findings.report(
            Fault::new(
                &PATTERN_LOOKAROUND,
                "the pattern has look-around: OpenAI models and llama.cpp refuse the tool",
            )
            .at(pattern.span())
            .help("write it without `(?=`, `(?!`, `(?<=` and `(?<!`, or check in the tool"),
        );
    }
}

fn check_keywords(subschema: Subschema<'_>, findings: &mut Findings<'_>) {
    let root = subschema.role == SubschemaRole::Root;
    for (keyword, _) in subschema.schema.members() {
        let is = |names: &[&'static str]| names.iter().find(|name| keyword.str_eq(name)).copied();
        if let Some(name) = is(&["oneOf", "allOf"]).filter(|_| !root) {
            findings.report(
                Fault::new(
                    &COMPOSITION,
                    format!("OpenAI refuses a tool with `{name}` in its schema"),
                )
                .at(keyword.span())
                .help("use `anyOf` for alternatives, and merge combined schemas into one"),
            );
        }
        let refusing = is(&[
            "propertyNames",
            "patternProperties",
            "const",
            "exclusiveMinimum",
            "exclusiveMaximum",
        ])
        .map(|name| (name, "Gemini"))
        .or_else(|| {
            is(&["dependentRequired", "dependentSchemas"])
                .map(|name| (name, "OpenAI's strict mode"))
        })
        .or_else(|| {
            is(&["not", "if"]).filter(|_| !root).map(|name| (name, "OpenAI's strict mode"))
        });
        if let Some((name, who)) = refusing {
            findings.report(
                Fault::new(&KEYWORD, format!("{who} refuses `{name}`"))
                    .at(keyword.span())
                    .help(instead_of(name)),
            );
        }
    }
}

fn instead_of(keyword: &str) -> &'static str {
    match keyword {
        "const" => "use an `enum` of one string",
        "exclusiveMinimum" => "use `minimum`",
        "exclusiveMaximum" => "use `maximum`",
        "propertyNames" | "patternProperties" => "accept a list of objects with a name and a value",
        _ => "describe it in the description, and check it in the tool",
    }
}

/// Checks the description of a parameter; the tool's own is not in a schema.
fn check_description(subschema: Subschema<'_>, findings: &mut Findings<'_>) {
    let Some(description) = subschema.schema.get("description") else { return };
    // A description that long takes at least as many bytes.
    if description.span().end - description.span().start <= LONGEST_DESCRIPTION {
        return;
    }
    let length = description.as_str().map_or(0, |text| text.chars().count());
    if length > LONGEST_DESCRIPTION {
        findings.report(
            Fault::new(
                &DESCRIPTION_LENGTH,
                format!("the description has {length} characters; VS Code truncates it to {LONGEST_DESCRIPTION} for GPT-4 models"),
            )
            .at(description.span())
            .help("put what matters first, and move the rest into a prompt or a resource"),
        );
    }
}
