//! JSON with members in insertion order, as real programs send it.
//!
//! `serde_json::Value` would sort the members, and its `preserve_order` feature would change the
//! peers that are measured.

use std::borrow::Cow;
use std::fmt::Write as _;

/// A JSON value with its members in order.
#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Json {
    Null,
    Bool(bool),
    Integer(i64),
    Decimal(f64),
    Text(String),
    Array(Vec<Json>),
    Object(Vec<(Cow<'static, str>, Json)>),
}

impl Json {
    /// An object with these members.
    pub fn object<const N: usize>(members: [(&'static str, Json); N]) -> Json {
        Json::Object(members.into_iter().map(|(name, value)| (name.into(), value)).collect())
    }

    /// The same object with one more member at the end; other values are unchanged.
    #[must_use]
    pub fn with(mut self, name: impl Into<Cow<'static, str>>, value: impl Into<Json>) -> Json {
        if let Json::Object(members) = &mut self {
            members.push((name.into(), value.into()));
        }
        self
    }

    /// Compact text, with non-ASCII characters unescaped.
    pub fn to_text(&self) -> String {
        let mut text = String::new();
        self.write(&mut text);
        text
    }

    /// Appends the compact text.
    pub fn write(&self, out: &mut String) {
        match self {
            Json::Null => out.push_str("null"),
            Json::Bool(value) => push_display(out, value),
            Json::Integer(value) => push_display(out, value),
            Json::Decimal(value) => push_display(out, value),
            Json::Text(text) => write_string(text, out),
            Json::Array(elements) => {
                out.push('[');
                for (index, element) in elements.iter().enumerate() {
                    if index > 0 {
                        out.push(',');
                    }
                    element.write(out);
                }
                out.push(']');
            }
            Json::Object(members) => {
                out.push('{');
                for (index, (name, value)) in members.iter().enumerate() {
                    if index > 0 {
                        out.push(',');
                    }
                    write_string(name, out);
                    out.push(':');
                    value.write(out);
                }
                out.push('}');
            }
        }
    }
}

fn push_display(out: &mut String, value: &impl std::fmt::Display) {
    write!(out, "{value}").expect("a String takes everything");
}

fn write_string(text: &str, out: &mut String) {
    out.push('"');
    for character in text.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            control if control < ' ' => {
                write!(out, "\\u{:04x}", u32::from(control)).expect("a String takes everything");
            }
            other => out.push(other),
        }
    }
    out.push('"');
}

impl From<bool> for Json {
    fn from(value: bool) -> Json {
        Json::Bool(value)
    }
}

impl From<i64> for Json {
    fn from(value: i64) -> Json {
        Json::Integer(value)
    }
}

impl From<f64> for Json {
    fn from(value: f64) -> Json {
        Json::Decimal(value)
    }
}

impl From<&str> for Json {
    fn from(value: &str) -> Json {
        Json::Text(value.to_owned())
    }
}

impl From<String> for Json {
    fn from(value: String) -> Json {
        Json::Text(value)
    }
}

impl<T: Into<Json>> From<Vec<T>> for Json {
    fn from(values: Vec<T>) -> Json {
        Json::Array(values.into_iter().map(Into::into).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::Json;

    #[test]
    fn members_keep_their_order_and_strings_are_escaped() {
        let value = Json::object([
            ("z", Json::from("a\"b\\c\nd\u{1}é")),
            (
                "a",
                Json::Array(vec![Json::Null, Json::from(1_i64), Json::from(0.5), Json::from(true)]),
            ),
        ]);
        assert_eq!(value.to_text(), r#"{"z":"a\"b\\c\nd\u0001é","a":[null,1,0.5,true]}"#);
    }
}
