//! The plain server: small, complete and correct at every revision.
//!
//! It has the tools `echo` and `add`, the resource `plumb://greeting`, the template
//! `plumb://echo/{text}` and the prompt `greet`.

use mcp_core::{Era, Revision};
use serde_json::{Value, json};

use super::{act::Act, cue::Cue};

const MODERN_VERSION: &str = "io.modelcontextprotocol/protocolVersion";

/// The acts of a plain server.
pub(crate) fn acts(cue: &Cue<'_>) -> Vec<Act> {
    if cue.id.is_null() {
        return Vec::new();
    }
    if cue.method == "subscriptions/listen" && cue.is_modern() {
        return vec![Act::Tell(acknowledgement(cue)), Act::Hold];
    }
    let answer = match cue.revision.era() {
        Era::Modern => modern(cue),
        Era::Legacy => legacy(cue),
    };
    vec![Act::Tell(match answer {
        Ok(result) => cue.result(result),
        Err(refusal) => refusal.message(cue),
    })]
}

/// The version that a request declares, in revisions without a handshake.
pub(crate) fn declared_version(params: &Value) -> Option<&str> {
    params.get("_meta")?.get(MODERN_VERSION)?.as_str()
}

/// The tools, as they are listed.
pub(crate) fn tools() -> Vec<Value> {
    let number = json!({ "type": "number" });
    vec![
        json!({
            "name": "echo",
            "description": "Returns its text",
            "inputSchema": {
                "type": "object",
                "properties": { "text": { "type": "string" } },
                "required": ["text"],
            },
        }),
        json!({
            "name": "add",
            "description": "Adds two numbers",
            "inputSchema": {
                "type": "object",
                "properties": { "a": number, "b": number },
                "required": ["a", "b"],
            },
        }),
    ]
}

struct Refusal {
    code: i64,
    message: String,
    data: Option<Value>,
}

impl Refusal {
    fn new(code: i64, message: impl Into<String>) -> Refusal {
        Refusal { code, message: message.into(), data: None }
    }

    fn message(self, cue: &Cue<'_>) -> Value {
        let mut message = cue.error(self.code, &self.message);
        if let Some(data) = self.data {
            message["error"]["data"] = data;
        }
        message
    }
}

fn legacy(cue: &Cue<'_>) -> Result<Value, Refusal> {
    match cue.method {
        "initialize" => Ok(json!({
            "protocolVersion": cue.revision.as_str(),
            "capabilities": capabilities(cue.revision),
            "serverInfo": { "name": "plumb", "version": "1.0.0" },
            "instructions": "Call `echo` to get a text back.",
        })),
        "ping" | "logging/setLevel" => Ok(json!({})),
        _ => feature(cue),
    }
}

fn modern(cue: &Cue<'_>) -> Result<Value, Refusal> {
    let supported = || json!([cue.revision.as_str()]);
    let requested = match cue.method {
        "initialize" => cue.params["protocolVersion"].as_str(),
        _ => declared_version(cue.params),
    };
    match requested {
        Some(version) if version == cue.revision.as_str() && cue.method != "initialize" => {}
        Some(version) => {
            let message = format!("Unsupported protocol version; supported: {}", cue.revision);
            let data = json!({ "supported": supported(), "requested": version });
            return Err(Refusal { data: Some(data), ..Refusal::new(-32022, message) });
        }
        None => return Err(Refusal::new(-32602, "The request does not declare its version")),
    }
    let mut result = match cue.method {
        "server/discover" => json!({
            "supportedVersions": supported(),
            "capabilities": capabilities(cue.revision),
            "instructions": "Call `echo` to get a text back.",
        }),
        "ping" | "logging/setLevel" => return Err(not_found(cue)),
        _ => feature(cue)?,
    };
    result["resultType"] = json!("complete");
    result["_meta"] = json!({
        "io.modelcontextprotocol/serverInfo": { "name": "plumb", "version": "1.0.0" },
    });
    if cue.method.ends_with("/list") || matches!(cue.method, "server/discover" | "resources/read") {
        result["ttlMs"] = json!(0);
        result["cacheScope"] = json!("private");
    }
    Ok(result)
}

