use std::{
    convert::Infallible,
    sync::Arc,
    task::{Context, Poll},
};

use bytes::Bytes;
use http::{Request, Response, StatusCode};
use http_body::Body;
use mcp_core::BoxFuture;
use tower_service::Service;

use super::{HttpService, ResponseBody, reply};

/// An [`HttpService`] at one path, and 404 everywhere else: the simplest router.
#[derive(Debug, Clone)]
pub struct Mounted {
    path: Arc<str>,
    service: HttpService,
}

impl Mounted {
    /// Serves `service` at `path`, such as `/mcp`.
    pub fn new(path: &str, service: HttpService) -> Mounted {
        Mounted { path: path.trim_end_matches('/').into(), service }
    }
}

impl<B> Service<Request<B>> for Mounted
where
    B: Body<Data = Bytes> + Send + 'static,
{
    type Response = Response<ResponseBody>;
    type Error = Infallible;
    type Future = BoxFuture<'static, Result<Response<ResponseBody>, Infallible>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Service::<Request<B>>::poll_ready(&mut self.service, context)
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let path = request.uri().path();
        if path.strip_suffix('/').unwrap_or(path) == &*self.path {
            return self.service.call(request);
        }
        Box::pin(std::future::ready(Ok(reply::empty(StatusCode::NOT_FOUND))))
    }
}
