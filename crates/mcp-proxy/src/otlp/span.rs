use std::time::{SystemTime, UNIX_EPOCH};

use mcp_core::Side;
use mcp_rules::Finding;
use serde_json::{Value, json};

use super::context::TraceContext;

/// Maximum number of findings exported per span.
const MAX_EVENTS: usize = 32;

/// A request and its answer.
#[derive(Debug, Clone)]
pub(super) struct Span {
    pub(super) id: String,
    pub(super) context: TraceContext,
    pub(super) method: String,
    /// The tool or prompt.
    pub(super) subject: Option<String>,
    pub(super) from: Side,
    pub(super) begin: SystemTime,
    pub(super) end: SystemTime,
    pub(super) attributes: Vec<(&'static str, Value)>,
    pub(super) events: Vec<Value>,
    pub(super) dropped_events: u32,
    pub(super) error: Option<String>,
}

impl Span {
    /// Adds a finding about one of its messages, without the values that it quotes.
    pub(super) fn found(&mut self, finding: &Finding, at: SystemTime) {
        if self.events.len() == MAX_EVENTS {
            self.dropped_events += 1;
            return;
        }
        let mut attributes = vec![
            attribute("plumb.rule", &json!(finding.rule.name)),
            attribute("plumb.severity", &json!(finding.severity.as_str())),
            attribute("plumb.summary", &json!(finding.rule.summary())),
        ];
        if let Some(side) = finding.at_fault {
            attributes.push(attribute("plumb.at_fault", &json!(side.as_str())));
        }
        self.events.push(json!({
            "timeUnixNano": nanos(at),
            "name": "plumb.finding",
            "attributes": attributes,
        }));
    }

    /// Formats it as OTLP JSON.
    pub(super) fn to_json(&self) -> Value {
        let name = match &self.subject {
            Some(subject) => format!("{} {subject}", self.method),
            None => self.method.clone(),
        };
        // From the server's point of view: a client's request is served, a server's is sent.
        let kind = match self.from {
            Side::Client => SERVER,
            Side::Server => CLIENT,
        };
        let attributes: Vec<Value> =
            self.attributes.iter().map(|(name, value)| attribute(name, value)).collect();
        let status = if self.error.is_some() { json!({ "code": ERROR }) } else { json!({}) };
        let mut span = json!({
            "traceId": self.context.trace,
            "spanId": self.id,
            "flags": self.context.flags,
            "name": name,
            "kind": kind,
            "startTimeUnixNano": nanos(self.begin),
            "endTimeUnixNano": nanos(self.end.max(self.begin)),
            "attributes": attributes,
            "events": self.events,
            "droppedEventsCount": self.dropped_events,
            "status": status,
        });
        if let Some(parent) = &self.context.parent {
            span["parentSpanId"] = json!(parent);
        }
        if let Some(state) = &self.context.state {
            span["traceState"] = json!(state);
        }
        span
    }
}

const SERVER: u8 = 2;
const CLIENT: u8 = 3;
const ERROR: u8 = 2;

pub(super) fn attribute(name: &str, value: &Value) -> Value {
    let value = match value {
        Value::Bool(value) => json!({ "boolValue": value }),
        // Protocol buffers write 64-bit numbers as strings in JSON.
        Value::Number(number) => json!({ "intValue": number.to_string() }),
        Value::String(text) => json!({ "stringValue": text }),
        other => json!({ "stringValue": other.to_string() }),
    };
    json!({ "key": name, "value": value })
}

fn nanos(time: SystemTime) -> String {
    time.duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos().to_string()
}
