//! Log lines about rejected messages have position and reason, but no values from the traffic.

use std::{
    fmt::{self, Write as _},
    sync::{Arc, Mutex},
};

use mcp_sdk::{Server, core::Revision};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use tracing::{
    Event, Level, Metadata, Subscriber,
    field::{Field, Visit},
    span,
};

use super::base_stack::open;
use crate::wire::{receive, send, send_text};

/// Records the events that are enabled by default, one line each.
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
        *metadata.level() <= Level::INFO
    }

    fn event(&self, event: &Event<'_>) {
        let mut line = String::new();
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

#[derive(Deserialize, JsonSchema)]
struct Arguments {
    #[expect(dead_code, reason = "only its type matters")]
    count: i64,
}

#[tokio::test]
async fn rejected_messages_are_logged_without_their_values() {
    let log = Log::default();
    // With only one subscriber, a thread without one may disable an event for all threads.
    let _other = tracing::Dispatch::new(Log::default());
    let _logging = tracing::subscriber::set_default(log.clone());
    let server = Server::builder("test", "1.0.0")
        .tool("count", "Counts", async |_: Arguments, _| Ok("counted"))
        .build()
        .unwrap();
    let near = open(server, Revision::V2025_06_18).await;
    let call =
        |params| json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
    for message in [
        call(json!({ "name": "count", "arguments": { "count": "c4n4ry" } })),
        call(json!({ "name": ["c4n4ry"] })),
        json!({ "jsonrpc": "2.0", "id": { "c4n4ry": 1 }, "method": "ping" }),
    ] {
        send(&near, &message).await;
        assert!(receive(&near).await["error"]["code"].is_number());
    }
    send_text(&near, "c4n4ry").await;
    assert_eq!(receive(&near).await["error"]["code"], -32700);

    let lines = log.0.lock().expect("no thread panicked").clone();
    let shown: Vec<&String> = lines.iter().filter(|line| line.contains("c4n4ry")).collect();
    assert!(shown.is_empty(), "{shown:#?}");
    let arguments = lines.iter().find(|line| line.contains("tool-arguments-invalid"));
    let arguments = arguments.expect("invalid arguments are logged");
    for part in ["/params/arguments/count", "\"/count\"", "#/properties/count/type", "\"type\""] {
        assert!(arguments.contains(part), "{part} in {arguments}");
    }
}
