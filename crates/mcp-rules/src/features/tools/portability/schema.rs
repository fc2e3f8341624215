//! Rules about a tool's input schema as a whole.

use mcp_json::Node;
use mcp_schema::Dialect;

use super::{
    DEEP_NESTING, DIALECT, PROPERTY_NAME, SCHEMA_SIZE, TOP_LEVEL_UNION, node,
    subschema::{Subschema, SubschemaRole},
};
use crate::{Findings, findings::Fault};

/// Deepest nesting that `OpenAI`'s strict mode, Moonshot and Meta accept.
const DEEPEST: usize = 10;
/// Maximum properties and enum values that Azure `OpenAI` accepts per schema in strict mode.
const MOST_PROPERTIES: usize = 100;
const MOST_ENUM_VALUES: usize = 500;
/// Maximum characters Anthropic accepts in a parameter name.
const LONGEST_PROPERTY: usize = 64;

pub(super) fn check(schema: Node<'_>, findings: &mut Findings<'_>) {
    check_root(schema, findings);
    let mut size = Size::default();
    Subschema::root(schema).walk(|subschema| {
        size.take(subschema);
        node::check(subschema, findings);
    });
    size.check(schema, findings);
}

/// Checks `$schema`, in input and output schemas alike.
pub(super) fn check_dialect(schema: Node<'_>, findings: &mut Findings<'_>) {
    let Some(stated) = schema.get("$schema") else { return };
    let dialect = stated.as_str().and_then(|uri| Dialect::from_uri(&uri));
    if dialect.is_some_and(|dialect| dialect != Dialect::default()) {
        findings.report(
            Fault::new(
                &DIALECT,
                "clients on version 2 of the TypeScript SDK refuse every dialect but 2020-12",
            )
            .at(stated.span())
            .help(format!("write it in {}, or omit `$schema`", Dialect::default().uri())),
        );
    }
}

fn check_root(schema: Node<'_>, findings: &mut Findings<'_>) {
    for (keyword, _) in schema.members() {
        let found = ["oneOf", "anyOf", "allOf", "enum", "not", "if"]
            .into_iter()
            .find(|name| keyword.str_eq(name));
        if let Some(name) = found {
            findings.report(
                Fault::new(
                    &TOP_LEVEL_UNION,
                    format!("`{name}` at the top of the schema: {}", who_refuses(name)),
                )
                .at(keyword.span())
                .help("list all parameters in `properties` and check the combination in the tool"),
            );
        }
    }
    let properties = schema.get("properties");
    for (name, _) in properties.into_iter().flat_map(Node::members) {
        let Some(text) = name.str_bytes() else { continue };
        let usual = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
        if text.is_empty() || text.len() > LONGEST_PROPERTY || !text.iter().all(usual) {
            findings.report(
                Fault::new(
                    &PROPERTY_NAME,
                    "Anthropic refuses this parameter name, and every other tool in the same request",
                )
                .at(name.span())
                .help("use 1 to 64 ASCII letters, digits, `_`, `-` and `.`"),
            );
        }
    }
}

fn who_refuses(keyword: &str) -> &'static str {
    match keyword {
        "oneOf" | "anyOf" | "allOf" => "Anthropic and OpenAI refuse the tool",
        "if" => "VS Code removes it, as Claude and GPT models refuse it",
        _ => "OpenAI refuses the tool",
    }
}

/// The size of a schema.
#[derive(Debug, Default)]
struct Size<'a> {
    properties: usize,
    enum_values: usize,
    too_deep: Option<Node<'a>>,
}

impl<'a> Size<'a> {
    fn take(&mut self, subschema: Subschema<'a>) {
        self.properties += usize::from(subschema.role == SubschemaRole::Property);
        self.enum_values +=
            subschema.schema.get("enum").map_or(0, |values| values.elements().count());
        if subschema.level > DEEPEST && self.too_deep.is_none() {
            self.too_deep = Some(subschema.schema);
        }
    }

    fn check(&self, schema: Node<'_>, findings: &mut Findings<'_>) {
        if let Some(deep) = self.too_deep {
            findings.report(
                Fault::new(
                    &DEEP_NESTING,
                    format!(
                        "more than {DEEPEST} levels of nesting; OpenAI's strict mode, Moonshot and Meta accept no more, Gemini fewer"
                    ),
                )
                .at(deep.span())
                .help("flatten the parameters, or accept the inner part as a JSON string"),
            );
        }
        let too_much = [
            (self.properties, MOST_PROPERTIES, "properties"),
            (self.enum_values, MOST_ENUM_VALUES, "enum values"),
        ];
        for (count, most, what) in too_much {
            if count > most {
                findings.report(
                    Fault::new(
                        &SCHEMA_SIZE,
                        format!("{count} {what}; Azure OpenAI accepts {most} in strict mode"),
                    )
                    .at(schema.span())
                    .help("split the tool, or describe long lists of values in words"),
                );
            }
        }
    }
}
