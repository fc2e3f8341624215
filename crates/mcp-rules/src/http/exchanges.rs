use mcp_core::RequestId;

use super::{Exchange, Http};
use crate::conversation::Exchanges;

impl Exchanges for Http {
    fn has_ended(&self, stream: Option<u64>) -> bool {
        Http::has_ended(self, stream)
    }

    fn is_unseen(&self, stream: Option<u64>) -> bool {
        Http::is_unseen(self, stream)
    }

    fn is_anonymous(&self, stream: Option<u64>) -> bool {
        Http::is_anonymous(self, stream)
    }

    fn is_under_way(&self, stream: Option<u64>) -> bool {
        Http::is_under_way(self, stream)
    }

    fn is_refused_probe(&self, stream: Option<u64>) -> bool {
        Http::is_refused_probe(self, stream)
    }

    fn is_document(&self, stream: Option<u64>) -> bool {
        let exchange = stream.and_then(|number| self.exchange(number));
        exchange.is_some_and(|exchange| exchange.is_post() && !exchange.is_sse)
    }

    fn has_response(&self, stream: Option<u64>, id: &RequestId) -> bool {
        let exchange = stream.and_then(|number| self.exchange(number));
        exchange.is_some_and(|exchange| exchange.has_response(id))
    }

    fn status(&self, stream: Option<u64>) -> Option<u16> {
        self.exchange(stream?)?.status
    }

    fn path(&self, stream: Option<u64>) -> Option<&str> {
        self.exchange(stream?).map(Exchange::path)
    }

    fn request_id(&self, stream: Option<u64>) -> Option<&RequestId> {
        self.exchange(stream?)?.requests().find_map(|posted| posted.id.as_ref())
    }

    fn has_request(&self, stream: Option<u64>, method: &str) -> bool {
        let exchange = stream.and_then(|number| self.exchange(number));
        exchange.is_some_and(|exchange| exchange.requests().any(|posted| *posted.name == *method))
    }
}
