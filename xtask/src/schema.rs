//! A revision's `schema.json` as a tree.
//!
//! Only the keywords used in our documents are supported. Anything else is an error: a keyword that
//! the generator skipped would silently make the generated code wrong.

use std::collections::BTreeMap;

use anyhow::{Context, Result, bail, ensure};
use serde_json::{Map, Value};

/// The dialect every document declares.
const DIALECT: &str = "https://json-schema.org/draft/2020-12/schema";

/// The prefix of every `$ref`.
const DEFINITIONS: &str = "#/$defs/";

/// The definitions of one document, by name.
pub(crate) type Definitions = BTreeMap<String, Schema>;

/// One schema object. Fields are `None` or empty if the keyword is absent.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Schema {
    /// The definition that `$ref` names.
    pub reference: Option<String>,
    pub types: Vec<Type>,
    pub constant: Option<String>,
    pub choices: Vec<String>,
    pub minimum: Option<i32>,
    pub maximum: Option<i32>,
    pub min_items: Option<usize>,
    pub max_items: Option<usize>,
    pub items: Option<Box<Schema>>,
    pub required: Vec<String>,
    pub properties: BTreeMap<String, Schema>,
    pub additional: Option<Box<Schema>>,
    pub any_of: Vec<Schema>,
}

/// A value of the keyword `type`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Type {
    Null,
    Boolean,
    Integer,
    Number,
    String,
    Array,
    Object,
}

/// Parses a whole document and checks that every reference resolves.
pub(crate) fn parse_document(text: &str) -> Result<Definitions> {
    let document: Map<String, Value> =
        serde_json::from_str(text).context("the document is not a JSON object")?;
    for keyword in document.keys() {
        ensure!(
            keyword == "$schema" || keyword == "$defs",
            "unknown keyword `{keyword}` at the root"
        );
    }
    ensure!(
        document.get("$schema").and_then(Value::as_str) == Some(DIALECT),
        "`$schema` must be {DIALECT}"
    );
    let Some(Value::Object(members)) = document.get("$defs") else {
        bail!("`$defs` must be an object");
    };

    let mut definitions = Definitions::new();
    for (name, value) in members {
        let schema = parse(value).with_context(|| format!("in {DEFINITIONS}{name}"))?;
        definitions.insert(name.clone(), schema);
    }
    for (name, schema) in &definitions {
        for target in schema.references() {
            ensure!(
                definitions.contains_key(target),
                "{DEFINITIONS}{name} refers to `{target}`, which does not exist"
            );
        }
    }
    Ok(definitions)
}

impl Schema {
    /// Whether it has no constraints, and so accepts everything.
    pub(crate) fn is_empty(&self) -> bool {
        *self == Schema::default()
    }

    /// Every definition named in it, at any depth.
    pub(crate) fn references(&self) -> Vec<&str> {
        let mut found: Vec<&str> = self.reference.as_deref().into_iter().collect();
        let nested = (self.items.iter().map(Box::as_ref))
            .chain(self.additional.iter().map(Box::as_ref))
            .chain(self.properties.values())
            .chain(&self.any_of);
        for schema in nested {
            found.extend(schema.references());
        }
        found
    }
}

/// The definition `name` together with everything it refers to, directly or indirectly.
pub(crate) fn closure<'a>(
    name: &'a str,
    definitions: &'a Definitions,
) -> BTreeMap<&'a str, &'a Schema> {
    let mut found = BTreeMap::new();
    let mut open = vec![name];
    while let Some(name) = open.pop() {
        let schema = &definitions[name];
        if found.insert(name, schema).is_none() {
            open.extend(schema.references());
        }
    }
    found
}

fn parse(value: &Value) -> Result<Schema> {
    let members = match value {
        Value::Bool(true) => return Ok(Schema::default()),
        Value::Object(members) => members,
        _ => bail!("expected a schema (an object or `true`), found {value}"),
    };
    let mut schema = Schema::default();
    for (keyword, value) in members {
        parse_keyword(&mut schema, keyword, value).with_context(|| format!("in `{keyword}`"))?;
    }
    Ok(schema)
}

