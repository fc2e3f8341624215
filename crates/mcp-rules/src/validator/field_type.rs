use std::{fmt, str::FromStr};

use mcp_json::{Kind, Node};

/// A type of JSON value.
///
/// Parsing also accepts names used by other validators: `binary` for a string, `map` for an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the names are JSON's")]
#[expect(clippy::exhaustive_enums, reason = "JSON has no more types")]
pub enum FieldType {
    Null,
    Boolean,
    /// A number without a fraction, however it is written.
    Integer,
    Number,
    String,
    Array,
    Object,
    /// Any value.
    Any,
}

impl FieldType {
    /// The narrowest type of `node`.
    pub fn of(node: Node<'_>) -> FieldType {
        match node.kind() {
            Kind::Null => FieldType::Null,
            Kind::Bool => FieldType::Boolean,
            Kind::Integer | Kind::Decimal if node.is_integer() => FieldType::Integer,
            Kind::Integer | Kind::Decimal => FieldType::Number,
            Kind::String => FieldType::String,
            Kind::Array => FieldType::Array,
            Kind::Object => FieldType::Object,
        }
    }

    /// Whether a value of type `actual` is allowed where this type is expected.
    pub fn admits(self, actual: FieldType) -> bool {
        self == actual
            || self == FieldType::Any
            || (self == FieldType::Number && actual == FieldType::Integer)
    }
}

impl fmt::Display for FieldType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            FieldType::Null => "null",
            FieldType::Boolean => "boolean",
            FieldType::Integer => "integer",
            FieldType::Number => "number",
            FieldType::String => "string",
            FieldType::Array => "array",
            FieldType::Object => "object",
            FieldType::Any => "any",
        })
    }
}

impl FromStr for FieldType {
    type Err = UnknownFieldType;

    fn from_str(text: &str) -> Result<Self, UnknownFieldType> {
        Ok(match text {
            "null" => FieldType::Null,
            "boolean" => FieldType::Boolean,
            "integer" => FieldType::Integer,
            "number" => FieldType::Number,
            "string" | "binary" => FieldType::String,
            "array" => FieldType::Array,
            "object" | "map" => FieldType::Object,
            "any" => FieldType::Any,
            other => return Err(UnknownFieldType(other.into())),
        })
    }
}

/// The error for a type that JSON does not have.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is not a type: null, boolean, integer, number, string (binary), array, object (map), any"
)]
pub struct UnknownFieldType(Box<str>);
