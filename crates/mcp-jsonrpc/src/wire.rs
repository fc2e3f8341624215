//! `serde` support for the wire types.
//!
//! Every type is deserialized through the envelope. Text that is not a message is rejected with all
//! its faults; a message of the wrong kind is rejected with the kind it has. An error response
//! without an id is accepted, as everywhere in this crate: MCP omits the id in the response to an
//! unreadable request.
//!
//! Serializing rejects whatever deserializing would reject, so output can always be read back.

use mcp_core::Json;
use mcp_json::{Document, Parsed};
use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::Error as _,
    ser::{Error as _, SerializeStruct as _},
};
use serde_json::value::RawValue;

use crate::{
    EnvelopeFault, FaultKind, JsonRpcError, JsonRpcId, JsonRpcMessage, JsonRpcNotification,
    JsonRpcRequest, JsonRpcResponse,
    envelope::check_error,
    fault::join_messages,
    id::with_number,
    incoming::{read, read_valid_error},
};

impl<'de> Deserialize<'de> for JsonRpcMessage {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserialize_from_text(deserializer, |document, text| {
            read(document.root(), text).map_err(|invalid| invalid.to_string())
        })
    }
}

impl<'de> Deserialize<'de> for JsonRpcRequest {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match JsonRpcMessage::deserialize(deserializer)? {
            JsonRpcMessage::Request(request) => Ok(request),
            JsonRpcMessage::Notification(_) => {
                Err(D::Error::custom("not a request but a notification: `id` is missing"))
            }
            JsonRpcMessage::Response(_) => Err(D::Error::custom("not a request but a response")),
        }
    }
}

impl<'de> Deserialize<'de> for JsonRpcNotification {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match JsonRpcMessage::deserialize(deserializer)? {
            JsonRpcMessage::Notification(notification) => Ok(notification),
            JsonRpcMessage::Request(_) => {
                Err(D::Error::custom("not a notification but a request: it has an `id`"))
            }
            JsonRpcMessage::Response(_) => {
                Err(D::Error::custom("not a notification but a response"))
            }
        }
    }
}

impl<'de> Deserialize<'de> for JsonRpcResponse {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match JsonRpcMessage::deserialize(deserializer)? {
            JsonRpcMessage::Response(response) => Ok(response),
            JsonRpcMessage::Request(_) => Err(D::Error::custom("not a response but a request")),
            JsonRpcMessage::Notification(_) => {
                Err(D::Error::custom("not a response but a notification"))
            }
        }
    }
}

impl<'de> Deserialize<'de> for JsonRpcError {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserialize_from_text(deserializer, |document, text| {
            let mut faults = Vec::new();
            check_error(document.root(), |kind, span| faults.push(EnvelopeFault { kind, span }));
            if faults.is_empty() {
                read_valid_error(document.root(), text).map_err(|fault| fault.to_string())
            } else {
                Err(join_messages(&faults))
            }
        })
    }
}

impl<'de> Deserialize<'de> for JsonRpcId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserialize_from_text(deserializer, |document, _| {
            let broken = document.root().has_lone_surrogate();
            let id = JsonRpcId::read(document.root()).filter(|_| !broken);
            id.ok_or_else(|| FaultKind::IdInvalid.message().to_owned())
        })
    }
}

/// Applies `look` to the text of the deserializer's value.
fn deserialize_from_text<'de, D: Deserializer<'de>, T>(
    deserializer: D,
    look: impl FnOnce(&Document<'_>, &Parsed) -> Result<T, String>,
) -> Result<T, D::Error> {
    let parsed = Json::deserialize(deserializer)?.to_parsed().map_err(D::Error::custom)?;
    look(&parsed.document(), &parsed).map_err(D::Error::custom)
}

const VERSION: &str = "2.0";

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
        let id = Some(&self.id);
        serialize_call("JsonRpcRequest", id, &self.method, self.params.as_ref(), serializer)
    }
}

impl Serialize for JsonRpcNotification {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serialize_call("JsonRpcNotification", None, &self.method, self.params.as_ref(), serializer)
    }
}

fn serialize_call<S: Serializer>(
    name: &'static str,
    id: Option<&JsonRpcId>,
    method: &str,
    params: Option<&Json>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    if method.is_empty() {
        return Err(S::Error::custom(FaultKind::MethodEmpty.message()));
    }
    if params.is_some_and(|params| !is_structured(params)) {
        return Err(S::Error::custom(FaultKind::ParamsNotStructured.message()));
    }
    let members = 2 + usize::from(id.is_some()) + usize::from(params.is_some());
    let mut object = serializer.serialize_struct(name, members)?;
    object.serialize_field("jsonrpc", VERSION)?;
    if let Some(id) = id {
        object.serialize_field("id", id)?;
    }
    object.serialize_field("method", method)?;
    if let Some(params) = params {
        object.serialize_field("params", params)?;
    }
    object.end()
}

