//! Conversions between the wire and the domain.

use mcp_core::{Dispatch, Error, Notification, Request, RequestId, Response, Revision};

use crate::{
    JsonRpcError, JsonRpcId, JsonRpcMessage, JsonRpcNotification, JsonRpcRequest, JsonRpcResponse,
    error_map::to_json_rpc_error,
};

impl JsonRpcRequest {
    /// Converts to a domain request.
    ///
    /// The domain has no null or fractional ids; such an id (JSON-RPC allows it) becomes a string of
    /// its literal text. The adapter keeps the original id for the response.
    pub fn to_domain_request(&self) -> Request {
        let id = self.id.to_request_id();
        Request {
            id: id.unwrap_or_else(|| RequestId::from(self.id.to_string())),
            method: self.method.clone().into(),
            params: self.params.clone(),
        }
    }
}

impl From<Request> for JsonRpcRequest {
    fn from(request: Request) -> Self {
        JsonRpcRequest {
            id: request.id.into(),
            method: request.method.into_owned(),
            params: request.params,
        }
    }
}

impl JsonRpcNotification {
    /// Converts to a domain notification.
    pub fn to_domain_notification(&self) -> Notification {
        Notification { method: self.method.clone().into(), params: self.params.clone() }
    }
}

impl From<Notification> for JsonRpcNotification {
    fn from(notification: Notification) -> Self {
        JsonRpcNotification {
            method: notification.method.into_owned(),
            params: notification.params,
        }
    }
}

impl JsonRpcResponse {
    /// Converts to a domain response at `revision`. `None` if its id is missing, null or fractional,
    /// and thus cannot be that of a domain request.
    pub fn to_domain_response(&self, revision: Revision) -> Option<Response> {
        let outcome = match &self.outcome {
            Ok(result) => Ok(result.clone()),
            Err(error) => Err(error.to_domain_error()),
        };
        Some(Response { id: self.id.as_ref()?.to_request_id()?, revision, outcome })
    }
}

impl JsonRpcError {
    /// Converts to a domain error with the same code. Several domain errors share one code, so the
    /// original variant cannot be recovered.
    pub fn to_domain_error(&self) -> Error {
        Error::Coded { code: self.code, message: self.message.clone(), data: self.data.clone() }
    }
}

/// Converts domain responses to JSON-RPC.
pub trait ToJsonRpc {
    /// The response to the request that had `id` on the wire. The code and data of some errors
    /// depend on the dispatch.
    fn to_json_rpc(&self, id: JsonRpcId, dispatch: Dispatch) -> JsonRpcResponse;
}

impl ToJsonRpc for Response {
    fn to_json_rpc(&self, id: JsonRpcId, dispatch: Dispatch) -> JsonRpcResponse {
        let outcome = match &self.outcome {
            Ok(result) => Ok(result.clone()),
            Err(error) => Err(to_json_rpc_error(error, self.revision, dispatch)),
        };
        JsonRpcResponse { id: Some(id), outcome }
    }
}

impl From<Request> for JsonRpcMessage {
    fn from(request: Request) -> Self {
        JsonRpcRequest::from(request).into()
    }
}

impl From<Notification> for JsonRpcMessage {
    fn from(notification: Notification) -> Self {
        JsonRpcNotification::from(notification).into()
    }
}

#[cfg(test)]
mod tests {
    use mcp_core::Json;
    use serde_json::json;

    use super::*;

    fn ids() -> [JsonRpcId; 3] {
        let big = JsonRpcId::Number("10000000000000000001".into());
        [JsonRpcId::from(7), JsonRpcId::from("seven"), big]
    }

    #[test]
    fn requests_round_trip_through_the_domain() {
        for params in [None, Some(json!({ "a": 1.5 })), Some(json!([]))] {
            for id in ids() {
                let request = JsonRpcRequest::new(id, "m", params.clone());
                let domain = request.to_domain_request();
                assert_eq!(domain.method, "m");
                assert_eq!(domain.params, params.clone().map(Json::from));
                assert_eq!(JsonRpcRequest::from(domain.clone()), request);
                assert_eq!(JsonRpcMessage::from(domain), JsonRpcMessage::Request(request));
            }
        }
    }

    #[test]
    fn ids_unknown_to_the_domain_become_their_literal_text() {
        for (id, name) in [
            (JsonRpcId::Null, RequestId::from("null")),
            (JsonRpcId::Number("1.5".into()), RequestId::from("1.5")),
            (JsonRpcId::Number("2.0".into()), RequestId::from(2)),
        ] {
            assert_eq!(JsonRpcRequest::new(id, "m", None).to_domain_request().id, name);
        }
    }

    #[test]
    fn notifications_round_trip_through_the_domain() {
        for params in [None, Some(json!({ "a": 1 }))] {
            let notification = JsonRpcNotification::new("m", params);
            let domain = notification.to_domain_notification();
            assert_eq!(JsonRpcNotification::from(domain.clone()), notification);
            assert_eq!(JsonRpcMessage::from(domain), JsonRpcMessage::Notification(notification));
        }
    }

    #[test]
    fn responses_round_trip_through_the_domain() {
        let error = JsonRpcError::new(-32000, "no").with_data(json!({ "why": "so" }));
        for outcome in [Ok(Json::from(json!({ "a": 1 }))), Err(error)] {
            for id in ids() {
                let response = JsonRpcResponse { id: Some(id.clone()), outcome: outcome.clone() };
                let domain = response.to_domain_response(Revision::LATEST).unwrap();
                assert_eq!(Some(&domain.id), id.to_request_id().as_ref());
                for dispatch in [Dispatch::Mcp, Dispatch::Bare] {
                    assert_eq!(domain.to_json_rpc(id.clone(), dispatch), response);
                }
            }
        }
    }

    #[test]
    fn a_response_without_a_usable_id_has_no_domain_form() {
        for id in [None, Some(JsonRpcId::Null), Some(JsonRpcId::Number("1.5".into()))] {
            let response = JsonRpcResponse { id, ..JsonRpcResponse::success(1, json!({})) };
            assert_eq!(response.to_domain_response(Revision::LATEST), None);
        }
    }

    #[test]
    fn domain_errors_come_back_with_their_code() {
        let response = Response {
            id: RequestId::from(1),
            revision: Revision::LATEST,
            outcome: Err(Error::ToolNotFound { name: "x".into() }),
        };
        let written = response.to_json_rpc(JsonRpcId::from(1), Dispatch::Bare);
        let read = written.to_domain_response(Revision::LATEST).unwrap();
        let Err(Error::Coded { code, message, data }) = read.outcome else { panic!("an error") };
        assert_eq!((code, message.as_str()), (-32601, "unknown tool `x`"));
        assert_eq!(data.unwrap().to_value().unwrap()["error_type"], "tool_not_found");
    }
}
