//! Schemas of a peer's choice: checking them, compiling them, and holding values to them.

use mcp_core::UriTemplate;
use mcp_json::Parsed;
use mcp_schema::{ToolSchema, ToolSchemaLimits};

use crate::{
    law,
    messages::{list, parsed},
};

const LIMITS: ToolSchemaLimits = ToolSchemaLimits { max_bytes: 64 << 20, max_depth: 64 };

fn compile(schema: &Parsed) -> Option<ToolSchema> {
    let document = schema.document();
    ToolSchema::compile(document.root(), mcp_schema::Dialect::default(), LIMITS).ok()
}

/// Holds a schema and a value to the law: both grow.
#[track_caller]
fn schema(
    what: &str,
    size: usize,
    schema: impl Fn(usize) -> String,
    value: impl Fn(usize) -> String,
) {
    let schema_of = |n| parsed(&schema(n));
    law(&format!("{what}, compiled"), size, schema_of, compile);
    // The value grows, the schema does not.
    let small = compile(&schema_of(20));
    let Some(small) = small else { return };
    law(
        &format!("{what}, judged"),
        size,
        |n| parsed(&value(n)),
        |value| {
            let document = value.document();
            (small.accepts(document.root()), small.main_violations(document.root()).len())
        },
    );
    law(
        &format!("{what}, explained"),
        size,
        |n| parsed(&value(n)),
        |value| small.violations(value.document().root()).len(),
    );
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table")]
fn schemas() {
    let object = |n| format!("{{{}}}", list(n, |i| format!("\"p{i}\":{i}")));
    let array = |n| format!("[{}]", list(n, |i| i.to_string()));
    let wrapped = |rest: String| format!(r#"{{"type":"object",{rest}}}"#);
    schema(
        "properties",
        300,
        |n| {
            wrapped(format!(
                r#""properties":{{{}}}"#,
                list(n, |i| format!(r#""p{i}":{{"type":"string"}}"#))
            ))
        },
        object,
    );
    schema(
        "required",
        300,
        |n| wrapped(format!(r#""required":[{}]"#, list(n, |i| format!("\"q{i}\"")))),
        object,
    );
    schema("nothing else", 300, |_| wrapped(r#""additionalProperties":false"#.into()), object);
    schema(
        "enum",
        300,
        |n| format!(r#"{{"items":{{"enum":[{}]}}}}"#, list(n, |i| format!("\"e{i}\""))),
        array,
    );
    schema("unique items", 300, |_| r#"{"uniqueItems":true}"#.into(), array);
    schema(
        "unique objects",
        300,
        |_| r#"{"uniqueItems":true}"#.into(),
        |n| format!("[{}]", list(n, |i| format!(r#"{{"a":{i}}}"#))),
    );
    schema(
        "any of",
        300,
        |n| {
            format!(r#"{{"items":{{"anyOf":[{}]}}}}"#, list(n, |i| format!(r#"{{"const":"{i}"}}"#)))
        },
        array,
    );
    schema(
        "one of",
        300,
        |n| {
            format!(r#"{{"items":{{"oneOf":[{}]}}}}"#, list(n, |i| format!(r#"{{"const":"{i}"}}"#)))
        },
        array,
    );
    schema(
        "all of",
        300,
        |n| format!(r#"{{"allOf":[{}]}}"#, list(n, |i| format!(r#"{{"required":["q{i}"]}}"#))),
        object,
    );
    schema(
        "references",
        300,
        |n| {
            let definitions = list(n, |i| format!(r##""d{i}":{{"$ref":"#/$defs/d{}"}}"##, i + 1));
            wrapped(format!(r##""$defs":{{{definitions},"d{n}":{{}}}},"$ref":"#/$defs/d0""##))
        },
        object,
    );
    schema(
        "one reference",
        300,
        |n| {
            let properties = list(n, |i| format!(r##""p{i}":{{"$ref":"#/$defs/a"}}"##));
            wrapped(format!(r#""$defs":{{"a":{{"type":"string"}}}},"properties":{{{properties}}}"#))
        },
        object,
    );
    schema("recursion", 300, |_| r##"{"items":{"$ref":"#"},"maximum":5}"##.into(), array);
    schema(
        "patterns",
        100,
        |n| {
            wrapped(format!(
                r#""properties":{{{}}}"#,
                list(n, |i| format!(r#""p{i}":{{"pattern":"^a{i}$"}}"#))
            ))
        },
        object,
    );
    schema(
        "pattern",
        300,
        |_| r#"{"items":{"type":"string","pattern":"^(a|b)+$"}}"#.into(),
        |n| format!("[{}]", list(n, |_| "\"abc\"".into())),
    );
    schema(
        "pattern properties",
        300,
        |n| {
            wrapped(format!(
                r#""patternProperties":{{{}}}"#,
                list(n.min(100), |i| format!(r#""^p{i}$":{{"type":"string"}}"#))
            ))
        },
        object,
    );
    schema("contains", 300, |_| r#"{"contains":{"const":"x"}}"#.into(), array);
    schema(
        "unevaluated",
        300,
        |n| {
            wrapped(format!(
                r#""allOf":[{}],"unevaluatedProperties":false"#,
                list(n, |i| format!(r#"{{"properties":{{"p{i}":{{}}}}}}"#))
            ))
        },
        object,
    );
    schema(
        "conditions",
        300,
        |n| {
            wrapped(format!(
                r#""allOf":[{}]"#,
                list(n, |i| format!(
                    r#"{{"if":{{"required":["p{i}"]}},"then":{{"required":["q{i}"]}}}}"#
                ))
            ))
        },
        object,
    );
    schema(
        "long string",
        100_000,
        |n| format!(r#"{{"description":"{}","maxLength":5}}"#, "x".repeat(n)),
        |n| format!("\"{}\"", "x".repeat(n)),
    );
    schema(
        "long name",
        100_000,
        |n| {
            format!(
                r#"{{"properties":{{"{}":{{}}}},"additionalProperties":{{"type":"string"}}}}"#,
                "x".repeat(n)
            )
        },
        |n| format!(r#"{{"{}":1}}"#, "y".repeat(n)),
    );
    schema(
        "members twice",
        300,
        |_| wrapped(r#""additionalProperties":{"type":"integer"}"#.into()),
        |n| format!("{{{}}}", list(n, |_| "\"a\":1".into())),
    );
    schema(
        "identifiers",
        300,
        |n| {
            wrapped(format!(
                r#""$defs":{{{}}}"#,
                list(n, |i| format!(r#""d{i}":{{"$id":"urn:x:{i}","$ref":"urn:x:{i}"}}"#))
            ))
        },
        object,
    );
    schema(
        "anchors",
        300,
        |n| {
            wrapped(format!(
                r#""$defs":{{{}}}"#,
                list(n, |i| format!(r##""d{i}":{{"$anchor":"a{i}","not":{{"$ref":"#a{i}"}}}}"##))
            ))
        },
        object,
    );
    schema(
        "broken schema",
        300,
        |n| {
            wrapped(format!(
                r#""properties":{{{}}}"#,
                list(n, |i| format!(r#""p{i}":{{"type":"nonsense"}}"#))
            ))
        },
        object,
    );
}

#[test]
fn templates() {
    for part in ["{a}", "{+a}/", "{?a,b}", "x", "%41", "{", "{a*}"] {
        law(part, 2000, |n| part.repeat(n), |template| mcp_schema::uri_template(template).is_ok());
    }
}

#[test]
fn uris_for_templates() {
    let sixteen = |unit: &str| format!("a:{}", unit.repeat(16));
    let templates = [
        "a:{x}".to_owned(),
        "a:{+x}".to_owned(),
        "a:{x}b".to_owned(),
        "a:{+x}b".to_owned(),
        sixteen("{x}-"),
        sixteen("{+x}-"),
        sixteen("{+x}aab"),
        format!("a:{{+x}}{}b", "a".repeat(1000)),
    ];
    for template in templates {
        let template = UriTemplate::parse(&template).unwrap();
        for unit in ["a", "-", "%41", "%2F", "aab", "/", "é"] {
            for end in ["", "b", "-", "%"] {
                let uri = |n| format!("a:{}{end}", unit.repeat(n));
                law(unit, 20_000, uri, |uri| template.matches(uri));
            }
        }
    }
    // Long templates are the server's own, but may be made of what a peer says.
    for unit in ["a", "{x}-", "{x}", "{", "}"] {
        let template = |n| unit.repeat(n);
        law(unit, 20_000, template, |template| UriTemplate::parse(template).is_ok());
    }
}
