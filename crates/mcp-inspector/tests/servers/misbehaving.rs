//! A server over standard streams that breaks rules on purpose: every tool of it is a fault.
//!
//! It reads lines, answers `initialize`, `ping` and `tools/list` as it should, and does something
//! wrong for `tools/call`, named by the tool. `good` is a tool that works.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a server for tests")]

use std::{
    io::{self, BufRead as _, Write as _},
    sync::atomic::{AtomicU64, Ordering},
};

use serde_json::{Value, json};

/// Every tool, that is, every fault.
const FAULTS: &[&str] = &[
    "good",
    "log-line",
    "wrong-id",
    "id-of-another-type",
    "no-content",
    "bad-content",
    "ajv-data",
    "zod-data",
    "other-data",
    "output-mismatch",
    "result-and-error",
    "no-jsonrpc",
    "truncated",
    "second-answer",
    "bad-progress",
    "bad-log-level",
    "standard-error",
    "crash",
    "hang",
    "hostile",
    "huge",
    "deep",
    "flood",
];

fn main() {
    let mut later = None;
    for line in io::stdin().lock().lines() {
        let Ok(line) = line else { return };
        let Ok(message) = serde_json::from_str::<Value>(&line) else { continue };
        let id = message["id"].clone();
        if id.is_null() {
            continue;
        }
        let held = later.take();
        match message["method"].as_str().unwrap_or_default() {
            "initialize" => result(&id, &welcome(&message["params"]["protocolVersion"])),
            "ping" => result(&id, &json!({})),
            "tools/list" => result(&id, &tools(&message["params"]["cursor"])),
            "tools/call" => later = call(&id, &message["params"]),
            _ => error(&id, &json!({ "code": -32601, "message": "Method not found" })),
        }
        if let Some(answer) = held {
            say(&answer);
        }
    }
}

fn welcome(revision: &Value) -> Value {
    json!({
        "protocolVersion": revision,
        "capabilities": { "tools": { "listChanged": true }, "logging": {} },
        "serverInfo": { "name": "misbehaving", "title": "Misbehaving server", "version": "1.0.0" },
    })
}

/// Two pages, with a bad tool on each.
fn tools(cursor: &Value) -> Value {
    if cursor == "more" {
        let misspelt = json!({ "city": { "type": "strng" } });
        let schema = json!({ "type": "object", "properties": misspelt });
        return json!({ "tools": [{ "name": "misspelt-type", "inputSchema": schema }] });
    }
    let number = json!({ "type": "object", "properties": { "count": { "type": "number" } } });
    let named =
        |name: &&str| json!({ "name": name, "description": "A fault.", "inputSchema": number });
    let mut tools: Vec<Value> = FAULTS.iter().map(named).collect();
    for tool in &mut tools {
        if tool["name"] == "output-mismatch" {
            let sum = json!({ "sum": { "type": "integer" } });
            tool["outputSchema"] =
                json!({ "type": "object", "properties": sum, "required": ["sum"] });
        }
    }
    tools.extend(shapes());
    tools.push(json!({ "name": "bad-input-schema", "inputSchema": { "type": "text" } }));
    json!({ "tools": tools, "nextCursor": "more" })
}

/// Tools that work, with forms of all kinds.
fn shapes() -> [Value; 3] {
    let string = json!({ "type": "string" });
    let place = json!({ "type": "object", "properties": { "city": string }, "required": ["city"] });
    let shapes = json!({
        "type": "object",
        "properties": {
            "note": string,
            "aside": string,
            "count": { "type": "integer", "default": 3 },
            "colour": { "enum": ["red", "green"] },
            "place": place,
            "tags": { "type": "array", "items": string },
        },
        "required": ["note"],
    });
    let by = |title: &str, name: &str, kind: &str| json!({ "title": title, "properties": { name: { "type": kind } }, "required": [name] });
    let either = json!({ "type": "object", "oneOf": [by("By name", "name", "string"), by("By number", "number", "integer")] });
    [
        json!({ "name": "shapes", "inputSchema": shapes }),
        json!({ "name": "either", "inputSchema": either }),
        json!({ "name": "counter", "inputSchema": { "type": "object" } }),
    ]
}