/// Whether it is an object or an array; whether it is JSON is checked when it is serialized.
fn is_structured(json: &Json) -> bool {
    matches!(json.as_bytes().trim_ascii_start(), [b'{' | b'[', ..])
}

impl Serialize for JsonRpcResponse {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.id.is_none() && self.outcome.is_ok() {
            return Err(S::Error::custom(FaultKind::ResponseWithoutId.message()));
        }
        let members = 2 + usize::from(self.id.is_some());
        let mut object = serializer.serialize_struct("JsonRpcResponse", members)?;
        object.serialize_field("jsonrpc", VERSION)?;
        if let Some(id) = &self.id {
            object.serialize_field("id", id)?;
        }
        match &self.outcome {
            Ok(result) => object.serialize_field("result", result)?,
            Err(error) => object.serialize_field("error", error)?,
        }
        object.end()
    }
}

impl Serialize for JsonRpcError {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let members = 2 + usize::from(self.data.is_some());
        let mut object = serializer.serialize_struct("JsonRpcError", members)?;
        object.serialize_field("code", &self.code)?;
        object.serialize_field("message", &self.message)?;
        if let Some(data) = &self.data {
            object.serialize_field("data", data)?;
        }
        object.end()
    }
}

impl Serialize for JsonRpcId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            JsonRpcId::Null => serializer.serialize_unit(),
            JsonRpcId::Integer(value) => serializer.serialize_i64(*value),
            JsonRpcId::String(text) => serializer.serialize_str(text),
            JsonRpcId::Number(spelling) => {
                // As raw text, since no Rust type holds all its digits.
                let raw =
                    with_number(spelling, |_| RawValue::from_string(spelling.to_string()).ok());
                let raw = raw.ok_or_else(|| S::Error::custom(FaultKind::IdInvalid.message()))?;
                raw.serialize(serializer)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde::de::DeserializeOwned;
    use serde_json::json;

    use super::*;

    /// Round-trips through text and through a value.
    #[track_caller]
    fn check<T: Serialize + DeserializeOwned + PartialEq + std::fmt::Debug>(it: &T, text: &str) {
        assert_eq!(serde_json::to_string(it).unwrap(), text);
        assert_eq!(&serde_json::from_str::<T>(text).unwrap(), it);
        let value = serde_json::to_value(it).unwrap();
        assert_eq!(value, serde_json::from_str::<serde_json::Value>(text).unwrap());
        assert_eq!(&serde_json::from_value::<T>(value).unwrap(), it);
    }

    #[test]
    fn each_type_round_trips() {
        let request = JsonRpcRequest::new(1, "m", Some(json!({ "a": 1 })));
        let text = r#"{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":1}}"#;
        check(&request, text);
        check(&JsonRpcMessage::from(request), text);
        let request = JsonRpcRequest::new(JsonRpcId::Null, "m", None);
        check(&request, r#"{"jsonrpc":"2.0","id":null,"method":"m"}"#);

        let notification = JsonRpcNotification::new("m", Some(json!([])));
        let text = r#"{"jsonrpc":"2.0","method":"m","params":[]}"#;
        check(&notification, text);
        check(&JsonRpcMessage::from(notification), text);

        let response = JsonRpcResponse::success("x", json!(null));
        let text = r#"{"jsonrpc":"2.0","id":"x","result":null}"#;
        check(&response, text);
        check(&JsonRpcMessage::from(response), text);
        let error = JsonRpcError::new(-32000, "no").with_data(json!(null));
        check(&error, r#"{"code":-32000,"message":"no","data":null}"#);
        let response = JsonRpcResponse { id: None, outcome: Err(JsonRpcError::new(1, "no")) };
        check(&response, r#"{"jsonrpc":"2.0","error":{"code":1,"message":"no"}}"#);

        for (id, text) in [
            (JsonRpcId::Null, "null"),
            (JsonRpcId::from(-7), "-7"),
            (JsonRpcId::from("x\n"), r#""x\n""#),
            (JsonRpcId::Number("1.5".into()), "1.5"),
        ] {
            check(&id, text);
        }
    }
}
