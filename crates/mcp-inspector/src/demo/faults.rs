//! Rules that the demonstration server breaks on purpose.
//!
//! The server itself is correct; if the switch `misbehave` is on, its messages are changed on the
//! way out. The tool `break_rules` chooses the fault.

use std::collections::HashMap;

use serde_json::{Value, json};

use super::Demo;

/// What the server sends instead of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Output {
    /// A line on standard output.
    Line(Vec<u8>),
    /// A line on standard error.
    Error(String),
    /// The end of the process, perhaps in the middle of a line.
    Crash { cut: Option<Vec<u8>>, code: i32 },
}

/// The faults that can be chosen, with their descriptions.
pub(super) const FAULTS: &[(&str, &str)] = &[
    ("log-line", "a log line on standard output"),
    ("stderr", "a line on standard error, which is not a fault"),
    ("wrong-id", "an answer with an id that no request had"),
    ("id-type", "an answer whose id is a string instead of a number"),
    ("no-content", "a result without `content`"),
    ("bad-content", "content of a type that does not exist"),
    ("result-and-error", "an answer with both `result` and `error`"),
    ("no-jsonrpc", "an answer without `jsonrpc`"),
    ("truncated", "an answer that ends in the middle"),
    ("duplicate", "the same answer twice"),
    ("bad-progress", "progress that goes backwards, for an unknown token"),
    ("bad-log-level", "a log message of a level that does not exist"),
    ("output-mismatch", "structured content that breaks the tool's output schema"),
    ("ajv-errors", "invalid params, with errors as ajv writes them"),
    ("no-answer", "no answer at all"),
    ("crash", "the end of the process in the middle of an answer"),
];

/// The name of the tool that chooses them.
pub(super) const TOOL: &str = "break_rules";
/// Maximum number of calls to remember.
const MOST: usize = 1000;

/// Changes the messages of the server.
#[derive(Debug)]
pub(super) struct Faults {
    demo: Demo,
    /// The chosen faults by id of the call.
    wanted: HashMap<String, Value>,
}

impl Faults {
    pub(super) fn new(demo: Demo) -> Faults {
        Faults { demo, wanted: HashMap::new() }
    }

    /// Notes the fault that a client chooses.
    pub(super) fn heard(&mut self, text: &[u8]) {
        let Ok(message) = serde_json::from_slice::<Value>(text) else { return };
        if message.get("id").is_some() && message.get("method").is_some() {
            if self.wanted.len() >= MOST {
                self.wanted.clear();
            }
            self.wanted.insert(message["id"].to_string(), message);
        }
    }

    /// What to send instead of a message.
    pub(super) fn said(&mut self, text: &[u8]) -> Vec<Output> {
        let plain = || vec![Output::Line(text.to_vec())];
        let Ok(mut message) = serde_json::from_slice::<Value>(text) else { return plain() };
        let asked = message.get("id").and_then(|id| self.wanted.remove(&id.to_string()));
        let Some(asked) = asked.filter(|_| message.get("method").is_none()) else { return plain() };
        let (misbehaves, tool_results) = self.demo.switches();
        if misbehaves && asked["method"] == "tools/list" {
            add_bad_tools(&mut message);
            return vec![line(&message)];
        }
        if asked["method"] != "tools/call" {
            return plain();
        }
        if tool_results && message["error"]["code"] == -32602 {
            return vec![line(&as_result(&message))];
        }
        let name = asked["params"]["name"].as_str().unwrap_or_default();
        let fault = asked["params"]["arguments"]["fault"].as_str().unwrap_or_default();
        if misbehaves && name == TOOL && message.get("result").is_some() {
            return broken(fault, message);
        }
        plain()
    }
}

/// Invalid arguments as a result that models can read.
fn as_result(message: &Value) -> Value {
    let findings = message["error"]["data"].clone();
    let faults = findings.as_array().into_iter().flatten().filter_map(|finding| {
        let place = finding["instancePath"].as_str().unwrap_or_default();
        let text = finding["message"].as_str()?;
        Some(if place.is_empty() { text.to_owned() } else { format!("{place}: {text}") })
    });
    let mut lines = vec!["The arguments are invalid:".to_owned()];
    lines.extend(faults);
    let content = json!([{ "type": "text", "text": lines.join("\n") }]);
    let meta = json!({ (mcp_core::Meta::FINDINGS): findings });
    let result =
        json!({ "content": content, "isError": true, "resultType": "complete", "_meta": meta });
    json!({ "jsonrpc": "2.0", "id": message["id"], "result": result })
}