fn capabilities(revision: Revision) -> Value {
    let mut capabilities = json!({
        "tools": { "listChanged": true },
        "resources": { "listChanged": true },
        "prompts": { "listChanged": true },
        "logging": {},
    });
    if revision >= Revision::V2025_03_26 {
        capabilities["completions"] = json!({});
    }
    capabilities
}

fn feature(cue: &Cue<'_>) -> Result<Value, Refusal> {
    let params = cue.params;
    let name = params["name"].as_str().unwrap_or_default();
    let uri = params["uri"].as_str().unwrap_or_default();
    match cue.method {
        "tools/list" => Ok(json!({ "tools": tools() })),
        "tools/call" => call(name, &params["arguments"]),
        "resources/list" => Ok(json!({ "resources": [
            { "uri": "plumb://greeting", "name": "greeting", "mimeType": "text/plain" },
        ] })),
        "resources/templates/list" => Ok(json!({ "resourceTemplates": [
            { "uriTemplate": "plumb://echo/{text}", "name": "echo", "mimeType": "text/plain" },
        ] })),
        "resources/read" => {
            let text = match uri.strip_prefix("plumb://") {
                Some("greeting") => "Hello",
                Some(rest) if rest.starts_with("echo/") => &rest[5..],
                _ => {
                    let code = if cue.is_modern() { -32602 } else { -32002 };
                    return Err(Refusal::new(code, format!("There is no resource {uri:?}")));
                }
            };
            Ok(json!({ "contents": [{ "uri": uri, "mimeType": "text/plain", "text": text }] }))
        }
        "prompts/list" => Ok(json!({ "prompts": [{
            "name": "greet",
            "description": "Greets someone",
            "arguments": [{ "name": "who", "required": false }],
        }] })),
        "prompts/get" if name == "greet" => {
            let who = params.pointer("/arguments/who").and_then(Value::as_str).unwrap_or("you");
            let content = json!({ "type": "text", "text": format!("Greet {who}.") });
            Ok(json!({ "messages": [{ "role": "user", "content": content }] }))
        }
        "prompts/get" => Err(Refusal::new(-32602, format!("There is no prompt {name:?}"))),
        "completion/complete" => Ok(json!({ "completion": { "values": [], "total": 0 } })),
        _ => Err(not_found(cue)),
    }
}

fn call(name: &str, arguments: &Value) -> Result<Value, Refusal> {
    let text = match name {
        "echo" => match arguments["text"].as_str() {
            Some(text) => Ok(text.to_owned()),
            None => Err("`text` is missing or not a string"),
        },
        "add" => match (arguments["a"].as_f64(), arguments["b"].as_f64()) {
            (Some(a), Some(b)) => Ok((a + b).to_string()),
            _ => Err("`a` and `b` must be numbers"),
        },
        _ => return Err(Refusal::new(-32602, format!("There is no tool {name:?}"))),
    };
    let is_error = text.is_err();
    let text = text.unwrap_or_else(str::to_owned);
    Ok(json!({ "content": [{ "type": "text", "text": text }], "isError": is_error }))
}

fn not_found(cue: &Cue<'_>) -> Refusal {
    Refusal::new(-32601, format!("Method not found: {}", cue.method))
}

/// The acknowledgement of a subscription, which promises nothing, since nothing changes.
fn acknowledgement(cue: &Cue<'_>) -> Value {
    json!({
        "jsonrpc": "2.0",
        "method": "notifications/subscriptions/acknowledged",
        "params": {
            "_meta": { "io.modelcontextprotocol/subscriptionId": cue.id },
            "notifications": {},
        },
    })
}
