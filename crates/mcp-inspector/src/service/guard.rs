//! Checks of every request, and headers of every response.

use std::{
    convert::Infallible,
    sync::Arc,
    task::{Context, Poll},
};

use axum::{
    Router,
    body::Body,
    extract::{Request, State},
    middleware::Next,
    response::{IntoResponse as _, Response},
};
use http::{
    HeaderValue, StatusCode,
    header::{
        CACHE_CONTROL, CONTENT_SECURITY_POLICY, HeaderName, REFERRER_POLICY,
        X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS,
    },
};
use mcp_transport::check_source;
use ring::digest::{SHA256, digest};

use super::PageAccess;

/// Checks host, origin and token.
#[derive(Debug)]
pub(super) struct Guard {
    access: PageAccess,
}

const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; \
                      connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
const OPENER_POLICY: HeaderName = HeaderName::from_static("cross-origin-opener-policy");
const RESOURCE_POLICY: HeaderName = HeaderName::from_static("cross-origin-resource-policy");

impl Guard {
    pub(super) fn new(access: PageAccess) -> Guard {
        Guard { access }
    }

    fn admits(&self, request: &Request) -> Result<(), (StatusCode, String)> {
        let PageAccess { token, hosts, origins } = &self.access;
        check_source(hosts, origins, request.uri(), request.headers())
            .map_err(|foreign| (StatusCode::FORBIDDEN, foreign.to_string()))?;
        let sent = request.uri().path().split('/').nth(1).unwrap_or_default();
        if is_same(sent, token) {
            return Ok(());
        }
        let hint = "open the address that `plumb` printed; it ends with a token";
        Err((StatusCode::UNAUTHORIZED, hint.to_owned()))
    }
}

/// Compares digests of the secrets, so that the time taken reveals nothing about them.
fn is_same(sent: &str, token: &str) -> bool {
    let of = |text: &str| digest(&SHA256, text.as_bytes());
    of(sent).as_ref() == of(token).as_ref()
}

pub(super) async fn check(
    State(guard): State<Arc<Guard>>,
    request: Request,
    next: Next,
) -> Response {
    let mut response = match guard.admits(&request) {
        Ok(()) => next.run(request).await,
        Err(refusal) => refusal.into_response(),
    };
    let headers = response.headers_mut();
    let fixed = [
        (CONTENT_SECURITY_POLICY, POLICY),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (X_FRAME_OPTIONS, "DENY"),
        (REFERRER_POLICY, "no-referrer"),
        (OPENER_POLICY, "same-origin"),
        (RESOURCE_POLICY, "same-origin"),
    ];
    for (name, value) in fixed {
        headers.insert(name, HeaderValue::from_static(value));
    }
    headers.entry(CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    response
}

/// Converts bodies to the type that a router expects.
#[derive(Debug, Clone)]
pub(super) struct Bodies(pub(super) Router);

impl tower_service::Service<http::Request<hyper::body::Incoming>> for Bodies {
    type Response = Response;
    type Error = Infallible;
    type Future = <Router as tower_service::Service<Request>>::Future;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<hyper::body::Incoming>) -> Self::Future {
        tower_service::Service::call(&mut self.0, request.map(Body::new))
    }
}
