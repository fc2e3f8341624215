use mcp_core::{Error, Json, Side};
use mcp_rules::{Finding, SchemaFault, Severity};
use serde::de::DeserializeOwned;
use serde_json::json;

use super::integers::with_plain_integers;

/// Deserializes the arguments of a tool into its function's argument type.
///
/// They already match the schema, for which `2.0` is an integer. If the type rejects them, such
/// numbers are rewritten as integers and the arguments are deserialized again.
pub(super) fn read<A: DeserializeOwned>(arguments: &Json) -> Result<A, Error> {
    let error = match arguments.read() {
        Ok(read) => return Ok(read),
        Err(error) => error,
    };
    match with_plain_integers(arguments.as_bytes()) {
        Some(plain) => serde_json::from_slice(&plain).map_err(|error| invalid_arguments(&error)),
        None => Err(invalid_arguments(&error)),
    }
}

/// The schema is too permissive for the type, but only the caller can do something about it.
fn invalid_arguments(error: &serde_json::Error) -> Error {
    let message = "the arguments are invalid".to_owned();
    let findings = mcp_rules::rule("tool-arguments-invalid").map(|rule| {
        let mut finding = Finding::new(rule, Severity::Error, error.to_string());
        finding.code = Some(-32602);
        finding.from = Some(Side::Client);
        finding.at_fault = Some(Side::Client);
        finding.method = Some("tools/call");
        // `serde_json` does not say where it failed, so the finding points to the whole value.
        finding.pointer = Some("/params/arguments".to_owned());
        finding.schema = Some(SchemaFault {
            instance_path: String::new(),
            schema_path: "#".to_owned(),
            keyword: "type".to_owned(),
            params: json!({ "type": "object" }),
        });
        finding
    });
    let findings = findings.and_then(|finding| Json::of(&finding).ok()).into_iter().collect();
    Error::InvalidArguments { message, findings }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;
    use serde_json::Value;

    use super::*;

    #[derive(Debug, PartialEq, Deserialize)]
    struct Taken {
        count: u32,
        many: Vec<Option<i64>>,
        ratio: f64,
        rest: Value,
    }

    fn taken(json: &'static str) -> Result<Taken, Error> {
        read(&Json::parse(json).unwrap())
    }

    #[test]
    fn integral_numbers_are_integers() {
        let plain = taken(r#"{"count":1000,"many":[2,null],"ratio":3,"rest":{}}"#).unwrap();
        assert_eq!(taken(r#"{"count":1e3,"many":[2.0,null],"ratio":3.0,"rest":{}}"#), Ok(plain));
    }

    #[test]
    fn invalid_arguments_have_a_reason() {
        for json in [
            r#"{"count":1.5,"many":[],"ratio":1,"rest":0}"#,
            r#"{"count":1e400,"many":[],"ratio":1,"rest":0}"#,
            r#"{"count":4294967296.0,"many":[],"ratio":1,"rest":0}"#,
        ] {
            let Err(Error::InvalidArguments { findings, .. }) = taken(json) else {
                panic!("{json} fits")
            };
            let finding: Value = findings[0].read().unwrap();
            assert_eq!(finding["rule"], "tool-arguments-invalid");
            assert!(finding["message"].as_str().unwrap().contains("line 1"), "{finding}");
        }
    }
}
