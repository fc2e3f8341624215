use std::fmt;

use bytes::Bytes;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::IgnoredAny};
use serde_json::{Value, value::RawValue};

/// A piece of JSON as text: shared, cheap to clone, never rewritten.
///
/// Payloads travel through the domain in this form. Whoever needs a value reads it with
/// [`Json::read`]; whoever only passes it on never pays for it.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Json(Bytes);

impl Json {
    /// Writes `value` as JSON.
    ///
    /// # Errors
    ///
    /// If its `Serialize` fails, or it has map keys that are no strings.
    pub fn of<T: Serialize + ?Sized>(value: &T) -> Result<Json, serde_json::Error> {
        serde_json::to_vec(value).map(|text| Json(text.into()))
    }

    /// Takes `text` if it is one JSON value.
    ///
    /// # Errors
    ///
    /// Where it is not JSON.
    pub fn parse(text: impl Into<Bytes>) -> Result<Json, serde_json::Error> {
        let text = text.into();
        serde_json::from_slice::<IgnoredAny>(&text)?;
        Ok(Json(text))
    }

    /// Takes `text` on the word of the caller, who has parsed it already. Text that is not JSON
    /// after all fails later, in [`Json::read`] or when it is written out.
    pub fn already_parsed(text: Bytes) -> Json {
        Json(text)
    }

    /// `{}`.
    pub fn empty_object() -> Json {
        Json(Bytes::from_static(b"{}"))
    }

    /// Reads the text as a `T`, which may borrow from it.
    ///
    /// # Errors
    ///
    /// If the value does not have the shape of `T`.
    pub fn read<'j, T: Deserialize<'j>>(&'j self) -> Result<T, serde_json::Error> {
        serde_json::from_slice(&self.0)
    }

    /// The text as a [`Value`]. Numbers that no `Value` can hold exactly lose what it cannot hold.
    ///
    /// # Errors
    ///
    /// If it is nested deeper than `serde_json` reads, or has a number beyond the range of `f64`.
    pub fn to_value(&self) -> Result<Value, serde_json::Error> {
        self.read()
    }

    /// Whether it is an object, if it is JSON at all.
    pub(crate) fn is_object(&self) -> bool {
        self.0.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b'{')
    }

    /// A part of this text that was read from it, sharing its memory.
    pub(crate) fn part(&self, part: &RawValue) -> Json {
        let part = part.get().as_bytes();
        let whole = self.0.as_ptr_range();
        let lies_within = whole.contains(&part.as_ptr()) && part.as_ptr_range().end <= whole.end;
        Json(if lies_within { self.0.slice_ref(part) } else { Bytes::copy_from_slice(part) })
    }

    /// The text.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// The text, shared.
    pub fn into_bytes(self) -> Bytes {
        self.0
    }
}

impl fmt::Debug for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&String::from_utf8_lossy(&self.0))
    }
}

impl From<Value> for Json {
    fn from(value: Value) -> Self {
        Json::from(&value)
    }
}

impl From<&Value> for Json {
    fn from(value: &Value) -> Self {
        Json(value.to_string().into())
    }
}

/// As [`Json::to_value`].
impl TryFrom<Json> for Value {
    type Error = serde_json::Error;

    fn try_from(json: Json) -> Result<Self, Self::Error> {
        json.to_value()
    }
}

/// As [`Json::to_value`].
impl TryFrom<&Json> for Value {
    type Error = serde_json::Error;

    fn try_from(json: &Json) -> Result<Self, Self::Error> {
        json.to_value()
    }
}

/// Keeps the spelling when `serde_json` writes it.
impl Serialize for Json {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let raw: &RawValue = serde_json::from_slice(&self.0).map_err(serde::ser::Error::custom)?;
        raw.serialize(serializer)
    }
}

/// Keeps the spelling when `serde_json` reads it.
impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = Box::<RawValue>::deserialize(deserializer)?;
        Ok(Json(Bytes::copy_from_slice(raw.get().as_bytes())))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn values_become_text_and_come_back() {
        for value in [json!(null), json!({ "a": [1, -2.5, "ä\n", true] }), json!(u64::MAX)] {
            let json = Json::from(&value);
            assert_eq!(json, Json::from(value.clone()));
            assert_eq!(json.to_string(), value.to_string());
            assert_eq!(Value::try_from(&json).unwrap(), value);
            assert_eq!(Value::try_from(json).unwrap(), value);
        }
    }

    #[test]
    fn text_that_no_value_can_hold_is_an_error() {
        for text in ["1e999".to_owned(), "[".repeat(200) + &"]".repeat(200)] {
            let json = Json::already_parsed(text.into());
            assert!(json.to_value().is_err(), "{json}");
        }
    }

    #[test]
    fn the_spelling_survives_from_a_value_too() {
        let json: Json = serde_json::from_value(json!({ "b": 1.5, "a": [] })).unwrap();
        assert_eq!(json.to_value().unwrap(), json!({ "b": 1.5, "a": [] }));
        assert_eq!(serde_json::to_value(&json).unwrap(), json!({ "b": 1.5, "a": [] }));
    }

    #[test]
    fn the_spelling_survives() {
        let text = r#"{"a": 1.0,"b":[ ]}"#;
        let json: Json = serde_json::from_str(text).unwrap();
        assert_eq!(serde_json::to_string(&json).unwrap(), text);
        assert_eq!(Json::parse(text).unwrap(), json);
    }

    #[test]
    fn what_is_no_json_is_refused() {
        assert!(Json::parse("{").is_err());
        assert!(Json::parse("1 2").is_err());
        assert!(serde_json::to_string(&Json::already_parsed(Bytes::from_static(b"{"))).is_err());
    }
}
