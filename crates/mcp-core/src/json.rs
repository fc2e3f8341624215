use std::{
    fmt,
    hash::{Hash, Hasher},
};

use bytes::Bytes;
use mcp_json::{Limits, Parsed, SyntaxError};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::IgnoredAny};
use serde_json::{Value, value::RawValue};

/// A JSON value as text: shared, cheap to clone, never rewritten.
///
/// Payloads pass through the domain in this form. Code that needs a value reads it with
/// [`Json::read`]; code that only forwards it does not pay for parsing. A value taken from a parsed
/// message keeps its part of the tape, and [`Json::to_parsed`] does not parse it again.
#[derive(Clone)]
pub struct Json(Form);

#[derive(Clone)]
enum Form {
    Text(Bytes),
    Parsed(Parsed),
}

impl Json {
    /// Serializes `value`.
    ///
    /// # Errors
    ///
    /// If its `Serialize` fails, or it has map keys that are not strings.
    pub fn of<T: Serialize + ?Sized>(value: &T) -> Result<Json, serde_json::Error> {
        serde_json::to_vec(value).map(|text| Json(Form::Text(text.into())))
    }

    /// Checks that `text` is exactly one JSON value.
    ///
    /// # Errors
    ///
    /// If it is not; the error has the position.
    pub fn parse(text: impl Into<Bytes>) -> Result<Json, serde_json::Error> {
        let text = text.into();
        serde_json::from_slice::<IgnoredAny>(&text)?;
        Ok(Json(Form::Text(text)))
    }

    /// Takes `text` without checking it: the caller has parsed it already. Text that is not JSON
    /// fails later, in [`Json::read`] or when it is serialized.
    pub fn already_parsed(text: Bytes) -> Json {
        Json(Form::Text(text))
    }

    /// `{}`.
    pub fn empty_object() -> Json {
        Json(Form::Text(Bytes::from_static(b"{}")))
    }

    /// Reads the text as a `T`, which may borrow from it.
    ///
    /// # Errors
    ///
    /// If the value does not have the shape of `T`.
    pub fn read<'j, T: Deserialize<'j>>(&'j self) -> Result<T, serde_json::Error> {
        serde_json::from_slice(self.as_bytes())
    }

    /// The text as a [`Value`]. Numbers that a `Value` cannot hold exactly lose precision.
    ///
    /// # Errors
    ///
    /// If it is nested deeper than `serde_json` allows, or has a number outside the range of `f64`.
    pub fn to_value(&self) -> Result<Value, serde_json::Error> {
        self.read()
    }

    /// Whether it is an object, provided it is valid JSON.
    pub(crate) fn is_object(&self) -> bool {
        self.as_bytes().iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b'{')
    }

    /// The text.
    pub fn as_bytes(&self) -> &[u8] {
        match &self.0 {
            Form::Text(text) => text,
            Form::Parsed(value) => value.as_bytes(),
        }
    }

    /// The text, shared.
    pub fn into_bytes(self) -> Bytes {
        match self.0 {
            Form::Text(text) => text,
            Form::Parsed(value) => value.text(),
        }
    }

    /// The value with its tape: the one it was parsed with, or a new one.
    ///
    /// # Errors
    ///
    /// If it is not JSON, or nested too deeply.
    pub fn to_parsed(&self) -> Result<Parsed, SyntaxError> {
        match &self.0 {
            Form::Text(text) => {
                Parsed::parse(text.clone(), Limits { max_bytes: usize::MAX, ..Limits::default() })
            }
            Form::Parsed(value) => Ok(value.clone()),
        }
    }

    /// The same text without its tape, for values that are stored rather than read.
    #[must_use]
    pub fn without_tape(self) -> Json {
        Json(Form::Text(self.into_bytes()))
    }

    /// How much memory it holds in bytes, including the tape if it has one.
    pub fn memory(&self) -> usize {
        match &self.0 {
            Form::Text(text) => text.len(),
            Form::Parsed(value) => value.memory(),
        }
    }
}

impl fmt::Debug for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&String::from_utf8_lossy(self.as_bytes()))
    }
}

