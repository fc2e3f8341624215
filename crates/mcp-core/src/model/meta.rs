use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use serde_json::{Map, Value};

/// The members of `_meta`: those that the protocol defines, and any others.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Meta(Map<String, Value>);

impl Meta {
    /// The token that links progress notifications to their request.
    pub const PROGRESS_TOKEN: &str = "progressToken";
    /// The revision of a request.
    pub const PROTOCOL_VERSION: &str = "io.modelcontextprotocol/protocolVersion";
    /// The capabilities of the client that sent the request.
    pub const CLIENT_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
    /// The name and version of the client that sent the request.
    pub const CLIENT_INFO: &str = "io.modelcontextprotocol/clientInfo";
    /// The lowest level of log messages that the client wants.
    pub const LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";
    /// The name and version of the server that sent the result.
    pub const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";
    /// The id that links a notification to the request that subscribed to it.
    pub const SUBSCRIPTION_ID: &str = "io.modelcontextprotocol/subscriptionId";
    /// The violations in a tool's arguments, in its result, in the format of an error's `data`. This
    /// name is ours, not the protocol's.
    pub const FINDINGS: &str = "dev.plumb/findings";

    /// An empty `_meta`.
    pub fn new() -> Meta {
        Meta::default()
    }

    /// Sets a member.
    pub fn insert(&mut self, key: impl Into<String>, value: impl Into<Value>) {
        self.0.insert(key.into(), value.into());
    }

    /// Sets a member.
    #[must_use]
    pub fn with(mut self, key: impl Into<String>, value: impl Into<Value>) -> Meta {
        self.insert(key, value);
        self
    }

    /// The value of a member.
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.0.get(key)
    }

    /// The members.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.0.iter().map(|(key, value)| (key.as_str(), value))
    }

    /// Whether there are no members.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Links progress notifications to their request: an integer or a string.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ProgressToken(Token);

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Token {
    Integer(i64),
    String(Box<str>),
}

impl From<i64> for ProgressToken {
    fn from(value: i64) -> Self {
        ProgressToken(Token::Integer(value))
    }
}

impl From<&str> for ProgressToken {
    fn from(text: &str) -> Self {
        ProgressToken(Token::String(text.into()))
    }
}

impl From<String> for ProgressToken {
    fn from(text: String) -> Self {
        ProgressToken(Token::String(text.into()))
    }
}

impl fmt::Debug for ProgressToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Token::Integer(value) => value.fmt(f),
            Token::String(text) => text.fmt(f),
        }
    }
}

impl Serialize for ProgressToken {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.0 {
            Token::Integer(value) => serializer.serialize_i64(*value),
            Token::String(text) => serializer.serialize_str(text),
        }
    }
}

impl<'de> Deserialize<'de> for ProgressToken {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TokenVisitor)
    }
}

struct TokenVisitor;

impl de::Visitor<'_> for TokenVisitor {
    type Value = ProgressToken;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string or an integer")
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<ProgressToken, E> {
        Ok(value.into())
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<ProgressToken, E> {
        i64::try_from(value).map(Into::into).map_err(E::custom)
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<ProgressToken, E> {
        #[expect(clippy::cast_possible_truncation, reason = "compared with the original")]
        let integer = value as i64;
        #[expect(clippy::cast_precision_loss, clippy::float_cmp, reason = "exactly the integers")]
        if integer as f64 == value {
            return Ok(integer.into());
        }
        Err(E::invalid_type(de::Unexpected::Float(value), &self))
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<ProgressToken, E> {
        Ok(text.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_keep_their_type() {
        for text in ["7", "\"7\"", "-1"] {
            let token: ProgressToken = serde_json::from_str(text).unwrap();
            assert_eq!(serde_json::to_string(&token).unwrap(), text);
        }
        assert_eq!(serde_json::from_str::<ProgressToken>("7.0").unwrap(), 7.into());
        assert!(serde_json::from_str::<ProgressToken>("1.5").is_err());
        assert!(serde_json::from_str::<ProgressToken>("null").is_err());
    }
}
