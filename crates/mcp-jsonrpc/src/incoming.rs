use bytes::Bytes;
use mcp_core::Json;
use mcp_json::{Limits, Node, Parsed, Span, SyntaxError};

use crate::{
    Envelope, EnvelopeFault, FaultKind, JsonRpcError, JsonRpcId, JsonRpcMessage,
    JsonRpcNotification, JsonRpcRequest, JsonRpcResponse, MessageKind, fault::join_messages,
    id::integer_value,
};

/// One unit of input: a message, or a batch of them.
#[derive(Debug)]
#[expect(clippy::exhaustive_enums, reason = "JSON-RPC 2.0 is finished")]
pub enum Incoming {
    /// An object.
    Single(Result<JsonRpcMessage, InvalidMessage>),
    /// A non-empty array. Invalid entries keep their position and do not affect valid ones.
    Batch(Vec<Result<JsonRpcMessage, InvalidMessage>>),
}

/// A JSON value that is not a JSON-RPC message.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not a JSON-RPC message: {}", join_messages(faults))]
#[expect(clippy::exhaustive_structs, reason = "the readable parts and the faults, nothing else")]
pub struct InvalidMessage {
    /// The id, if it is readable.
    pub id: Option<JsonRpcId>,
    /// It has a method and no outcome: it cannot be a response.
    pub names_method: bool,
    /// It has a method and no id: it expects no response.
    pub is_notification: bool,
    /// It has an outcome and no method, or two outcomes: it was meant as a response, and expects
    /// none.
    pub is_response: bool,
    /// The faults, at least one.
    pub faults: Vec<EnvelopeFault>,
}

impl Incoming {
    /// Parses one message or batch. Payloads are not copied: they share the memory of `bytes`.
    ///
    /// # Errors
    ///
    /// If `bytes` is not JSON. JSON that is not a JSON-RPC message is an [`InvalidMessage`] instead.
    pub fn parse(bytes: &Bytes) -> Result<Incoming, SyntaxError> {
        Ok(Incoming::read(&Parsed::parse(bytes.clone(), Limits::default())?))
    }

    /// Reads parsed JSON. Payloads share its text and its tape.
    pub fn read(parsed: &Parsed) -> Incoming {
        let document = parsed.document();
        let root = document.root();
        if !root.is_array() || root.is_empty() {
            return Incoming::Single(read_single(parsed));
        }
        Incoming::Batch(root.elements().map(|entry| read(entry, parsed)).collect())
    }
}

/// Reads one message, or a batch without any.
pub(crate) fn read_single(parsed: &Parsed) -> Result<JsonRpcMessage, InvalidMessage> {
    let document = parsed.document();
    let root = document.root();
    if root.is_array() && root.is_empty() {
        return Err(InvalidMessage {
            id: None,
            names_method: false,
            is_notification: false,
            is_response: false,
            faults: vec![EnvelopeFault { kind: FaultKind::BatchEmpty, span: root.span() }],
        });
    }
    read(root, parsed)
}

/// Reads the message in `node`, which is part of `parsed`.
pub(crate) fn read(node: Node<'_>, parsed: &Parsed) -> Result<JsonRpcMessage, InvalidMessage> {
    let envelope = Envelope::of(node);
    let mut faults = envelope.faults();
    if envelope.error.is_some() {
        // MCP omits the id in the response to an unreadable request.
        faults.retain(|fault| fault.kind != FaultKind::ResponseWithoutId);
    }
    let invalid = |faults| InvalidMessage {
        id: exact_id(&envelope),
        names_method: matches!(
            envelope.kind(),
            Some(MessageKind::Request | MessageKind::Notification)
        ),
        is_notification: envelope.kind() == Some(MessageKind::Notification)
            && envelope.method.is_some_and(Node::is_string),
        is_response: envelope.kind() == Some(MessageKind::Response)
            || envelope.result.is_some() && envelope.error.is_some(),
        faults,
    };
    match envelope.kind() {
        Some(kind) if faults.is_empty() => {
            read_valid(&envelope, kind, parsed).map_err(|fault| invalid(vec![fault]))
        }
        _ => Err(invalid(faults)),
    }
}

