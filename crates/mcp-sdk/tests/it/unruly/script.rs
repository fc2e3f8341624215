//! The messages of an unruly client: valid ones, and ones with a random fault.

use mcp_sdk::core::Revision;
use proptest::prelude::*;
use serde_json::{Value, json};

/// How a conversation begins.
#[derive(Debug, Clone, Copy)]
pub(super) struct Opening {
    revision: Revision,
}

impl Opening {
    pub(super) fn any() -> impl Strategy<Value = Opening> {
        prop::sample::select(Revision::ALL.to_vec()).prop_map(|revision| Opening { revision })
    }

    fn is_stateless(self) -> bool {
        self.revision == Revision::LATEST
    }

    pub(super) fn messages(self) -> Vec<Value> {
        if self.is_stateless() {
            return Vec::new();
        }
        let capabilities = json!({ "elicitation": {}, "sampling": {}, "roots": {} });
        let client = json!({ "name": "test", "version": "1" });
        vec![
            json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
                "protocolVersion": self.revision.as_str(), "capabilities": capabilities,
                "clientInfo": client } }),
            json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }),
        ]
    }
}

/// One message of the client, and how it answers the server's requests meanwhile.
#[derive(Debug, Clone, Default)]
pub(super) struct Step {
    method: usize,
    id: u8,
    slip: Slip,
    answer: u8,
    hurry: bool,
}

/// The fault of a message, if any.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Slip {
    pub(super) kind: u8,
    place: u8,
    value: u8,
}

/// Methods and their params.
fn methods() -> Vec<(&'static str, Value)> {
    vec![
        ("tools/list", json!({})),
        ("tools/call", json!({ "name": "sum", "arguments": { "numbers": [1, 2] } })),
        ("tools/call", json!({ "name": "work", "arguments": {}, "_meta": { "progressToken": 7 } })),
        ("tools/call", json!({ "name": "ask", "arguments": {} })),
        ("tools/call", json!({ "name": "fail" })),
        ("prompts/list", json!({})),
        ("prompts/get", json!({ "name": "greet", "arguments": { "name": "Ada" } })),
        ("resources/list", json!({})),
        ("resources/templates/list", json!({})),
        ("resources/read", json!({ "uri": "test://one" })),
        ("resources/read", json!({ "uri": "test://item/3" })),
        ("resources/subscribe", json!({ "uri": "test://one" })),
        ("resources/unsubscribe", json!({ "uri": "test://one" })),
        (
            "completion/complete",
            json!({ "ref": { "type": "ref/prompt", "name": "greet" },
                    "argument": { "name": "name", "value": "A" } }),
        ),
        ("logging/setLevel", json!({ "level": "debug" })),
        ("ping", json!({})),
        ("server/discover", json!({})),
        (
            "subscriptions/listen",
            json!({ "notifications": { "toolsListChanged": true, "resourceSubscriptions": ["test://one"] } }),
        ),
        (
            "initialize",
            json!({ "protocolVersion": "2025-06-18", "capabilities": {},
                    "clientInfo": { "name": "again", "version": "2" } }),
        ),
        ("notifications/initialized", json!({})),
        ("notifications/cancelled", json!({ "requestId": 1 })),
        ("notifications/cancelled", json!({ "requestId": 2, "reason": "enough" })),
        ("notifications/progress", json!({ "progressToken": 1, "progress": 1 })),
        ("notifications/roots/list_changed", json!({})),
        ("no/such/method", json!({})),
        ("notifications/no/such", json!({})),
    ]
}

/// Values in the place of others.
fn odd_values() -> Vec<Value> {
    vec![
        Value::Null,
        json!(true),
        json!(-1),
        json!(1.5),
        json!(1e300),
        json!(""),
        json!("2026-07-28"),
        json!("nobody"),
        json!([]),
        json!([{}]),
        json!({}),
        json!({ "a": { "b": [1, null] } }),
        json!("x".repeat(5000)),
    ]
}

impl Step {
    pub(super) fn any() -> impl Strategy<Value = Step> {
        let method = 0..methods().len();
        (method, any::<u8>(), Slip::any(), any::<u8>(), 0..4_u8).prop_map(
            |(method, id, slip, answer, hurry)| Step {
                method,
                id,
                slip,
                answer,
                hurry: hurry == 3,
            },
        )
    }

    /// Whether the next message follows immediately.
    pub(super) fn hurries(&self) -> bool {
        self.hurry
    }

