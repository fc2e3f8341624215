use std::fmt;

use mcp_core::RequestId;
use mcp_json::{Kind, Node};

/// The id of a message: a string, a number or null, compared by type and value.
///
/// A number that is mathematically an integer and fits is always `Integer`, however it was
/// spelled (`1`, `1.0`); every other number keeps its spelling, so that no digit is lost.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the names say it")]
#[expect(clippy::exhaustive_enums, reason = "JSON-RPC 2.0 is finished")]
pub enum JsonRpcId {
    Null,
    Integer(i64),
    /// A number that is fractional or too large for `Integer`.
    Number(Box<str>),
    String(Box<str>),
}

impl JsonRpcId {
    /// The id that `node` holds, or `None` if it is of a type no id may have.
    pub fn read(node: Node<'_>) -> Option<JsonRpcId> {
        match node.kind() {
            Kind::Null => Some(JsonRpcId::Null),
            Kind::String => node.as_str().map(|text| JsonRpcId::String(text.into())),
            Kind::Integer | Kind::Decimal => {
                if let Some(value) = integer_value(node) {
                    return Some(JsonRpcId::Integer(value));
                }
                node.number_literal().map(|spelling| JsonRpcId::Number(spelling.into()))
            }
            Kind::Bool | Kind::Array | Kind::Object => None,
        }
    }

    /// The id as MCP knows it: a string or an integer.
    pub fn to_request_id(&self) -> Option<RequestId> {
        match self {
            JsonRpcId::Null => None,
            JsonRpcId::Integer(value) => Some(RequestId::from(*value)),
            JsonRpcId::Number(spelling) => RequestId::from_integer_literal(spelling),
            JsonRpcId::String(text) => Some(RequestId::from(&**text)),
        }
    }

    /// Whether MCP has such ids: strings, and integers however they are spelled.
    pub(crate) fn is_known_to_mcp(&self) -> bool {
        match self {
            JsonRpcId::Null => false,
            JsonRpcId::Integer(_) | JsonRpcId::String(_) => true,
            JsonRpcId::Number(spelling) => {
                spelling.parse::<f64>().is_ok_and(|value| value.fract() == 0.0)
            }
        }
    }
}

/// Beyond this a float no longer tells neighbouring integers apart.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// The integer a number node stands for, if it is one and fits: `7`, `7.0` and `70e-1` alike.
pub(crate) fn integer_value(node: Node<'_>) -> Option<i64> {
    if node.kind() == Kind::Integer {
        return node.as_i64();
    }
    if !node.is_integer() {
        return None;
    }
    let value = node.as_f64()?;
    #[expect(clippy::cast_possible_truncation, reason = "integral and within the exact range")]
    (value.abs() < EXACT).then_some(value as i64)
}

impl From<RequestId> for JsonRpcId {
    fn from(id: RequestId) -> Self {
        match (id.as_i64(), id.as_str()) {
            (Some(value), _) => JsonRpcId::Integer(value),
            (None, Some(text)) => JsonRpcId::String(text.into()),
            (None, None) => JsonRpcId::Number(id.to_string().into()),
        }
    }
}

impl fmt::Display for JsonRpcId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            JsonRpcId::Null => f.write_str("null"),
            JsonRpcId::Integer(value) => value.fmt(f),
            JsonRpcId::Number(spelling) => f.write_str(spelling),
            JsonRpcId::String(text) => write!(f, "{text:?}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use mcp_json::{Limits, Tape};

    use super::*;

    fn read(json: &str) -> Option<JsonRpcId> {
        let mut tape = Tape::new();
        let document = tape.parse(json.as_bytes(), Limits::default()).unwrap();
        JsonRpcId::read(document.root())
    }

    #[test]
    fn ids_are_compared_by_type_and_value() {
        assert_eq!(read("1"), read("1.0"));
        assert_ne!(read("1"), read("\"1\""));
        assert_ne!(read("1"), read("1.5"));
        assert_eq!(read("\"a\""), read(r#""\u0061""#));
        assert_eq!(read("null"), Some(JsonRpcId::Null));
    }

    #[test]
    fn no_digit_is_lost_on_the_way_out() {
        for spelling in ["0", "-5", "10000000000000000001", "1.5", "\"7\"", "null"] {
            assert_eq!(read(spelling).unwrap().to_string(), spelling);
        }
    }

    #[test]
    fn other_types_are_no_ids() {
        for json in ["true", "[]", "{}"] {
            assert_eq!(read(json), None, "{json}");
        }
    }

    #[test]
    fn mcp_knows_strings_and_integers() {
        let request_id = |json| read(json).unwrap().to_request_id();
        assert_eq!(request_id("3"), Some(RequestId::from(3)));
        assert_eq!(request_id("10000000000000000001").unwrap().to_string(), "10000000000000000001");
        assert_eq!(request_id("1.5"), None);
        assert_eq!(request_id("null"), None);
        for id in
            [RequestId::from(4), RequestId::from("x"), request_id("10000000000000000001").unwrap()]
        {
            assert_eq!(JsonRpcId::from(id.clone()).to_request_id(), Some(id));
        }
    }
}
