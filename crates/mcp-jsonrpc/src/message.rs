use mcp_json::{Limits, Node, Span, SyntaxError, Tape};
use serde::{Serialize, Serializer, ser::SerializeMap as _};
use serde_json::value::RawValue;

use crate::{Envelope, EnvelopeFault, FaultKind, JsonRpcId, MessageKind};

/// One unit of input: a message, or a batch of them.
#[derive(Debug)]
#[expect(clippy::exhaustive_enums, reason = "JSON-RPC 2.0 is finished")]
pub enum Incoming {
    /// An object.
    Single(Result<JsonRpcMessage, InvalidMessage>),
    /// A non-empty array; bad entries stay in their place and the good ones go on.
    Batch(Vec<Result<JsonRpcMessage, InvalidMessage>>),
}

impl Incoming {
    /// Reads one message or batch.
    ///
    /// # Errors
    ///
    /// If `bytes` is not JSON. JSON that is no JSON-RPC message is an [`InvalidMessage`] in its
    /// place instead.
    pub fn parse(bytes: &[u8]) -> Result<Incoming, SyntaxError> {
        let mut tape = Tape::new();
        let document = tape.parse(bytes, Limits::default())?;
        let root = document.root();
        if !root.is_array() {
            return Ok(Incoming::Single(JsonRpcMessage::read(root)));
        }
        if root.is_empty() {
            return Ok(Incoming::Single(Err(InvalidMessage {
                id: None,
                faults: vec![EnvelopeFault { kind: FaultKind::BatchEmpty, span: root.span() }],
            })));
        }
        Ok(Incoming::Batch(root.elements().map(JsonRpcMessage::read).collect()))
    }
}

/// A JSON value that is no JSON-RPC message.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "an id and the faults, nothing else")]
pub struct InvalidMessage {
    /// The id, where one could be read.
    pub id: Option<JsonRpcId>,
    /// At least one.
    pub faults: Vec<EnvelopeFault>,
}

/// A message that owns its data.
#[derive(Debug, Clone)]
#[expect(missing_docs, reason = "the names say it")]
#[expect(clippy::exhaustive_enums, reason = "JSON-RPC 2.0 is finished")]
pub enum JsonRpcMessage {
    Request(JsonRpcRequest),
    Notification(JsonRpcNotification),
    Response(JsonRpcResponse),
}

/// A call that wants an answer.
#[derive(Debug, Clone)]
#[expect(missing_docs, reason = "the members of the wire object")]
#[expect(clippy::exhaustive_structs, reason = "JSON-RPC 2.0 is finished")]
pub struct JsonRpcRequest {
    pub id: JsonRpcId,
    pub method: String,
    pub params: Option<Box<RawValue>>,
}

/// A call that wants none.
#[derive(Debug, Clone)]
#[expect(missing_docs, reason = "the members of the wire object")]
#[expect(clippy::exhaustive_structs, reason = "JSON-RPC 2.0 is finished")]
pub struct JsonRpcNotification {
    pub method: String,
    pub params: Option<Box<RawValue>>,
}

/// The answer to a request: exactly one of `result` and `error`.
#[derive(Debug, Clone)]
#[expect(missing_docs, reason = "the members of the wire object")]
#[expect(clippy::exhaustive_structs, reason = "JSON-RPC 2.0 is finished")]
pub struct JsonRpcResponse {
    pub id: JsonRpcId,
    pub outcome: Result<Box<RawValue>, JsonRpcError>,
}

/// Why a request failed.
#[derive(Debug, Clone, Serialize)]
#[expect(missing_docs, reason = "the members of the wire object")]
#[expect(clippy::exhaustive_structs, reason = "JSON-RPC 2.0 is finished")]
pub struct JsonRpcError {
    pub code: i64,
    pub message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<Box<RawValue>>,
}

impl JsonRpcMessage {
    /// Reads the message in `node`.
    ///
    /// # Errors
    ///
    /// With everything that is wrong, and the id where one could be read.
    pub fn read(node: Node<'_>) -> Result<JsonRpcMessage, InvalidMessage> {
        let envelope = Envelope::of(node);
        let faults = envelope.faults();
        let invalid = |faults| InvalidMessage { id: envelope.readable_id(), faults };
        match envelope.kind() {
            Some(kind) if faults.is_empty() => {
                read_valid(&envelope, kind).map_err(|fault| invalid(vec![fault]))
            }
            _ => Err(invalid(faults)),
        }
    }
}