    /// The message at this position of the conversation.
    pub(super) fn message(&self, opening: Opening, position: usize) -> Value {
        let (method, mut params) = methods().swap_remove(self.method);
        let mut message = json!({ "jsonrpc": "2.0", "method": method });
        if opening.is_stateless() {
            let meta = &mut params["_meta"];
            meta["io.modelcontextprotocol/protocolVersion"] = "2026-07-28".into();
            meta["io.modelcontextprotocol/clientInfo"] = json!({ "name": "test", "version": "1" });
            meta["io.modelcontextprotocol/clientCapabilities"] =
                json!({ "elicitation": {}, "sampling": {}, "roots": {} });
        }
        message["params"] = params;
        if !method.starts_with("notifications/") {
            message["id"] = match self.id {
                0..200 => json!(position + 1),
                200..220 => json!(format!("text-{position}")),
                220..235 => json!(1),
                235..240 => json!(-7),
                240..245 => Value::Null,
                245..250 => json!(0.5),
                _ => json!(["no id"]),
            };
        }
        self.slip.spoil(&mut message);
        if self.slip.kind == 255 {
            return json!([message]);
        }
        message
    }

    /// The messages in reply to one from the server.
    pub(super) fn answers(&self, received: &Value) -> Vec<Value> {
        let (Some(method), Some(id)) = (received["method"].as_str(), received.get("id")) else {
            return Vec::new();
        };
        let result = match method {
            "elicitation/create" => json!({ "action": "accept", "content": { "name": "Ada" } }),
            "sampling/createMessage" => json!({ "role": "assistant", "model": "m",
                "content": { "type": "text", "text": "Hi" } }),
            "roots/list" => json!({ "roots": [{ "uri": "file:///home" }] }),
            _ => json!({}),
        };
        let odd = self.slip.odd_value();
        let right = json!({ "jsonrpc": "2.0", "id": id, "result": result });
        match self.answer {
            0..128 => vec![right],
            128..150 => vec![right.clone(), right],
            150..180 => vec![json!({ "jsonrpc": "2.0", "id": id, "result": odd })],
            180..200 => {
                vec![
                    json!({ "jsonrpc": "2.0", "id": id, "error": { "code": -1, "message": "no" } }),
                ]
            }
            200..215 => vec![json!({ "jsonrpc": "2.0", "id": id, "error": odd })],
            215..230 => vec![json!({ "jsonrpc": "2.0", "id": "another", "result": {} }), right],
            _ => Vec::new(),
        }
    }
}

impl Slip {
    pub(super) fn any() -> impl Strategy<Value = Slip> {
        (any::<u8>(), any::<u8>(), any::<u8>()).prop_map(|(kind, place, value)| Slip {
            kind,
            place,
            value,
        })
    }

    /// A value that is rarely valid.
    pub(super) fn odd_value(self) -> Value {
        let odd = odd_values();
        odd[usize::from(self.value) % odd.len()].clone()
    }

    /// Corrupts every other message.
    fn spoil(self, message: &mut Value) {
        let odd = self.odd_value();
        match self.kind {
            0..120 => {}
            120..180 => self.distort(&mut message["params"]),
            180..210 => self.impair(&mut message["params"]),
            210..225 => message["params"] = odd,
            225..235 => self.impair(message),
            235..245 => self.distort(message),
            245..250 => message["result"] = odd,
            _ => message["surplus"] = odd,
        }
    }

    /// Puts an odd value somewhere into `part`.
    pub(super) fn distort(self, part: &mut Value) {
        if let Some(place) = nth_place(part, self.place) {
            *place = self.odd_value();
        }
    }

    /// Removes something from `part`.
    pub(super) fn impair(self, part: &mut Value) {
        remove_nth(part, self.place);
    }

    /// One of `several`.
    pub(super) fn choice<T: Clone>(self, several: &[T]) -> T {
        several[usize::from(self.place) % several.len()].clone()
    }
}

/// One of all values within `value`, in depth-first order.
fn nth_place(value: &mut Value, place: u8) -> Option<&mut Value> {
    let mut places = Vec::new();
    collect(value, "", &mut places);
    let path = places.get(usize::from(place) % places.len().max(1))?.clone();
    value.pointer_mut(&path)
}

fn collect(value: &Value, path: &str, places: &mut Vec<String>) {
    match value {
        Value::Object(members) => {
            for (name, member) in members {
                let name = name.replace('~', "~0").replace('/', "~1");
                let path = format!("{path}/{name}");
                places.push(path.clone());
                collect(member, &path, places);
            }
        }
        Value::Array(elements) => {
            for (index, element) in elements.iter().enumerate() {
                let path = format!("{path}/{index}");
                places.push(path.clone());
                collect(element, &path, places);
            }
        }
        _ => {}
    }
}

/// Removes one of the members of an object, at any depth.
fn remove_nth(value: &mut Value, place: u8) {
    let mut places = Vec::new();
    collect(value, "", &mut places);
    let Some(path) = places.get(usize::from(place) % places.len().max(1)) else { return };
    let Some((parent, name)) = path.rsplit_once('/') else { return };
    let name = name.replace("~1", "/").replace("~0", "~");
    if let Some(Value::Object(members)) = value.pointer_mut(parent) {
        members.remove(&name);
    }
}
