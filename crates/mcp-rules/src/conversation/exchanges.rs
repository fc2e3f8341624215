use std::fmt;

use mcp_core::RequestId;

/// What rules about messages can find out about the HTTP exchanges that carried them. An exchange and
/// its stream share a number; messages over other transports have none.
pub(crate) trait Exchanges: fmt::Debug {
    /// Whether nothing more can come on this exchange, or it was forgotten.
    fn has_ended(&self, stream: Option<u64>) -> bool;

    /// Whether its request was not observed, or was forgotten.
    fn is_unseen(&self, stream: Option<u64>) -> bool;

    /// Whether it may belong to any of several clients.
    fn is_anonymous(&self, stream: Option<u64>) -> bool;

    /// Whether a response may still come, or might have if the client had stayed.
    fn is_under_way(&self, stream: Option<u64>) -> bool;

    /// Whether it is a request of the modern era that was refused.
    fn is_refused_probe(&self, stream: Option<u64>) -> bool;

    /// Whether its response is a single document, which every posted request is owed.
    fn is_document(&self, stream: Option<u64>) -> bool;

    /// Whether a response with this id was posted in it.
    fn has_response(&self, stream: Option<u64>, id: &RequestId) -> bool;

    /// The status of its response.
    fn status(&self, stream: Option<u64>) -> Option<u16>;

    /// Its URL without the query.
    fn path(&self, stream: Option<u64>) -> Option<&str>;

    /// The id of the first request in its body.
    fn request_id(&self, stream: Option<u64>) -> Option<&RequestId>;

    /// Whether its body holds a request of this method.
    fn has_request(&self, stream: Option<u64>, method: &str) -> bool;
}
