//! Selects the schema for a message by its method, or for a response by the method of the request
//! it answers, never by trying a union.

use std::sync::LazyLock;

use serde_json::Value;

use crate::corpus::Message;

pub use self::generated::{ERROR, SCHEMAS, of_call, of_result};

mod generated {
    #![allow(clippy::match_same_arms, reason = "a table, one line per method")]

    include!(concat!(env!("OUT_DIR"), "/selection.rs"));
}

/// The index into [`SCHEMAS`] for a message that was parsed to `value`.
pub fn select(value: &Value, message: &Message) -> Option<usize> {
    match value.get("method") {
        Some(method) => of_call(method.as_str()?),
        None if value.get("error").is_some() => Some(ERROR),
        None => of_result(message.answers?),
    }
}

/// Name and arguments, if the message is a call of a tool.
pub fn tool_call(value: &Value) -> Option<(&str, &Value)> {
    if value.get("method")?.as_str()? != "tools/call" {
        return None;
    }
    let params = value.get("params")?;
    Some((params.get("name")?.as_str()?, params.get("arguments").unwrap_or_else(|| &*EMPTY)))
}

/// The value used for absent arguments.
static EMPTY: LazyLock<Value> = LazyLock::new(|| Value::Object(serde_json::Map::new()));

#[cfg(test)]
mod tests {
    use super::{ERROR, SCHEMAS, of_call, of_result};

    #[test]
    fn every_schema_is_json_and_the_tables_point_into_them() {
        for schema in SCHEMAS {
            assert!(serde_json::from_str::<serde_json::Value>(schema).is_ok(), "{schema}");
        }
        assert!(SCHEMAS[of_call("tools/call").unwrap()].contains("#/$defs/CallToolRequestParams"));
        assert!(SCHEMAS[of_result("tools/call").unwrap()].contains("#/$defs/CallToolResult"));
        assert_eq!(of_result("ping"), of_result("logging/setLevel"));
        assert!(SCHEMAS[ERROR].contains("\"error\""));
        assert_eq!(of_call("tools/unknown"), None);
    }
}
