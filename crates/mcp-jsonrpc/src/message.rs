use mcp_core::{Json, Refusal};
use serde_json::Value;

use crate::{ErrorCode, JsonRpcId, error_map};

/// A message that owns its data.
///
/// This type and its parts work with `serde_json`, as text and as values. Deserializing needs the
/// whole text, so it fails inside an untagged enum or behind `#[serde(flatten)]`, which buffer
/// their input in pieces.
#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "self-explanatory")]
#[expect(clippy::exhaustive_enums, reason = "JSON-RPC 2.0 is finished")]
pub enum JsonRpcMessage {
    Request(JsonRpcRequest),
    Notification(JsonRpcNotification),
    Response(JsonRpcResponse),
}

/// A call that expects a response.
#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "the members of the wire object")]
#[expect(clippy::exhaustive_structs, reason = "JSON-RPC 2.0 is finished")]
pub struct JsonRpcRequest {
    pub id: JsonRpcId,
    pub method: String,
    pub params: Option<Json>,
}

/// A call that expects no response.
#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "the members of the wire object")]
#[expect(clippy::exhaustive_structs, reason = "JSON-RPC 2.0 is finished")]
pub struct JsonRpcNotification {
    pub method: String,
    pub params: Option<Json>,
}

/// The response to a request: exactly one of `result` and `error`.
#[derive(Debug, Clone, PartialEq)]
#[expect(clippy::exhaustive_structs, reason = "JSON-RPC 2.0 is finished")]
pub struct JsonRpcResponse {
    /// The id of the request. If it is unreadable, JSON-RPC requires null; MCP has no null ids and
    /// omits the member, which is `None`.
    pub id: Option<JsonRpcId>,
    /// The result or the error.
    pub outcome: Result<Json, JsonRpcError>,
}

/// Why a request failed.
#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "the members of the wire object")]
#[expect(clippy::exhaustive_structs, reason = "JSON-RPC 2.0 is finished")]
pub struct JsonRpcError {
    pub code: i64,
    pub message: String,
    pub data: Option<Json>,
}

impl JsonRpcRequest {
    /// A request of `method` with `params`, an object or an array.
    pub fn new(
        id: impl Into<JsonRpcId>,
        method: impl Into<String>,
        params: Option<Value>,
    ) -> JsonRpcRequest {
        JsonRpcRequest { id: id.into(), method: method.into(), params: params.map(Json::from) }
    }

    /// The params as a value, if there are any.
    ///
    /// # Errors
    ///
    /// As for [`Json::to_value`].
    pub fn params_as_value(&self) -> Result<Option<Value>, serde_json::Error> {
        self.params.as_ref().map(Json::to_value).transpose()
    }
}

impl JsonRpcNotification {
    /// A notification of `method` with `params`, an object or an array.
    pub fn new(method: impl Into<String>, params: Option<Value>) -> JsonRpcNotification {
        JsonRpcNotification { method: method.into(), params: params.map(Json::from) }
    }

    /// The params as a value, if there are any.
    ///
    /// # Errors
    ///
    /// As for [`Json::to_value`].
    pub fn params_as_value(&self) -> Result<Option<Value>, serde_json::Error> {
        self.params.as_ref().map(Json::to_value).transpose()
    }
}

impl JsonRpcResponse {
    /// The response with `result` to request `id`.
    pub fn success(id: impl Into<JsonRpcId>, result: Value) -> JsonRpcResponse {
        JsonRpcResponse { id: Some(id.into()), outcome: Ok(result.into()) }
    }

    /// The response with `error` to request `id`.
    pub fn failure(id: impl Into<JsonRpcId>, error: JsonRpcError) -> JsonRpcResponse {
        JsonRpcResponse { id: Some(id.into()), outcome: Err(error) }
    }

    /// The result as a value; `None` if the request failed.
    ///
    /// # Errors
    ///
    /// As for [`Json::to_value`].
    pub fn result_as_value(&self) -> Result<Option<Value>, serde_json::Error> {
        self.outcome.as_ref().ok().map(Json::to_value).transpose()
    }