/// Tools that no client can use as they are.
fn add_bad_tools(message: &mut Value) {
    let Some(tools) = message["result"]["tools"].as_array_mut() else { return };
    tools.push(json!({
        "name": "bad_schema",
        "description": "Its input schema is not a schema of an object",
        "inputSchema": { "type": "array", "items": 3 },
    }));
    tools.push(json!({
        "name": "misspelt_type",
        "description": "A type in its input schema is misspelt",
        "inputSchema": { "type": "object", "properties": { "count": { "type": "integr" } } },
    }));
}

fn broken(fault: &str, mut message: Value) -> Vec<Output> {
    let text = message.to_string();
    let id = message["id"].clone();
    match fault {
        "log-line" => {
            return vec![Output::Line(b"INFO demo: about to answer".to_vec()), line(&message)];
        }
        "stderr" => {
            return vec![Output::Error("demo: something to note".to_owned()), line(&message)];
        }
        "wrong-id" => message["id"] = json!(4711),
        "id-type" => message["id"] = json!(id.to_string()),
        "no-content" => drop(remove(&mut message["result"], "content")),
        "bad-content" => message["result"]["content"][0]["type"] = json!("txet"),
        "result-and-error" => message["error"] = json!({ "code": -32000, "message": "both" }),
        "no-jsonrpc" => drop(remove(&mut message, "jsonrpc")),
        "truncated" => return vec![Output::Line(half(&text))],
        "duplicate" => return vec![line(&message), line(&message)],
        "bad-progress" => {
            let told = |progress: i32| {
                let params = json!({ "progressToken": "nobody", "progress": progress });
                line(&json!({
                    "jsonrpc": "2.0", "method": "notifications/progress", "params": params,
                }))
            };
            return vec![told(2), told(1), line(&message)];
        }
        "bad-log-level" => {
            let params = json!({ "level": "loud", "data": "hello" });
            let log = json!({
                "jsonrpc": "2.0", "method": "notifications/message", "params": params,
            });
            return vec![line(&log), line(&message)];
        }
        "output-mismatch" => message["result"]["structuredContent"] = json!({ "fault": 3 }),
        "ajv-errors" => {
            let data = json!([{
                "instancePath": "/fault", "schemaPath": "#/properties/fault/enum", "keyword": "enum",
                "params": { "allowedValues": ["none"] },
                "message": "must be equal to one of the allowed values",
            }]);
            let error = json!({ "code": -32602, "message": "Invalid params", "data": data });
            message = json!({ "jsonrpc": "2.0", "id": id, "error": error });
        }
        "no-answer" => return Vec::new(),
        "crash" => {
            let last = Output::Error("demo: panicked: this is a simulated crash".to_owned());
            return vec![last, Output::Crash { cut: Some(half(&text)), code: 3 }];
        }
        _ => {}
    }
    vec![line(&message)]
}

fn half(text: &str) -> Vec<u8> {
    text.as_bytes()[..text.len() / 2].to_vec()
}

fn line(message: &Value) -> Output {
    Output::Line(message.to_string().into_bytes())
}

fn remove(value: &mut Value, name: &str) -> Option<Value> {
    value.as_object_mut()?.remove(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_changed_unless_told_to() {
        let demo = Demo::new();
        let mut faults = Faults::new(demo.clone());
        let call = br#"{"id":1,"method":"tools/call","params":{"name":"break_rules","arguments":{"fault":"no-jsonrpc"}}}"#;
        let answer = br#"{"jsonrpc":"2.0", "id":1,"result":{"content":[]}}"#;
        faults.heard(call);
        assert_eq!(faults.said(answer), [Output::Line(answer.to_vec())]);
        demo.switch(Some(true), None);
        faults.heard(call);
        let changed = br#"{"id":1,"result":{"content":[]}}"#;
        assert_eq!(faults.said(answer), [Output::Line(changed.to_vec())]);
    }

    #[test]
    fn every_fault_changes_something() {
        let answer = json!({ "jsonrpc": "2.0", "id": 1, "result": {
            "content": [{ "type": "text", "text": "x" }], "structuredContent": { "fault": "x" },
        } });
        for (fault, _) in FAULTS {
            assert_ne!(broken(fault, answer.clone()), [line(&answer)], "{fault}");
        }
    }
}
