//! I have a part of a message at hand (a name, some params, a code). Is it right?
//!
//! ```sh
//! cargo run -p example-function-by-function
//! ```
#![expect(clippy::print_stdout, reason = "showing the answers is what it is for")]

use mcp_core::Revision;
use mcp_rules::{
    Details, FieldType, Outcome, Reason, ValidationError, Validator, format_validation_error,
};

fn main() {
    let validator = Validator::new(Revision::V2025_11_25);

    show("a request", validator.validate_request("tools/call", Some(br#"{"name":"echo"}"#)));
    show("one without its name", validator.validate_request("tools/call", Some(b"{}")));
    show("a slip of the pen", validator.validate_method_name("logging/set_level"));
    show("a result", validator.validate_result("tools/call", br#"{"content":"hello"}"#));
    show("a response", validator.validate_response(b"null", Outcome::Result(b"{}")));
    show("a code", validator.validate_error_code(-32604));
    show("a type", validator.validate_field_type("id", b"true", &[FieldType::String]));
    show("a definition", validator.validate("Tool", br#"{"name":"now"}"#));
    show("a URI", validator.validate_resource_uri("notes/today"));
    let schema = br#"{"type":"object","properties":{"count":{"type":"integer"}}}"#;
    show("arguments", validator.validate_tool_arguments(schema, br#"{"count":"three"}"#));

    // Programs match on the reason and its facts instead of reading sentences.
    if let Err(ValidationError { reason: Reason::UnknownMethod, details, .. }) =
        validator.validate_method_name("tool/call")
        && let Details::Name { given, did_you_mean: Some(near), .. } = details
    {
        println!("{given} could be corrected to {near}");
    }
}

fn show(what: &str, answer: Result<(), ValidationError>) {
    match answer {
        Ok(()) => println!("{what}: ok"),
        Err(error) => println!("{what}: {}", format_validation_error(&error)),
    }
}
