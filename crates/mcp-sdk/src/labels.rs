//! Arguments of tools that are shown outside the message, in HTTP headers.
//!
//! A tool marks properties of its input schema with `x-mcp-header`; a client repeats their values,
//! a server compares them.

use std::collections::BTreeSet;

use mcp_core::Json;
use mcp_json::{Kind, Limits, Node, Tape};

/// The member that marks a property.
const MARK: &str = "x-mcp-header";

/// The marked properties of one tool.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Marked(Vec<MarkedProperty>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct MarkedProperty {
    label: String,
    path: Vec<String>,
}

/// Why a tool's marks cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum BadMark {
    #[error("`x-mcp-header` must be a string that can be part of a header's name")]
    Label,
    #[error("two properties are marked `{0}`")]
    Twice(String),
    #[error("`{0}` marks something that is not a string, an integer or a boolean")]
    Type(String),
    #[error("a mark is only allowed on properties that are reached through `properties` alone")]
    Place,
    #[error("the schema is not JSON")]
    Schema,
}

impl Marked {
    /// Reads the marks of a tool's input schema.
    pub(crate) fn of(input_schema: &Json) -> Result<Marked, BadMark> {
        let text = input_schema.as_bytes();
        let may_have_marks = std::str::from_utf8(text).is_ok_and(|text| text.contains(MARK));
        if !may_have_marks {
            return Ok(Marked::default());
        }
        let mut tape = Tape::new();
        let document = tape.parse(text, Limits::default()).map_err(|_| BadMark::Schema)?;
        let mut marked = Marked::default();
        collect(document.root(), &mut Vec::new(), &mut marked.0)?;
        if marked.0.len() != count(document.root()) {
            return Err(BadMark::Place);
        }
        let mut seen = BTreeSet::new();
        for property in &marked.0 {
            if !seen.insert(property.label.to_ascii_lowercase()) {
                return Err(BadMark::Twice(property.label.clone()));
            }
        }
        Ok(marked)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The labels with the values that `arguments` have for them, if they have any.
    pub(crate) fn values(&self, arguments: Option<Node<'_>>) -> Vec<(&str, Option<Shown>)> {
        let value = |path: &[String]| value_at(arguments?, path);
        self.0.iter().map(|property| (property.label.as_str(), value(&property.path))).collect()
    }
}

/// The value of an argument as it is shown outside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Shown {
    pub(crate) text: String,
    is_number: bool,
}

impl Shown {
    fn text(text: impl Into<String>) -> Shown {
        Shown { text: text.into(), is_number: false }
    }

    /// Whether `header` says the same; `42.0` is the number 42, but not the text.
    #[cfg(any(feature = "http", test))]
    pub(crate) fn is(&self, header: &str) -> bool {
        self.text == header || self.is_number && is_same_number(&self.text, header)
    }
}

#[cfg(any(feature = "http", test))]
fn is_same_number(one: &str, other: &str) -> bool {
    /// Beyond this a float no longer tells neighbouring integers apart.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    if let (Ok(one), Ok(other)) = (one.parse::<i128>(), other.parse::<i128>()) {
        return one == other;
    }
    match (one.parse::<f64>(), other.parse::<f64>()) {
        (Ok(one), Ok(other)) => one.total_cmp(&other).is_eq() && one.abs() < EXACT,
        _ => false,
    }
}

fn value_at(arguments: Node<'_>, path: &[String]) -> Option<Shown> {
    let mut value = arguments;
    for step in path {
        value = value.get(step)?;
    }
    match value.kind() {
        Kind::String => value.as_str().map(Shown::text),
        Kind::Integer | Kind::Decimal => {
            let integer = value.as_i64().map(|integer| integer.to_string());
            let text = integer.or_else(|| value.number_literal().map(str::to_owned))?;
            Some(Shown { text, is_number: true })
        }
        Kind::Bool => value.as_bool().map(|value| Shown::text(value.to_string())),
        Kind::Null | Kind::Array | Kind::Object => None,
    }
}

