//! Tool arguments that are repeated in HTTP headers.
//!
//! A tool marks properties of its input schema with `x-mcp-header`; a client repeats their values,
//! a server compares them.

use mcp_core::Json;
use mcp_json::Node;
use mcp_rules::{HeaderParamFault, HeaderParams};

/// The member that marks a property.
const MARK: &[u8] = b"x-mcp-header";

/// The marked properties of one tool.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Marked(HeaderParams);

/// Why a tool's marks cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum BadMark {
    #[error(transparent)]
    Param(HeaderParamFault),
    #[error("the schema is not JSON")]
    Schema,
}

impl Marked {
    /// Reads the marks of a tool's input schema.
    pub(crate) fn of(input_schema: &Json) -> Result<Marked, BadMark> {
        // A quick exit: most tools have no marks, and servers read them for every call.
        let text = input_schema.as_bytes();
        if !text.windows(MARK.len()).any(|part| part == MARK) {
            return Ok(Marked::default());
        }
        let schema = input_schema.to_parsed().map_err(|_| BadMark::Schema)?;
        HeaderParams::of(schema.document().root()).map(Marked).map_err(BadMark::Param)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The header names of those properties that `arguments` have, and their values.
    pub(crate) fn values(&self, arguments: Node<'_>) -> Vec<(String, String)> {
        let value = |param: &mcp_rules::HeaderParam| {
            let value = param.value(Some(arguments))?;
            Some((param.name().to_owned(), value.to_text().into_owned()))
        };
        self.0.iter().filter_map(value).collect()
    }

    #[cfg(feature = "http")]
    pub(crate) fn into_params(self) -> HeaderParams {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use mcp_json::{Limits, Tape};

    use super::*;

    #[test]
    fn values_are_shown_as_text() {
        let schema = r#"{"properties":{"s":{"type":"string","x-mcp-header":"S"},
            "i":{"type":"integer","x-mcp-header":"I"},"b":{"type":"boolean","x-mcp-header":"B"},
            "n":{"type":"string","x-mcp-header":"N"},
            "o":{"properties":{"p":{"type":"string","x-mcp-header":"P"}}}}}"#;
        let marked = Marked::of(&Json::parse(schema).unwrap()).unwrap();
        let mut tape = Tape::new();
        let text = br#"{"s":"x","i":-7,"b":true,"n":null,"o":{"p":""}}"#;
        let document = tape.parse(text, Limits::default()).unwrap();
        let values = marked.values(document.root());
        let expected = [("S", "x"), ("I", "-7"), ("B", "true"), ("P", "")];
        assert_eq!(values, expected.map(|(label, value)| (label.to_owned(), value.to_owned())));
    }

    #[test]
    fn bad_marks_are_told() {
        let schema = r#"{"properties":{"a":{"type":"number","x-mcp-header":"A"}}}"#;
        let error = Marked::of(&Json::parse(schema).unwrap()).unwrap_err();
        assert_eq!(
            error.to_string(),
            "`A` marks something that is not a string, an integer or a boolean"
        );
    }
}
