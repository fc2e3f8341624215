use std::{
    convert::Infallible,
    sync::Arc,
    task::{Context, Poll},
};

use bytes::Bytes;
use http::{HeaderMap, Request, Response, header::AUTHORIZATION};
use http_body::Body;
use mcp_core::BoxFuture;
use tower_service::Service;

use super::{
    answer::Answer,
    body::{BoxError, ProxyBody, boxed},
};

/// A service that only answers requests with a token, if one is required.
#[derive(Debug, Clone)]
pub struct Guarded<S> {
    service: S,
    token: Option<Arc<str>>,
}

impl<S> Guarded<S> {
    /// Requires `token` as `Authorization: Bearer`.
    pub fn new(service: S, token: Option<Arc<str>>) -> Guarded<S> {
        Guarded { service, token }
    }
}

impl<S, A, B> Service<Request<A>> for Guarded<S>
where
    S: Service<Request<A>, Response = Response<B>, Error = Infallible>,
    S::Future: Send + 'static,
    B: Body<Data = Bytes> + Send + 'static,
    B::Error: Into<BoxError>,
{
    type Response = Response<ProxyBody>;
    type Error = Infallible;
    type Future = BoxFuture<'static, Result<Response<ProxyBody>, Infallible>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        self.service.poll_ready(context)
    }

    fn call(&mut self, request: Request<A>) -> Self::Future {
        if !self.token.as_ref().is_none_or(|token| has_token(request.headers(), token)) {
            return Box::pin(std::future::ready(Ok(Answer::unauthorized().into_response())));
        }
        let answered = self.service.call(request);
        Box::pin(async move { Ok(answered.await?.map(boxed)) })
    }
}

/// Whether a request has the token that is required.
pub(super) fn has_token(headers: &HeaderMap, token: &str) -> bool {
    let sent = headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok());
    let sent = sent.and_then(|value| value.strip_prefix("Bearer "));
    sent.is_some_and(|sent| is_same(sent.as_bytes(), token.as_bytes()))
}

/// Compares secrets without telling by the time how much of them is right.
fn is_same(left: &[u8], right: &[u8]) -> bool {
    left.len() == right.len()
        && left.iter().zip(right).fold(0, |different, (left, right)| different | (left ^ right))
            == 0
}