/// Answers a call, or returns the answer that is to be given after the next request.
fn call(id: &Value, params: &Value) -> Option<String> {
    let fine = json!({ "content": [{ "type": "text", "text": "fine" }] });
    let answer = json!({ "jsonrpc": "2.0", "id": id, "result": fine });
    let invalid = |data: &Value| {
        error(id, &json!({ "code": -32602, "message": "Invalid params", "data": data }));
    };
    let note = |method: &str, params: &Value| {
        say(&json!({ "jsonrpc": "2.0", "method": method, "params": params }).to_string());
    };
    match params["name"].as_str().unwrap_or_default() {
        "log-line" => {
            say("INFO  Loading <b>model</b> weights…");
            say(&answer.to_string());
        }
        "counter" => {
            static COUNT: AtomicU64 = AtomicU64::new(1);
            let text = format!("answer {}", COUNT.fetch_add(1, Ordering::Relaxed));
            result(id, &json!({ "content": [{ "type": "text", "text": text }] }));
        }
        "wrong-id" => result(&json!(99_999), &fine),
        "id-of-another-type" => result(&json!(id.to_string()), &fine),
        "no-content" => result(id, &json!({})),
        "bad-content" => result(id, &json!({ "content": [{ "type": "txt", "text": "äöü" }] })),
        "ajv-data" => invalid(&json!([
            { "instancePath": "/count", "schemaPath": "#/properties/count/type", "keyword": "type",
              "params": { "type": "number" }, "message": "must be number" },
        ])),
        "zod-data" => invalid(&json!({ "issues": [
            { "code": "invalid_type", "expected": "number", "received": "string", "path": ["count"],
              "message": "Expected number, received string" },
        ] })),
        "other-data" => invalid(&json!({ "hint": "count the other way", "at": [1, 2] })),
        "output-mismatch" => {
            let structured = json!({ "sum": "three" });
            let text = json!([{ "type": "text", "text": structured.to_string() }]);
            result(id, &json!({ "content": text, "structuredContent": structured }));
        }
        "result-and-error" => {
            let failed = json!({ "code": -32000, "message": "failed" });
            say(&json!({ "jsonrpc": "2.0", "id": id, "result": fine, "error": failed }).to_string());
        }
        "no-jsonrpc" => say(&json!({ "id": id, "result": fine }).to_string()),
        "truncated" => {
            let whole = answer.to_string();
            write(&whole.as_bytes()[..whole.len() - 12]);
            std::process::exit(0);
        }
        "second-answer" => {
            say(&answer.to_string());
            say(&answer.to_string());
        }
        "bad-progress" => {
            note("notifications/progress", &json!({ "progressToken": "nobody", "progress": 1 }));
            say(&answer.to_string());
        }
        "bad-log-level" => {
            note("notifications/message", &json!({ "level": "loud", "data": "hello" }));
            say(&answer.to_string());
        }
        "standard-error" => {
            let _ = writeln!(io::stderr(), "warning: about to answer");
            return Some(answer.to_string());
        }
        "crash" => {
            let _ = writeln!(io::stderr(), "fatal: the database is gone");
            std::process::exit(7);
        }
        "hang" => {}
        "hostile" => {
            let evil = "<script>window.__owned = 1</script><img src=x onerror='window.__owned=1'>\u{202e}\u{1b}[31m";
            result(id, &json!({ "content": [{ "type": "text", "text": evil }], evil: evil }));
        }
        "huge" => {
            let text = "x".repeat(3 << 20);
            result(id, &json!({ "content": [{ "type": "text", "text": text }] }));
        }
        "deep" => {
            let nested = format!("{}{}", "[".repeat(100), "]".repeat(100));
            say(&format!(
                r#"{{"jsonrpc":"2.0","id":{id},"result":{{"content":[],"_meta":{{"x":{nested}}}}}}}"#
            ));
        }
        "flood" => {
            let count = params["arguments"]["count"].as_u64().unwrap_or(10_000);
            let lines: Vec<String> = (0..count)
                .map(|number| {
                    let params = json!({ "level": "info", "data": format!("message {number}") });
                    json!({ "jsonrpc": "2.0", "method": "notifications/message", "params": params })
                        .to_string()
                })
                .collect();
            say(&lines.join("\n"));
            say(&answer.to_string());
        }
        _ => say(&answer.to_string()),
    }
    None
}

fn result(id: &Value, result: &Value) {
    say(&json!({ "jsonrpc": "2.0", "id": id, "result": result }).to_string());
}

fn error(id: &Value, error: &Value) {
    say(&json!({ "jsonrpc": "2.0", "id": id, "error": error }).to_string());
}

fn say(line: &str) {
    write(format!("{line}\n").as_bytes());
}

fn write(bytes: &[u8]) {
    let mut stdout = io::stdout().lock();
    let _ = stdout.write_all(bytes).and_then(|()| stdout.flush());
}
