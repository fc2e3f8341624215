//! Conversion both ways between the wire and the domain.

use mcp_core::{Notification, Request, RequestId, Response};

use crate::{
    ErrorDialect, JsonRpcId, JsonRpcNotification, JsonRpcRequest, JsonRpcResponse,
    error_map::to_json_rpc_error,
};

impl JsonRpcRequest {
    /// The request as the domain knows it.
    ///
    /// The domain has no null or fractional ids; a request that has one (base JSON-RPC allows it)
    /// goes by the spelling of its id. The answer is matched by the adapter, not by this name.
    pub fn to_domain_request(&self) -> Request {
        let id = self.id.to_request_id();
        Request {
            id: id.unwrap_or_else(|| RequestId::from(self.id.to_string())),
            method: self.method.clone().into(),
            params: self.params.clone(),
        }
    }
}

impl JsonRpcNotification {
    /// The notification as the domain knows it.
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

/// Writes domain answers as JSON-RPC.
pub trait ToJsonRpc {
    /// The answer to the request that had `id` on the wire.
    fn to_json_rpc(&self, id: JsonRpcId, dialect: ErrorDialect) -> JsonRpcResponse;
}

impl ToJsonRpc for Response {
    fn to_json_rpc(&self, id: JsonRpcId, dialect: ErrorDialect) -> JsonRpcResponse {
        let outcome = match &self.outcome {
            Ok(result) => Ok(result.clone()),
            Err(error) => Err(to_json_rpc_error(error, self.revision, dialect)),
        };
        JsonRpcResponse { id: Some(id), outcome }
    }
}
