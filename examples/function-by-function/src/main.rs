//! Is this part of a message (a name, params, a code) valid?
//!
//! ```sh
//! cargo run -p example-function-by-function
//! ```
#![expect(clippy::print_stdout, reason = "it prints the answers")]

use mcp_core::Revision;
use mcp_rules::{
    BuildError, Details, ExtraMethods, FieldType, Profile, Reason, Setting, Severity,
    ValidationError, Validator, format_validation_error,
};

fn main() -> Result<(), BuildError> {
    let validator = Validator::new(Revision::V2025_11_25);
    parts(&validator);
    whole_messages(&validator);
    house_rules()
}

/// A name, some params, a code: what users of function-by-function validators ask.
fn parts(validator: &Validator) {
    show("a request", validator.validate_request("tools/call", Some(br#"{"name":"echo"}"#)));
    show("one without its name", validator.validate_request("tools/call", Some(b"{}")));
    show("a typo", validator.validate_method_name("logging/set_level"));
    show("a result", validator.validate_result("tools/call", br#"{"content":"hello"}"#));
    show("a response", validator.validate_response(b"1", br#"{"code":-32601,"message":"no"}"#));
    show("a code", validator.validate_error_code(-32604));
    show("a type", validator.validate_field_type("id", b"true", &[FieldType::String]));
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

/// Bytes and the name of what they should be, or every fault of a message at once.
fn whole_messages(validator: &Validator) {
    let read = br#"{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"notes"}}"#;
    show("a definition", validator.validate("Tool", br#"{"name":"now"}"#));
    show("a message by its method", validator.validate("resources/read", read));
    show("a message by its kind", validator.validate("JSONRPCNotification", read));
    let report = validator.validate_request_message(read);
    println!("a report: valid is {}, {} errors", report.valid, report.errors.len());
}

/// A stack's own conventions: a profile, levels, method names.
fn house_rules() -> Result<(), BuildError> {
    let mut methods = ExtraMethods::default();
    methods.requests.insert("weather/forecast".to_owned());
    let house = Validator::builder()
        .revision(Revision::V2025_11_25)
        .profile(Profile::Erlmcp)
        .methods(methods)
        .rule("method-unknown", Setting::On(Severity::Error))
        .build()?;
    show("our own method", house.validate_method_name("weather/forecast"));
    show("a code that this stack does not allow", house.validate_error_code(9999));

    let base = Validator::with_profile(Revision::V2025_11_25, Profile::BaseStack);
    let report = base.validate_batch(br#"[{"jsonrpc":"1.0","method":"","id":2,"params":7},1]"#);
    for error in &report.errors {
        println!("entry {:?}: {}", error.index, error.message);
    }
    Ok(())
}

fn show(what: &str, answer: Result<(), ValidationError>) {
    match answer {
        Ok(()) => println!("{what}: ok"),
        Err(error) => println!("{what}: {}", format_validation_error(&error)),
    }
}
