//! `Mcp-Param-…`: tool arguments that the schema wants mirrored in headers.

use std::{borrow::Cow, collections::HashSet};

use mcp_json::Node;
use serde::{Deserialize, Serialize};

use super::annotations::annotations;

/// Maximum parameters of one tool mirrored in headers.
const MAX_PARAMS: usize = 256;
/// Above this a double cannot distinguish adjacent integers.
const MAX_SAFE: f64 = 9_007_199_254_740_991.0;

/// The arguments of one tool that headers mirror: those its input schema marks with `x-mcp-header`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct HeaderParams(Vec<HeaderParam>);

/// An argument that a header mirrors.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HeaderParam {
    /// The property names that lead to it from the root.
    path: Vec<Box<str>>,
    /// The part of the header name after `Mcp-Param-`.
    name: Box<str>,
}

/// Why the annotations of a tool are unusable. Clients skip such a tool.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
#[non_exhaustive]
pub enum HeaderParamFault {
    #[error("`x-mcp-header` must be a string that can be part of a header's name")]
    Name,
    #[error("two properties are marked `{0}`")]
    Duplicate(Box<str>),
    #[error("`{0}` marks something that is not a string, an integer or a boolean")]
    Type(Box<str>),
    #[error(
        "`x-mcp-header` is only allowed on properties that are reached through `properties` alone"
    )]
    Unreachable,
    #[error("more than {MAX_PARAMS} properties are marked")]
    TooMany,
}

impl HeaderParams {
    /// Reads the annotations of an input schema.
    ///
    /// ```
    /// use mcp_rules::HeaderParams;
    ///
    /// let schema = br#"{"type":"object","properties":{
    ///     "region":{"type":"string","x-mcp-header":"Region"},
    ///     "limit":{"type":"integer","x-mcp-header":"Limit"}}}"#;
    /// let call = br#"{"region":"eu","limit":10.0}"#;
    /// let (mut tape, mut other) = Default::default();
    /// # let _: (&mcp_json::Tape, &mcp_json::Tape) = (&tape, &other);
    /// let schema = tape.parse(schema, mcp_json::Limits::default())?;
    /// let call = other.parse(call, mcp_json::Limits::default())?;
    ///
    /// let params = HeaderParams::of(schema.root()).unwrap();
    /// let shown: Vec<String> = params
    ///     .iter()
    ///     .filter_map(|param| {
    ///         let value = param.value(Some(call.root()))?;
    ///         Some(format!("Mcp-Param-{}: {}", param.name(), value.to_text()))
    ///     })
    ///     .collect();
    /// assert_eq!(shown, ["Mcp-Param-Region: eu", "Mcp-Param-Limit: 10"]);
    /// # Ok::<(), mcp_json::SyntaxError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// If one of them is unusable.
    pub fn of(input_schema: Node<'_>) -> Result<HeaderParams, HeaderParamFault> {
        let annotations = annotations(input_schema);
        if annotations.len() > MAX_PARAMS {
            return Err(HeaderParamFault::TooMany);
        }
        let mut names = HashSet::new();
        let mut params = Vec::with_capacity(annotations.len());
        for annotation in annotations {
            let path = annotation.path.as_ref().ok_or(HeaderParamFault::Unreachable)?;
            let name = annotation.name().ok_or(HeaderParamFault::Name)?;
            if !annotation.has_type() {
                return Err(HeaderParamFault::Type(name.into()));
            }
            if !names.insert(name.to_ascii_lowercase()) {
                return Err(HeaderParamFault::Duplicate(name.into()));
            }
            let path = path.iter().map(|step| step.as_str().unwrap_or_default().into()).collect();
            params.push(HeaderParam { path, name: name.into() });
        }
        Ok(HeaderParams(params))
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The arguments, in schema order.
    pub fn iter(&self) -> impl Iterator<Item = &HeaderParam> {
        self.0.iter()
    }
}

impl HeaderParam {
    /// The part of the header name after `Mcp-Param-`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The property names that lead to it, for display.
    pub(crate) fn shown_path(&self) -> String {
        self.path.join(".")
    }

