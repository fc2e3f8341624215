use bytes::Bytes;
use mcp_core::Json;
use serde::Serialize;

use crate::{
    JsonRpcError, JsonRpcId, JsonRpcMessage, JsonRpcNotification, JsonRpcRequest, JsonRpcResponse,
};

impl JsonRpcMessage {
    /// The message as JSON text. Payloads are copied verbatim.
    pub fn to_bytes(&self) -> Bytes {
        match self {
            JsonRpcMessage::Request(request) => request.to_bytes(),
            JsonRpcMessage::Notification(notification) => notification.to_bytes(),
            JsonRpcMessage::Response(response) => response.to_bytes(),
        }
    }
}

impl JsonRpcRequest {
    /// The message as JSON text.
    pub fn to_bytes(&self) -> Bytes {
        write_call(Some(&self.id), &self.method, self.params.as_ref())
    }
}

impl JsonRpcNotification {
    /// The message as JSON text.
    pub fn to_bytes(&self) -> Bytes {
        write_call(None, &self.method, self.params.as_ref())
    }
}

impl JsonRpcResponse {
    /// The message as JSON text.
    pub fn to_bytes(&self) -> Bytes {
        let mut text = Text::new(match &self.outcome {
            Ok(result) => result.as_bytes().len(),
            Err(error) => {
                error.message.len() + error.data.as_ref().map_or(0, |data| data.as_bytes().len())
            }
        });
        if let Some(id) = &self.id {
            text.id(id);
        }
        match &self.outcome {
            Ok(result) => text.member("result", result.as_bytes()),
            Err(error) => text.error(error),
        }
        text.finish()
    }
}

/// A batch of responses as JSON text.
pub fn write_batch(responses: &[JsonRpcResponse]) -> Bytes {
    let mut out = vec![b'['];
    for (position, response) in responses.iter().enumerate() {
        if position > 0 {
            out.push(b',');
        }
        out.extend_from_slice(&response.to_bytes());
    }
    out.push(b']');
    out.into()
}

fn write_call(id: Option<&JsonRpcId>, method: &str, params: Option<&Json>) -> Bytes {
    let mut text = Text::new(method.len() + params.map_or(0, |params| params.as_bytes().len()));
    if let Some(id) = id {
        text.id(id);
    }
    text.value("method", method);
    if let Some(params) = params {
        text.member("params", params.as_bytes());
    }
    text.finish()
}

/// A message object being written.
struct Text(Vec<u8>);

impl Text {
    /// Enough for the envelope with a typical id.
    const ENVELOPE: usize = 96;

    fn new(payload: usize) -> Text {
        let mut out = Vec::with_capacity(payload + Text::ENVELOPE);
        out.extend_from_slice(br#"{"jsonrpc":"2.0""#);
        Text(out)
    }

    fn member(&mut self, name: &str, json: &[u8]) {
        self.0.extend_from_slice(b",\"");
        self.0.extend_from_slice(name.as_bytes());
        self.0.extend_from_slice(b"\":");
        self.0.extend_from_slice(json);
    }

    fn value<T: Serialize + ?Sized>(&mut self, name: &str, value: &T) {
        self.member(name, b"");
        // Writing strings and numbers to a vector cannot fail.
        let _ = serde_json::to_writer(&mut self.0, value);
    }

    fn id(&mut self, id: &JsonRpcId) {
        match id {
            JsonRpcId::Null => self.member("id", b"null"),
            JsonRpcId::Integer(value) => self.value("id", value),
            JsonRpcId::Number(spelling) => self.member("id", spelling.as_bytes()),
            JsonRpcId::String(text) => self.value("id", &**text),
        }
    }

    fn error(&mut self, error: &JsonRpcError) {
        self.0.extend_from_slice(br#","error":{"code":"#);
        self.0.extend_from_slice(error.code.to_string().as_bytes());
        self.value("message", &error.message);
        if let Some(data) = &error.data {
            self.member("data", data.as_bytes());
        }
        self.0.push(b'}');
    }

    fn finish(mut self) -> Bytes {
        self.0.push(b'}');
        self.0.into()
    }
}