/// Two values are equal if their texts are.
impl PartialEq for Json {
    fn eq(&self, other: &Json) -> bool {
        self.as_bytes() == other.as_bytes()
    }
}

impl Eq for Json {}

impl Hash for Json {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.as_bytes().hash(state);
    }
}

impl From<Parsed> for Json {
    fn from(value: Parsed) -> Self {
        Json(Form::Parsed(value))
    }
}

impl From<Value> for Json {
    fn from(value: Value) -> Self {
        Json::from(&value)
    }
}

impl From<&Value> for Json {
    fn from(value: &Value) -> Self {
        Json(Form::Text(value.to_string().into()))
    }
}

/// See [`Json::to_value`].
impl TryFrom<Json> for Value {
    type Error = serde_json::Error;

    fn try_from(json: Json) -> Result<Self, Self::Error> {
        json.to_value()
    }
}

/// See [`Json::to_value`].
impl TryFrom<&Json> for Value {
    type Error = serde_json::Error;

    fn try_from(json: &Json) -> Result<Self, Self::Error> {
        json.to_value()
    }
}

/// Preserves the text exactly when `serde_json` writes it.
impl Serialize for Json {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let raw: &RawValue =
            serde_json::from_slice(self.as_bytes()).map_err(serde::ser::Error::custom)?;
        raw.serialize(serializer)
    }
}

/// Preserves the text exactly when `serde_json` reads it.
impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = Box::<RawValue>::deserialize(deserializer)?;
        Ok(Json(Form::Text(Bytes::copy_from_slice(raw.get().as_bytes()))))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn values_round_trip_through_text() {
        for value in [json!(null), json!({ "a": [1, -2.5, "ä\n", true] }), json!(u64::MAX)] {
            let json = Json::from(&value);
            assert_eq!(json, Json::from(value.clone()));
            assert_eq!(json.to_string(), value.to_string());
            assert_eq!(Value::try_from(&json).unwrap(), value);
            assert_eq!(Value::try_from(json).unwrap(), value);
        }
    }

    #[test]
    fn text_that_a_value_cannot_hold_is_an_error() {
        for text in ["1e999".to_owned(), "[".repeat(200) + &"]".repeat(200)] {
            let json = Json::already_parsed(text.into());
            assert!(json.to_value().is_err(), "{json}");
        }
    }

    #[test]
    fn a_value_deserializes_from_a_serde_value() {
        let json: Json = serde_json::from_value(json!({ "b": 1.5, "a": [] })).unwrap();
        assert_eq!(json.to_value().unwrap(), json!({ "b": 1.5, "a": [] }));
        assert_eq!(serde_json::to_value(&json).unwrap(), json!({ "b": 1.5, "a": [] }));
    }

    #[test]
    fn the_text_is_preserved_exactly() {
        let text = r#"{"a": 1.0,"b":[ ]}"#;
        let json: Json = serde_json::from_str(text).unwrap();
        assert_eq!(serde_json::to_string(&json).unwrap(), text);
        assert_eq!(Json::parse(text).unwrap(), json);
    }

    #[test]
    fn a_part_of_a_parsed_text_equals_its_own_text() {
        let whole = Json::parse(r#"{"a": {"b":1} }"#).unwrap().to_parsed().unwrap();
        let part = Json::from(whole.part(whole.document().root().get("a").unwrap()));
        assert_eq!(part, Json::parse(r#"{"b":1}"#).unwrap());
        assert_eq!(part.clone().without_tape(), part);
        assert_eq!(part.to_parsed().unwrap().source(), whole.source(), "nothing is parsed again");
        assert!(part.memory() > part.clone().without_tape().memory());
        assert_eq!(part.clone().into_bytes(), part.as_bytes());
    }

    #[test]
    fn invalid_json_is_rejected() {
        assert!(Json::parse("{").is_err());
        assert!(Json::parse("1 2").is_err());
        assert!(serde_json::to_string(&Json::already_parsed(Bytes::from_static(b"{"))).is_err());
    }
}