fn parse_keyword(schema: &mut Schema, keyword: &str, value: &Value) -> Result<()> {
    match keyword {
        "$ref" => schema.reference = Some(parse_reference(value)?),
        "type" => schema.types = parse_types(value)?,
        "const" => schema.constant = Some(parse_string(value)?),
        "enum" => schema.choices = parse_strings(value)?,
        // An annotation in 2020-12: the rules that depend on it have their own code.
        "format" => _ = parse_string(value)?,
        "minimum" => schema.minimum = Some(parse_integer(value)?),
        "maximum" => schema.maximum = Some(parse_integer(value)?),
        "minItems" => schema.min_items = Some(parse_integer(value)?),
        "maxItems" => schema.max_items = Some(parse_integer(value)?),
        "items" => schema.items = Some(Box::new(parse(value)?)),
        "required" => schema.required = parse_strings(value)?,
        "properties" => schema.properties = parse_properties(value)?,
        "additionalProperties" => schema.additional = Some(Box::new(parse(value)?)),
        "anyOf" => schema.any_of = parse_schemas(value)?,
        _ => bail!("the generator does not know this keyword"),
    }
    Ok(())
}

fn parse_reference(value: &Value) -> Result<String> {
    let target = parse_string(value)?;
    match target.strip_prefix(DEFINITIONS) {
        Some(name) => Ok(name.to_owned()),
        None => bail!("only references to {DEFINITIONS}… are supported, found `{target}`"),
    }
}

fn parse_types(value: &Value) -> Result<Vec<Type>> {
    let names = match value {
        Value::Array(_) => parse_strings(value)?,
        _ => vec![parse_string(value)?],
    };
    names
        .iter()
        .map(|name| {
            Ok(match name.as_str() {
                "null" => Type::Null,
                "boolean" => Type::Boolean,
                "integer" => Type::Integer,
                "number" => Type::Number,
                "string" => Type::String,
                "array" => Type::Array,
                "object" => Type::Object,
                other => bail!("`{other}` is not a type"),
            })
        })
        .collect()
}

fn parse_properties(value: &Value) -> Result<BTreeMap<String, Schema>> {
    let Value::Object(members) = value else {
        bail!("expected an object, found {value}");
    };
    members
        .iter()
        .map(|(name, value)| {
            let schema = parse(value).with_context(|| format!("in property `{name}`"))?;
            Ok((name.clone(), schema))
        })
        .collect()
}

fn parse_schemas(value: &Value) -> Result<Vec<Schema>> {
    let Value::Array(elements) = value else {
        bail!("expected an array, found {value}");
    };
    elements.iter().map(parse).collect()
}

fn parse_strings(value: &Value) -> Result<Vec<String>> {
    let Value::Array(elements) = value else {
        bail!("expected an array of strings, found {value}");
    };
    elements.iter().map(parse_string).collect()
}

fn parse_string(value: &Value) -> Result<String> {
    match value {
        Value::String(text) => Ok(text.clone()),
        _ => bail!("expected a string, found {value}"),
    }
}

fn parse_integer<T: TryFrom<i64>>(value: &Value) -> Result<T> {
    match value.as_i64().and_then(|number| T::try_from(number).ok()) {
        Some(number) => Ok(number),
        None => bail!("expected a small integer, found {value}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn error(definition: &str) -> String {
        let document = format!(r#"{{"$schema":"{DIALECT}","$defs":{{"A":{definition}}}}}"#);
        format!("{:#}", parse_document(&document).unwrap_err())
    }

    #[test]
    fn an_unknown_keyword_is_named_with_its_place() {
        let text = error(r#"{"properties":{"b":{"type":"string","pattern":"x"}}}"#);
        assert_eq!(
            text,
            "in #/$defs/A: in `properties`: in property `b`: in `pattern`: the generator does not know this keyword"
        );
    }

    #[test]
    fn a_reference_to_nothing_is_refused() {
        assert_eq!(
            error(r##"{"items":{"$ref":"#/$defs/B"}}"##),
            "#/$defs/A refers to `B`, which does not exist"
        );
    }

    #[test]
    fn a_schema_that_refuses_everything_is_refused() {
        assert!(error("false").contains("expected a schema"));
    }
}