    /// Returns its value in a call with these arguments. `None` if it is missing, `null`, or of a
    /// type that cannot be written in a header.
    pub fn value<'a>(&self, arguments: Option<Node<'a>>) -> Option<ParamValue<'a>> {
        ParamValue::of(self.argument(arguments)?)
    }

    /// The argument itself.
    pub(crate) fn argument<'a>(&self, arguments: Option<Node<'a>>) -> Option<Node<'a>> {
        self.path.iter().try_fold(arguments?, |node, name| node.get(name))
    }
}

/// The value of an argument, as mirrored in a header.
#[derive(Debug, Clone, PartialEq)]
#[expect(clippy::exhaustive_enums, reason = "these have a form in headers")]
pub enum ParamValue<'a> {
    /// A string.
    Text(Cow<'a, str>),
    /// `true` or `false`.
    Boolean(bool),
    /// A whole number.
    Integer(i64),
    /// A whole number, as written, that a double cannot hold exactly. Such an argument is a fault,
    /// whatever the header says.
    UnsafeInteger(&'a str),
}

impl<'a> ParamValue<'a> {
    pub(crate) fn of(argument: Node<'a>) -> Option<ParamValue<'a>> {
        if let Some(text) = argument.as_str() {
            return Some(ParamValue::Text(text));
        }
        if let Some(boolean) = argument.as_bool() {
            return Some(ParamValue::Boolean(boolean));
        }
        if !argument.is_integer() {
            return None;
        }
        Some(match argument.as_f64().and_then(safe_integer) {
            Some(integer) => ParamValue::Integer(integer),
            None => ParamValue::UnsafeInteger(argument.number_literal().unwrap_or_default()),
        })
    }

    /// Whether a header with the value `text` is equal. `42.0` equals the number 42, but not the
    /// text.
    pub fn equals(&self, text: &str) -> bool {
        match self {
            ParamValue::Text(own) => own == text,
            ParamValue::Boolean(own) => text == if *own { "true" } else { "false" },
            ParamValue::Integer(own) => {
                text.parse().ok().and_then(safe_integer).is_some_and(|other| other == *own)
            }
            ParamValue::UnsafeInteger(own) => *own == text,
        }
    }

    /// The value as text, to be encoded with [`encode_header_value`](crate::encode_header_value).
    pub fn to_text(&self) -> Cow<'_, str> {
        match self {
            ParamValue::Text(own) => Cow::Borrowed(own),
            ParamValue::Boolean(own) => Cow::Borrowed(if *own { "true" } else { "false" }),
            ParamValue::Integer(own) => Cow::Owned(own.to_string()),
            ParamValue::UnsafeInteger(own) => Cow::Borrowed(own),
        }
    }

    pub(crate) fn as_text(&self) -> Option<&str> {
        match self {
            ParamValue::Text(own) => Some(own),
            ParamValue::Boolean(_) | ParamValue::Integer(_) | ParamValue::UnsafeInteger(_) => None,
        }
    }
}

/// Converts to an integer, if a double represents it exactly and unambiguously.
fn safe_integer(number: f64) -> Option<i64> {
    let safe = number.abs() <= MAX_SAFE && number.fract() == 0.0;
    safe.then(|| format!("{number:.0}").parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use mcp_json::{Limits, Tape};

    use super::*;

    #[track_caller]
    fn check_schema(schema: &str, expected: Result<&[(&str, &str)], HeaderParamFault>) {
        let mut tape = Tape::new();
        let schema = tape.parse(schema.as_bytes(), Limits::default()).unwrap();
        let found = HeaderParams::of(schema.root());
        let found = found.map(|params| -> Vec<(String, String)> {
            params.iter().map(|param| (param.path.join("/"), param.name.to_string())).collect()
        });
        let expected = expected.map(|params| -> Vec<(String, String)> {
            params.iter().map(|(path, name)| (path.to_string(), name.to_string())).collect()
        });
        assert_eq!(found, expected);
    }

    #[test]
    fn parameters_are_found_through_properties() {
        check_schema(
            r#"{"properties":{
                "a":{"type":"string","x-mcp-header":"A"},
                "b":{"type":"object","properties":{"c":{"type":"boolean","x-mcp-header":"C"}}},
                "d":{"default":{"x-mcp-header":"D"},"enum":[{"x-mcp-header":"E"}]},
                "properties":{"type":"integer","x-mcp-header":"P"},
                "x-mcp-header":{"type":"integer"}}}"#,
            Ok(&[("a", "A"), ("b/c", "C"), ("properties", "P")]),
        );
        check_schema(r#"{"properties":{"a":{"type":"string"}}}"#, Ok(&[]));
        check_schema("true", Ok(&[]));
    }

    #[test]
    fn one_fault_spoils_all() {
        let name = HeaderParamFault::Name;
        for (faulty, fault) in [
            (r#"{"type":"number","x-mcp-header":"B"}"#, HeaderParamFault::Type("B".into())),
            (r#"{"type":["string"],"x-mcp-header":"B"}"#, HeaderParamFault::Type("B".into())),
            (r#"{"type":"string","x-mcp-header":"B C"}"#, name.clone()),
            (r#"{"type":"string","x-mcp-header":""}"#, name.clone()),
            (r#"{"type":"string","x-mcp-header":1}"#, name),
            (r#"{"type":"string","x-mcp-header":"a"}"#, HeaderParamFault::Duplicate("a".into())),
            (r#"{"items":{"type":"string","x-mcp-header":"B"}}"#, HeaderParamFault::Unreachable),
            (r#"{"anyOf":[{"type":"string","x-mcp-header":"B"}]}"#, HeaderParamFault::Unreachable),
        ] {
            let schema = format!(
                r#"{{"properties":{{"a":{{"type":"string","x-mcp-header":"A"}},"b":{faulty}}}}}"#
            );
            check_schema(&schema, Err(fault));
        }
        check_schema(r#"{"x-mcp-header":"A"}"#, Err(HeaderParamFault::Unreachable));
        let many: Vec<String> = (0..=MAX_PARAMS)
            .map(|number| format!(r#""{number}":{{"type":"string","x-mcp-header":"{number}"}}"#))
            .collect();
        let schema = format!(r#"{{"properties":{{{}}}}}"#, many.join(","));
        check_schema(&schema, Err(HeaderParamFault::TooMany));
    }

    #[track_caller]
    fn check(json: &str, header: &str, expected: bool) {
        let mut tape = Tape::new();
        let document = tape.parse(json.as_bytes(), Limits::default()).unwrap();
        let value = ParamValue::of(document.root()).unwrap();
        assert_eq!(value.equals(header), expected, "{json} {header}");
    }

    #[test]
    fn strings_and_booleans_are_compared_exactly() {
        check(r#""eu""#, "eu", true);
        check(r#""eu""#, "EU", false);
        check(r#""42""#, "42.0", false);
        check("true", "true", true);
        check("true", "True", false);
        check("false", "0", false);
    }

    #[test]
    fn integers_are_compared_as_numbers() {
        for header in ["42", "42.0", "4.2e1", "+42", "042"] {
            check("42", header, true);
        }
        check("42.0", "42", true);
        check("-0", "0", true);
        for header in ["0x2a", "43", "42.5", "", "forty-two", "inf", "NaN", "4 2"] {
            check("42", header, false);
        }
        check("9007199254740991", "9007199254740991", true);
    }

    #[test]
    fn unsafe_integers_are_only_what_is_written() {
        for json in ["9007199254740992", "-9007199254740993", "1e400", "123456789012345678901"] {
            let mut tape = Tape::new();
            let document = tape.parse(json.as_bytes(), Limits::default()).unwrap();
            let value = ParamValue::of(document.root()).unwrap();
            assert_eq!(value, ParamValue::UnsafeInteger(json));
            assert!(value.equals(json) && !value.equals("9007199254740992.0"));
        }
        for json in ["1.5", "null", "[]", "{}"] {
            let mut tape = Tape::new();
            let document = tape.parse(json.as_bytes(), Limits::default()).unwrap();
            assert_eq!(ParamValue::of(document.root()), None, "{json}");
        }
    }
}