/// Takes a message without faults apart. What is left to fail is an error code beyond 64 bits.
fn read_valid(envelope: &Envelope<'_>, kind: MessageKind) -> Result<JsonRpcMessage, EnvelopeFault> {
    let fault = |kind, span: Option<Span>| EnvelopeFault {
        kind,
        span: span.unwrap_or(envelope.object.span()),
    };
    let method = || {
        let name = envelope.method.and_then(Node::as_str);
        name.map(String::from).ok_or(fault(FaultKind::MethodNotString, None))
    };
    let id = || envelope.readable_id().ok_or(fault(FaultKind::IdInvalid, None));
    Ok(match kind {
        MessageKind::Request => JsonRpcMessage::Request(JsonRpcRequest {
            id: id()?,
            method: method()?,
            params: envelope.params.map(raw_value),
        }),
        MessageKind::Notification => JsonRpcMessage::Notification(JsonRpcNotification {
            method: method()?,
            params: envelope.params.map(raw_value),
        }),
        MessageKind::Response => {
            let outcome = match (envelope.result, envelope.error) {
                (Some(result), _) => Ok(raw_value(result)),
                (None, Some(error)) => Err(JsonRpcError {
                    code: envelope.error_code().ok_or(fault(
                        FaultKind::ErrorCodeNotInteger,
                        error.get("code").map(Node::span),
                    ))?,
                    message: error
                        .get("message")
                        .and_then(Node::as_str)
                        .map(String::from)
                        .ok_or(fault(FaultKind::ErrorMessageNotString, None))?,
                    data: error.get("data").map(raw_value),
                }),
                (None, None) => return Err(fault(FaultKind::Unclassifiable, None)),
            };
            JsonRpcMessage::Response(JsonRpcResponse { id: id()?, outcome })
        }
    })
}

/// The exact text of a node. A parsed node is JSON, so this cannot fail; if `serde_json` knew a
/// stricter grammar, the value would be read as null rather than lost with a panic.
fn raw_value(node: Node<'_>) -> Box<RawValue> {
    let text = String::from_utf8_lossy(node.raw()).into_owned();
    RawValue::from_string(text).unwrap_or_else(|_| RawValue::NULL.to_owned())
}

impl Serialize for JsonRpcMessage {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            JsonRpcMessage::Request(request) => request.serialize(serializer),
            JsonRpcMessage::Notification(notification) => notification.serialize(serializer),
            JsonRpcMessage::Response(response) => response.serialize(serializer),
        }
    }
}

impl Serialize for JsonRpcRequest {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        write_call(serializer, Some(&self.id), &self.method, self.params.as_deref())
    }
}

impl Serialize for JsonRpcNotification {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        write_call(serializer, None, &self.method, self.params.as_deref())
    }
}

fn write_call<S: Serializer>(
    serializer: S,
    id: Option<&JsonRpcId>,
    method: &str,
    params: Option<&RawValue>,
) -> Result<S::Ok, S::Error> {
    let mut map = serializer.serialize_map(None)?;
    map.serialize_entry("jsonrpc", "2.0")?;
    if let Some(id) = id {
        map.serialize_entry("id", id)?;
    }
    map.serialize_entry("method", method)?;
    if let Some(params) = params {
        map.serialize_entry("params", params)?;
    }
    map.end()
}

impl Serialize for JsonRpcResponse {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("jsonrpc", "2.0")?;
        map.serialize_entry("id", &self.id)?;
        match &self.outcome {
            Ok(result) => map.serialize_entry("result", result)?,
            Err(error) => map.serialize_entry("error", error)?,
        }
        map.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_written_as_they_were_read() {
        for json in [
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x", "n":1.0}}"#,
            r#"{"jsonrpc":"2.0","id":null,"method":"x","params":[1,2]}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
            r#"{"jsonrpc":"2.0","id":"a","result":null}"#,
            r#"{"jsonrpc":"2.0","id":10000000000000000001,"error":{"code":-32000,"message":"no","data":[1.50]}}"#,
        ] {
            let Ok(Incoming::Single(Ok(message))) = Incoming::parse(json.as_bytes()) else {
                panic!("{json} is valid")
            };
            assert_eq!(serde_json::to_string(&message).unwrap(), json);
        }
    }

    #[test]
    fn a_batch_keeps_good_entries_beside_bad_ones() {
        let batch = br#"[{"jsonrpc":"2.0","id":1,"method":"a"},7,{"jsonrpc":"1.0","id":2,"method":"b"},{"jsonrpc":"2.0","method":"c"}]"#;
        let Ok(Incoming::Batch(entries)) = Incoming::parse(batch) else { panic!("a batch") };
        let bad: Vec<_> = entries
            .iter()
            .enumerate()
            .filter_map(|(index, entry)| entry.as_ref().err().map(|invalid| (index, invalid)))
            .map(|(index, invalid)| (index, invalid.id.clone(), invalid.faults[0].kind))
            .collect();
        assert_eq!(
            bad,
            [
                (1, None, FaultKind::NotObject),
                (2, Some(JsonRpcId::Integer(2)), FaultKind::VersionInvalid),
            ]
        );
    }

    #[test]
    fn an_empty_batch_is_one_invalid_message() {
        let Ok(Incoming::Single(Err(invalid))) = Incoming::parse(b"[]") else { panic!("invalid") };
        assert_eq!(invalid.faults[0].kind, FaultKind::BatchEmpty);
        assert!(Incoming::parse(b"[").is_err());
    }

    #[test]
    fn an_error_code_beyond_64_bits_is_no_panic() {
        let json =
            br#"{"jsonrpc":"2.0","id":1,"error":{"code":99999999999999999999,"message":""}}"#;
        let Ok(Incoming::Single(Err(invalid))) = Incoming::parse(json) else { panic!("invalid") };
        assert_eq!(invalid.faults[0].kind, FaultKind::ErrorCodeNotInteger);
    }
}
