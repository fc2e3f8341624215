use std::{
    fmt,
    hash::{Hash, Hasher},
};

use mcp_core::RequestId;
use mcp_json::{Kind, Limits, Node, Tape};

/// The id of a message: a string, a number or null, compared by type and value.
///
/// A number keeps its literal text, which is sent back unchanged. Two literals of the same integer
/// (`1`, `1.0`) are nevertheless the same id.
#[derive(Debug, Clone)]
#[expect(missing_docs, reason = "self-explanatory")]
#[expect(clippy::exhaustive_enums, reason = "JSON-RPC 2.0 is finished")]
pub enum JsonRpcId {
    Null,
    /// An integer in its canonical form. Other forms are a `Number`: [`JsonRpcId::as_i64`] reads
    /// both.
    Integer(i64),
    /// The literal of a number that is fractional, too large for `Integer`, or not in canonical form.
    Number(Box<str>),
    String(Box<str>),
}

impl JsonRpcId {
    /// The id in `node`, or `None` if ids cannot have its type.
    pub fn read(node: Node<'_>) -> Option<JsonRpcId> {
        match node.kind() {
            Kind::Null => Some(JsonRpcId::Null),
            Kind::String => node.as_str().map(|text| JsonRpcId::String(text.into())),
            Kind::Integer | Kind::Decimal => {
                let spelling = node.number_literal()?;
                if node.kind() == Kind::Integer
                    && let Some(value) = node.as_i64()
                    && spelling != "-0"
                {
                    return Some(JsonRpcId::Integer(value));
                }
                Some(JsonRpcId::Number(spelling.into()))
            }
            Kind::Bool | Kind::Array | Kind::Object => None,
        }
    }

    /// The value, if the id is an integer, in any form, that fits into `i64`.
    pub fn as_i64(&self) -> Option<i64> {
        match self {
            JsonRpcId::Integer(value) => Some(*value),
            JsonRpcId::Number(spelling) => with_number(spelling, integer_value),
            JsonRpcId::Null | JsonRpcId::String(_) => None,
        }
    }

    /// The id as an MCP request id, if it is a string or an integer.
    pub fn to_request_id(&self) -> Option<RequestId> {
        match self {
            JsonRpcId::Null => None,
            JsonRpcId::Integer(value) => Some(RequestId::from(*value)),
            JsonRpcId::Number(spelling) => match self.as_i64() {
                Some(value) => Some(RequestId::from(value)),
                None => RequestId::from_integer_literal(spelling),
            },
            JsonRpcId::String(text) => Some(RequestId::from(&**text)),
        }
    }

    /// The length of its text in bytes.
    pub(crate) fn text_length(&self) -> usize {
        match self {
            JsonRpcId::Null | JsonRpcId::Integer(_) => 0,
            JsonRpcId::Number(text) | JsonRpcId::String(text) => text.len(),
        }
    }

    /// Whether MCP allows this id: a string, or an integer in any form.
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

/// Beyond this, a float cannot represent every integer.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// The integer value of a number node, if it is integral and fits: `7`, `7.0` and `70e-1` alike.
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

/// Applies `look` to the number with the literal `spelling`, if it is one.
pub(crate) fn with_number<T>(
    spelling: &str,
    look: impl FnOnce(Node<'_>) -> Option<T>,
) -> Option<T> {
    let mut tape = Tape::new();
    let limits = Limits { max_bytes: usize::MAX, max_depth: 0 };
    let document = tape.parse(spelling.as_bytes(), limits).ok()?;
    let root = document.root();
    if root.is_number() { look(root) } else { None }
}

impl PartialEq for JsonRpcId {
    fn eq(&self, other: &Self) -> bool {
        use JsonRpcId::{Integer, Null, Number, String};
        match (self, other) {
            (Null, Null) => true,
            (Integer(one), Integer(other)) => one == other,
            (String(one), String(other)) => one == other,
            (Number(one), Number(other)) if one == other => true,
            (Integer(_) | Number(_), Integer(_) | Number(_)) => {
                self.as_i64().is_some_and(|value| other.as_i64() == Some(value))
            }
            _ => false,
        }
    }
}

impl Eq for JsonRpcId {}

impl Hash for JsonRpcId {
    fn hash<H: Hasher>(&self, state: &mut H) {
        match (self, self.as_i64()) {
            (_, Some(value)) => value.hash(state),
            (JsonRpcId::Number(text) | JsonRpcId::String(text), None) => text.hash(state),
            (JsonRpcId::Null | JsonRpcId::Integer(_), None) => 0_u8.hash(state),
        }
    }
}

impl From<i64> for JsonRpcId {
    fn from(value: i64) -> Self {
        JsonRpcId::Integer(value)
    }
}

impl From<&str> for JsonRpcId {
    fn from(text: &str) -> Self {
        JsonRpcId::String(text.into())
    }
}

impl From<String> for JsonRpcId {
    fn from(text: String) -> Self {
        JsonRpcId::String(text.into())
    }
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
        assert_eq!(read("1.0"), read("10e-1"));
        assert_eq!(read("-0"), read("0"));
        assert_ne!(read("1.5"), read("1.50"));
        assert_ne!(read("10000000000000000001"), read("10000000000000000002"));
        assert_ne!(read("null"), read("0"));
        assert_eq!(read("\"a\""), read(r#""\u0061""#));
        assert_eq!(read("null"), Some(JsonRpcId::Null));
    }

    #[test]
    fn ids_are_written_as_they_were_read() {
        for spelling in
            ["0", "-0", "-5", "1.0", "1e2", "10000000000000000001", "1.50", "\"7\"", "null"]
        {
            assert_eq!(read(spelling).unwrap().to_string(), spelling);
        }
    }

    #[test]
    fn equal_ids_have_equal_hashes() {
        let hash = |json| {
            let mut hasher = std::hash::DefaultHasher::new();
            read(json).unwrap().hash(&mut hasher);
            hasher.finish()
        };
        for (one, other) in [("1", "1.0"), ("0", "-0"), ("100", "1e2"), ("1.5", "1.5")] {
            assert_eq!(hash(one), hash(other), "{one} {other}");
        }
    }

    #[test]
    fn ids_convert_from_integers_and_strings() {
        assert_eq!(Some(JsonRpcId::from(7)), read("7"));
        assert_eq!(Some(JsonRpcId::from("7")), read("\"7\""));
        assert_eq!(Some(JsonRpcId::from("7".to_owned())), read("\"7\""));
        assert_eq!(read("7.0").unwrap().as_i64(), Some(7));
        for other in ["7.5", "10000000000000000001", "null", "\"7\""] {
            assert_eq!(read(other).unwrap().as_i64(), None, "{other}");
        }
        assert_eq!(JsonRpcId::Number("true".into()).as_i64(), None);
    }

    #[test]
    fn other_types_are_not_ids() {
        for json in ["true", "[]", "{}"] {
            assert_eq!(read(json), None, "{json}");
        }
    }

    #[test]
    fn mcp_allows_strings_and_integers() {
        let request_id = |json| read(json).unwrap().to_request_id();
        assert_eq!(request_id("3"), Some(RequestId::from(3)));
        assert_eq!(request_id("3.0"), Some(RequestId::from(3)));
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
