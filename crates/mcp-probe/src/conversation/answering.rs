//! Answers of the test client to requests of the server.

use serde_json::{Value, json};

/// The answer to a request of the server.
pub(crate) fn answer(request: &Value) -> Value {
    let id = &request["id"];
    let result = match request["method"].as_str().unwrap_or_default() {
        "ping" => json!({}),
        "roots/list" => json!({ "roots": [] }),
        "sampling/createMessage" => json!({
            "role": "assistant",
            "content": { "type": "text", "text": "plumb" },
            "model": "plumb",
            "stopReason": "endTurn",
        }),
        "elicitation/create" => json!({ "action": "decline" }),
        _ => {
            let error =
                json!({ "code": -32601, "message": "this client does not support the method" });
            return json!({ "jsonrpc": "2.0", "id": id, "error": error });
        }
    };
    json!({ "jsonrpc": "2.0", "id": id, "result": result })
}
