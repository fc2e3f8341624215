use std::fmt;
use std::hash::{Hash, Hasher};

use serde::{Deserialize, Serialize};

/// The id of a request: an integer or a string, compared by type and value.
///
/// Integers of any size are compared exactly: `9007199254740993` is not `9007199254740992`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RequestId(Repr);

/// An integer that fits into `i64` is always `Integer`, which gives equal ids one representation.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
enum Repr {
    Integer(i64),
    /// Decimal digits, optionally after a minus sign, without leading zeros.
    BigInteger(Box<str>),
    String(Box<str>),
}

/// An integer and a string may share a hash; in return, common ids are cheap to look up.
impl Hash for Repr {
    #[inline]
    fn hash<H: Hasher>(&self, state: &mut H) {
        match self {
            Repr::Integer(value) => state.write_i64(*value),
            Repr::BigInteger(text) | Repr::String(text) => text.hash(state),
        }
    }
}

impl RequestId {
    /// The id for the integer literal `digits` (`-?(0|[1-9][0-9]*)`), or `None` if `digits` has
    /// another form.
    pub fn from_integer_literal(digits: &str) -> Option<RequestId> {
        let magnitude = digits.strip_prefix('-').unwrap_or(digits);
        let canonical = match magnitude.as_bytes() {
            [b'0'] => true,
            [b'1'..=b'9', rest @ ..] => rest.iter().all(u8::is_ascii_digit),
            _ => false,
        };
        canonical.then(|| match digits.parse() {
            Ok(value) => RequestId(Repr::Integer(value)),
            Err(_) => RequestId(Repr::BigInteger(digits.into())),
        })
    }

    /// The value, if the id is an integer that fits into `i64`.
    pub fn as_i64(&self) -> Option<i64> {
        match self.0 {
            Repr::Integer(value) => Some(value),
            Repr::BigInteger(_) | Repr::String(_) => None,
        }
    }

    /// The text, if the id is a string.
    pub fn as_str(&self) -> Option<&str> {
        match &self.0 {
            Repr::String(text) => Some(text),
            Repr::Integer(_) | Repr::BigInteger(_) => None,
        }
    }
}

impl From<i64> for RequestId {
    fn from(value: i64) -> Self {
        RequestId(Repr::Integer(value))
    }
}

impl From<&str> for RequestId {
    fn from(text: &str) -> Self {
        RequestId(Repr::String(text.into()))
    }
}

impl From<String> for RequestId {
    fn from(text: String) -> Self {
        RequestId(Repr::String(text.into()))
    }
}

/// `92` and `"92"` print differently: they are different ids.
impl fmt::Display for RequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Repr::Integer(value) => value.fmt(f),
            Repr::BigInteger(digits) => f.write_str(digits),
            Repr::String(text) => write!(f, "{text:?}"),
        }
    }
}

impl fmt::Debug for RequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_and_its_text_are_different_ids() {
        assert_ne!(RequestId::from(92), RequestId::from("92"));
        assert_eq!(RequestId::from(92).to_string(), "92");
        assert_eq!(RequestId::from("92").to_string(), "\"92\"");
    }

    #[test]
    fn literals_keep_every_digit() {
        let literal = |digits| RequestId::from_integer_literal(digits);
        assert_eq!(literal("-5"), Some(RequestId::from(-5)));
        assert_ne!(literal("10000000000000000001"), literal("10000000000000000002"));
        assert_eq!(literal("10000000000000000001").unwrap().to_string(), "10000000000000000001");
        for other in [
            "",
            "-",
            "1.0",
            "1e3",
            "0x1",
            "+1",
            "-00000000000000000000001",
            "99999999999999999999a",
        ] {
            assert_eq!(literal(other), None, "{other}");
        }
    }
}