/// Converts a message without faults. Only an error code beyond 64 bits can still fail.
fn read_valid(
    envelope: &Envelope<'_>,
    kind: MessageKind,
    parsed: &Parsed,
) -> Result<JsonRpcMessage, EnvelopeFault> {
    let fault = |kind, span: Option<Span>| EnvelopeFault {
        kind,
        span: span.unwrap_or(envelope.object.span()),
    };
    let method = || {
        let name = envelope.method.and_then(Node::as_str);
        name.map(String::from).ok_or(fault(FaultKind::MethodNotString, None))
    };
    let params = || envelope.params.map(|params| Json::from(parsed.part(params)));
    Ok(match kind {
        MessageKind::Request => JsonRpcMessage::Request(JsonRpcRequest {
            id: exact_id(envelope).ok_or(fault(FaultKind::IdInvalid, None))?,
            method: method()?,
            params: params(),
        }),
        MessageKind::Notification => JsonRpcMessage::Notification(JsonRpcNotification {
            method: method()?,
            params: params(),
        }),
        MessageKind::Response => {
            let outcome = match (envelope.result, envelope.error) {
                (Some(result), _) => Ok(Json::from(parsed.part(result))),
                (None, Some(error)) => Err(read_valid_error(error, parsed)?),
                (None, None) => return Err(fault(FaultKind::Unclassifiable, None)),
            };
            JsonRpcMessage::Response(JsonRpcResponse { id: exact_id(envelope), outcome })
        }
    })
}

/// Converts an error object without faults; its code may still be beyond 64 bits.
pub(crate) fn read_valid_error(
    error: Node<'_>,
    parsed: &Parsed,
) -> Result<JsonRpcError, EnvelopeFault> {
    let (code, message) = (error.get("code"), error.get("message"));
    let fault = |kind, member: Option<Node<'_>>| {
        let span = member.unwrap_or(error).span();
        EnvelopeFault { kind, span }
    };
    Ok(JsonRpcError {
        code: code
            .and_then(integer_value)
            .ok_or_else(|| fault(FaultKind::ErrorCodeNotInteger, code))?,
        message: message
            .and_then(Node::as_str)
            .map(String::from)
            .ok_or_else(|| fault(FaultKind::ErrorMessageNotString, message))?,
        data: error.get("data").map(|data| Json::from(parsed.part(data))),
    })
}

/// The id, if it can be sent back unchanged. An id with a lone surrogate cannot, and its sender
/// would not recognise it.
fn exact_id(envelope: &Envelope<'_>) -> Option<JsonRpcId> {
    let node = envelope.id?;
    if node.has_lone_surrogate() {
        return None;
    }
    JsonRpcId::read(node)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(json: &'static str) -> Result<Incoming, SyntaxError> {
        Incoming::parse(&Bytes::from_static(json.as_bytes()))
    }

    #[test]
    fn messages_are_written_as_they_were_read() {
        for json in [
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x", "n":1.0}}"#,
            r#"{"jsonrpc":"2.0","id":null,"method":"x","params":[1,2]}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
            r#"{"jsonrpc":"2.0","id":"a\"\n","result":null}"#,
            r#"{"jsonrpc":"2.0","id":10000000000000000001,"error":{"code":-32000,"message":"no","data":[1.50]}}"#,
            r#"{"jsonrpc":"2.0","error":{"code":-32700,"message":"not JSON"}}"#,
        ] {
            let Ok(Incoming::Single(Ok(message))) = parse(json) else { panic!("{json} is valid") };
            assert_eq!(message.to_bytes(), json);
        }
    }

    #[test]
    fn a_batch_keeps_valid_entries_beside_invalid_ones() {
        let batch = r#"[{"jsonrpc":"2.0","id":1,"method":"a"},7,{"jsonrpc":"1.0","id":2,"method":"b"},{"jsonrpc":"2.0","method":"c"}]"#;
        let Ok(Incoming::Batch(entries)) = parse(batch) else { panic!("a batch") };
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
        let Ok(Incoming::Single(Err(invalid))) = parse("[]") else { panic!("invalid") };
        assert_eq!(invalid.faults[0].kind, FaultKind::BatchEmpty);
        assert!(parse("[").is_err());
    }

    #[test]
    fn an_id_with_a_lone_surrogate_is_invalid() {
        let json = r#"{"jsonrpc":"2.0","id":"\ud800","method":"a"}"#;
        let Ok(Incoming::Single(Err(invalid))) = parse(json) else { panic!("invalid") };
        assert_eq!(invalid.id, None);
        assert_eq!(invalid.faults[0].kind, FaultKind::IdInvalid);
        let json = r#"{"jsonrpc":"2.0","id":"a","method":"\ud800"}"#;
        assert!(matches!(parse(json), Ok(Incoming::Single(Ok(_)))));
        let json = r#"[{"jsonrpc":"2.0","id":"\udc00","method":"a"},{"jsonrpc":"2.0","id":"b","method":"a"}]"#;
        let Ok(Incoming::Batch(entries)) = parse(json) else { panic!("a batch") };
        assert!(entries[0].is_err() && entries[1].is_ok());
    }

    #[test]
    fn an_error_code_beyond_64_bits_does_not_panic() {
        let json = r#"{"jsonrpc":"2.0","id":1,"error":{"code":99999999999999999999,"message":""}}"#;
        let Ok(Incoming::Single(Err(invalid))) = parse(json) else { panic!("invalid") };
        assert_eq!(invalid.faults[0].kind, FaultKind::ErrorCodeNotInteger);
    }
}
