//! Every rejected call is a debug event, without values from the traffic.

use std::{
    fmt::{self, Write as _},
    sync::{Arc, Mutex},
};

use mcp_rules::{FieldType, Profile, Validator};
use tracing::{
    Event, Level, Metadata, Subscriber,
    field::{Field, Visit},
    span,
};

use super::REVISION;

/// Collects events, one line each.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<String>>>);

struct Line<'l>(&'l mut String);

impl Visit for Line<'_> {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        let _ = write!(self.0, " {}={value:?}", field.name());
    }
}

impl Subscriber for Log {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target() == "mcp_rules::validator"
    }

    fn event(&self, event: &Event<'_>) {
        let mut line = String::new();
        assert_eq!(*event.metadata().level(), Level::DEBUG);
        event.record(&mut Line(&mut line));
        self.0.lock().expect("no thread panicked").push(line);
    }

    fn new_span(&self, _: &span::Attributes<'_>) -> span::Id {
        span::Id::from_u64(1)
    }

    fn record(&self, _: &span::Id, _: &span::Record<'_>) {}
    fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}
    fn enter(&self, _: &span::Id) {}
    fn exit(&self, _: &span::Id) {}
}

/// Returns what is logged while `call` runs.
fn logged(call: impl FnOnce(&Validator)) -> Vec<String> {
    let log = Log::default();
    // With only one subscriber, a thread that has none may disable an event for all threads.
    let _other = tracing::Dispatch::new(Log::default());
    let validator = Validator::with_profile(REVISION, Profile::Erlmcp);
    tracing::subscriber::with_default(log.clone(), || call(&validator));
    let lines = log.0.lock().expect("no thread panicked");
    lines.clone()
}

#[test]
fn what_passes_is_not_logged() {
    assert!(logged(|validator| validator.validate_method_name("ping").unwrap()).is_empty());
}

#[test]
fn what_is_refused_is_logged_with_reason_and_details() {
    let lines = logged(|validator| drop(validator.validate_error_code(9999)));
    assert_eq!(lines.len(), 1, "{lines:?}");
    for part in ["validate_error_code", "invalid_error_code", "code=9999"] {
        assert!(lines[0].contains(part), "{lines:?}");
    }
}

#[test]
fn no_value_of_the_traffic_is_logged() {
    let canary = "c4n4ry";
    let lines = logged(|validator| {
        let quoted = format!("{canary:?}");
        let text = quoted.as_bytes();
        let object = format!(r#"{{"uri":{quoted},"name":{quoted},"code":{quoted}}}"#);
        let object = object.as_bytes();
        let request = format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{{"uri":{quoted}}}}}"#
        );
        drop(validator.validate_method_name(canary));
        drop(validator.validate_notification_name(canary));
        drop(validator.validate_request("resources/read", Some(object)));
        drop(validator.validate_request("tools/list", Some(text)));
        drop(validator.validate_response(b"1.5", object));
        drop(validator.validate_result("tools/call", object));
        drop(validator.validate_field_type("id", text, &[FieldType::Integer]));
        drop(validator.validate(canary, b"{}"));
        drop(validator.validate_resource_uri(canary));
        drop(validator.validate_tool_arguments(br#"{"type":"integer"}"#, text));
        drop(validator.validate_jsonrpc(canary.as_bytes()));
        drop(validator.validate_jsonrpc(request.as_bytes()));
        drop(validator.validate_request_message(request.as_bytes()));
    });
    assert!(lines.len() >= 13, "{lines:#?}");
    let shown: Vec<&String> = lines.iter().filter(|line| line.contains(canary)).collect();
    assert!(shown.is_empty(), "{shown:#?}");
    assert!(lines.iter().any(|line| line.contains("keyword=type")), "{lines:#?}");
}