    /// Why the request failed, if it did.
    pub fn error(&self) -> Option<&JsonRpcError> {
        self.outcome.as_ref().err()
    }
}

impl JsonRpcError {
    /// The error that tells a sender why a gate rejected its message, with the findings as `data`.
    pub fn of_refusal(refusal: &Refusal) -> JsonRpcError {
        error_map::refusal_to_json_rpc(refusal)
    }

    /// An error without `data`.
    pub fn new(code: i64, message: impl Into<String>) -> JsonRpcError {
        JsonRpcError { code, message: message.into(), data: None }
    }

    /// Sets `data`.
    #[must_use]
    pub fn with_data(mut self, data: Value) -> JsonRpcError {
        self.data = Some(data.into());
        self
    }

    /// The data as a value, if there is any.
    ///
    /// # Errors
    ///
    /// As for [`Json::to_value`].
    pub fn data_as_value(&self) -> Result<Option<Value>, serde_json::Error> {
        self.data.as_ref().map(Json::to_value).transpose()
    }
}

impl From<ErrorCode> for i64 {
    fn from(code: ErrorCode) -> Self {
        code.code()
    }
}

impl From<JsonRpcRequest> for JsonRpcMessage {
    fn from(request: JsonRpcRequest) -> Self {
        JsonRpcMessage::Request(request)
    }
}

impl From<JsonRpcNotification> for JsonRpcMessage {
    fn from(notification: JsonRpcNotification) -> Self {
        JsonRpcMessage::Notification(notification)
    }
}

impl From<JsonRpcResponse> for JsonRpcMessage {
    fn from(response: JsonRpcResponse) -> Self {
        JsonRpcMessage::Response(response)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn params_round_trip_as_values() {
        for params in [None, Some(json!({ "a": [1, null] })), Some(json!([1, "b"]))] {
            let request = JsonRpcRequest::new(1, "m", params.clone());
            assert_eq!(request.params_as_value().unwrap(), params);
            let notification = JsonRpcNotification::new("m", params.clone());
            assert_eq!(notification.params_as_value().unwrap(), params);
        }
    }

    #[test]
    fn results_and_errors_round_trip_as_values() {
        for result in [json!(null), json!({ "a": 1 }), json!("text")] {
            let response = JsonRpcResponse::success("x", result.clone());
            assert_eq!(response.result_as_value().unwrap(), Some(result));
            assert_eq!(response.error(), None);
        }
        let error = JsonRpcError::new(ErrorCode::InvalidParams.into(), "no");
        assert_eq!((error.code, error.data_as_value().unwrap()), (-32602, None));
        let error = error.with_data(json!({ "a": 1 }));
        assert_eq!(error.data_as_value().unwrap(), Some(json!({ "a": 1 })));
        let response = JsonRpcResponse::failure(JsonRpcId::Null, error.clone());
        assert_eq!(response.result_as_value().unwrap(), None);
        assert_eq!(response.error(), Some(&error));
    }

    #[test]
    fn a_payload_that_a_value_cannot_hold_is_an_error() {
        let params = Some(Json::already_parsed(bytes::Bytes::from_static(b"[1e999]")));
        let request = JsonRpcRequest { params, ..JsonRpcRequest::new(1, "m", None) };
        assert!(request.params_as_value().is_err());
    }

    #[test]
    fn each_kind_is_a_message() {
        let request = JsonRpcRequest::new(1, "m", None);
        let notification = JsonRpcNotification::new("m", None);
        let response = JsonRpcResponse::success(1, json!({}));
        assert_eq!(JsonRpcMessage::from(request.clone()), JsonRpcMessage::Request(request));
        assert_eq!(
            JsonRpcMessage::from(notification.clone()),
            JsonRpcMessage::Notification(notification)
        );
        assert_eq!(JsonRpcMessage::from(response.clone()), JsonRpcMessage::Response(response));
    }
}