fn collect(
    schema: Node<'_>,
    path: &mut Vec<String>,
    found: &mut Vec<MarkedProperty>,
) -> Result<(), BadMark> {
    let Some(properties) = schema.get("properties") else { return Ok(()) };
    for (name, property) in properties.members() {
        path.push(name.as_str().unwrap_or_default().into_owned());
        if let Some(mark) = property.get(MARK) {
            let label = mark.as_str().ok_or(BadMark::Label)?.into_owned();
            if label.is_empty() || !label.bytes().all(is_token_byte) {
                return Err(BadMark::Label);
            }
            let simple = property.get("type").and_then(Node::as_str);
            if !simple.is_some_and(|kind| matches!(&*kind, "string" | "integer" | "boolean")) {
                return Err(BadMark::Type(label));
            }
            found.push(MarkedProperty { label, path: path.clone() });
        }
        collect(property, path, found)?;
        path.pop();
    }
    Ok(())
}

/// How many marks there are anywhere in the schema. A property that happens to be called like the
/// mark is none.
fn count(node: Node<'_>) -> usize {
    let mut marks = 0;
    let mut open = vec![(node, false)];
    while let Some((node, names_properties)) = open.pop() {
        for (name, value) in node.members() {
            if !names_properties && name.str_eq(MARK) {
                marks += 1;
            }
            open.push((value, !names_properties && name.str_eq("properties")));
        }
        open.extend(node.elements().map(|element| (element, false)));
    }
    marks
}

fn is_token_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn marks(schema: &'static str) -> Result<Vec<String>, BadMark> {
        let marked = Marked::of(&Json::parse(schema).unwrap())?;
        Ok(marked.0.iter().map(|property| property.label.clone()).collect())
    }

    #[test]
    fn marks_are_found_also_in_objects() {
        let schema = r#"{"properties":{"a":{"type":"string","x-mcp-header":"A"},
            "o":{"properties":{"b":{"type":"integer","x-mcp-header":"B"}}}}}"#;
        assert_eq!(marks(schema), Ok(vec!["A".into(), "B".into()]));
        assert_eq!(marks(r#"{"properties":{"x-mcp-header":{"type":"string"}}}"#), Ok(vec![]));
    }

    #[test]
    fn bad_marks_are_told_apart() {
        for (schema, error) in [
            (r#"{"properties":{"a":{"type":"string","x-mcp-header":""}}}"#, BadMark::Label),
            (r#"{"properties":{"a":{"type":"string","x-mcp-header":"a b"}}}"#, BadMark::Label),
            (r#"{"properties":{"a":{"type":"string","x-mcp-header":7}}}"#, BadMark::Label),
            (
                r#"{"properties":{"a":{"type":"number","x-mcp-header":"A"}}}"#,
                BadMark::Type("A".into()),
            ),
            (
                r#"{"properties":{"a":{"type":"string","x-mcp-header":"A"},"b":{"type":"string","x-mcp-header":"a"}}}"#,
                BadMark::Twice("a".into()),
            ),
            (
                r#"{"properties":{"a":{"type":"array","items":{"type":"string","x-mcp-header":"A"}}}}"#,
                BadMark::Place,
            ),
        ] {
            assert_eq!(marks(schema), Err(error), "{schema}");
        }
    }

    #[test]
    fn values_are_shown_as_text() {
        let schema = r#"{"properties":{"s":{"type":"string","x-mcp-header":"S"},
            "i":{"type":"integer","x-mcp-header":"I"},"b":{"type":"boolean","x-mcp-header":"B"},
            "n":{"type":"string","x-mcp-header":"N"}}}"#;
        let marked = Marked::of(&Json::parse(schema).unwrap()).unwrap();
        let mut tape = Tape::new();
        let text = br#"{"s":"x","i":-7,"b":true,"n":null}"#;
        let document = tape.parse(text, Limits::default()).unwrap();
        let values: Vec<_> = marked
            .values(Some(document.root()))
            .into_iter()
            .map(|(label, shown)| (label, shown.map(|shown| shown.text)))
            .collect();
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(values, [("S", some("x")), ("I", some("-7")), ("B", some("true")), ("N", None)]);
        assert!(marked.values(None).iter().all(|(_, value)| value.is_none()));
    }

    #[test]
    fn numbers_are_compared_as_numbers_and_texts_as_texts() {
        let number = |text: &str| Shown { text: text.to_owned(), is_number: true };
        for (value, header, is_same) in [
            (number("42"), "42.0", true),
            (number("42.0"), "42", true),
            (number("1"), "2", false),
            (number("1"), "1.00000000000000001e-17", false),
            (number("9007199254740993"), "9007199254740992", false),
            (number("9007199254740993"), "9007199254740992.0", false),
            (Shown::text("a"), "a", true),
            (Shown::text("1"), "1.0", false),
        ] {
            assert_eq!(value.is(header), is_same, "{value:?} {header}");
        }
    }
}
