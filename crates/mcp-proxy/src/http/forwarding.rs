//! Forwarding between replicas: a session whose server is a child process lives in a single
//! replica.
//!
//! ```text
//! client ─► any replica ─► opens the id: where does the session live?
//!                            ├─ here: the service, with the id that it knows
//!                            ├─ elsewhere: forwarded unchanged, as is the answer
//!                            └─ nowhere (forged, or the replica is gone): 404, and the client opens another
//! ```

use std::{
    convert::Infallible,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use bytes::Bytes;
use http::{
    HeaderName, HeaderValue, Request, Response, StatusCode, Uri,
    header::{AUTHORIZATION, HOST},
    uri,
};
use http_body::Body;
use hyper_util::{
    client::legacy::{Client, connect::HttpConnector},
    rt::{TokioExecutor, TokioTimer},
};
use mcp_core::BoxFuture;
use mcp_jsonrpc::ErrorCode;
use tokio::net::TcpStream;
use tower_service::Service;

use super::{
    answer::Answer,
    body::{BoxError, ProxyBody, boxed},
    headers::remove_hop_by_hop,
    seal::{SessionLocation, SessionSeal},
};

/// A service that forwards requests for sessions of other replicas.
#[derive(Debug, Clone)]
pub(crate) struct Forwarding<S> {
    service: S,
    replica: Arc<Replica>,
}

/// This replica, as one of several that receive each other's requests.
#[derive(Debug)]
pub struct Replica {
    address: String,
    seal: SessionSeal,
    /// The token that clients have to send, which has been removed from requests here.
    token: Option<HeaderValue>,
    client: Client<HttpConnector, ProxyBody>,
}

/// The original path of a request whose prefix has been removed.
#[derive(Debug, Clone)]
pub(crate) struct OriginalPath(pub(crate) uri::PathAndQuery);

const SESSION_ID: HeaderName = HeaderName::from_static("mcp-session-id");
/// Marks a request forwarded by another replica: it is not forwarded again.
const FORWARDED: HeaderName = HeaderName::from_static("plumb-forwarded");

/// How long another replica may take to accept a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(2);
/// Idle time after which a connection is closed; the other replica waits longer.
const IDLE: Duration = Duration::from_secs(4);
const MAX_IDLE: usize = 256;

impl<S> Forwarding<S> {
    /// Serves the sessions of `replica` with `service`, and forwards those of others.
    pub(crate) fn new(service: S, replica: Arc<Replica>) -> Forwarding<S> {
        Forwarding { service, replica }
    }
}

impl<S, A, B> Service<Request<A>> for Forwarding<S>
where
    S: Service<Request<A>, Response = Response<B>, Error = Infallible>,
    S::Future: Send + 'static,
    A: Body<Data = Bytes> + Send + 'static,
    A::Error: Into<BoxError>,
    B: Body<Data = Bytes> + Send + 'static,
    B::Error: Into<BoxError>,
{
    type Response = Response<ProxyBody>;
    type Error = Infallible;
    type Future = BoxFuture<'static, Result<Response<ProxyBody>, Infallible>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        self.service.poll_ready(context)
    }

    fn call(&mut self, mut request: Request<A>) -> Self::Future {
        let replica = Arc::clone(&self.replica);
        let Some(id) = request.headers().get(SESSION_ID).cloned() else {
            let answered = self.service.call(request);
            return Box::pin(async move {
                let mut response = answered.await?.map(boxed);
                replica.seal_id(&mut response);
                Ok(response)
            });
        };
        match replica.seal.open(id.as_bytes()) {
            Some(place) if place.replica == replica.address => {
                let Ok(known) = HeaderValue::from_str(&place.session) else {
                    return Box::pin(std::future::ready(Ok(unknown_session())));
                };
                request.headers_mut().insert(SESSION_ID, known);
                let answered = self.service.call(request);
                Box::pin(async move {
                    let mut response = answered.await?.map(boxed);
                    if response.headers().contains_key(SESSION_ID) {
                        response.headers_mut().insert(SESSION_ID, id);
                    }
                    Ok(response)
                })
            }
            Some(place) if !request.headers().contains_key(FORWARDED) => {
                let request = request.map(boxed);
                Box::pin(async move { Ok(replica.forward(request, &place).await) })
            }
            _ => Box::pin(std::future::ready(Ok(unknown_session()))),
        }
    }
}

impl Replica {
    /// The replica that others reach at `address`, a host and a port. All replicas have the same
    /// key, and require the same token.
    pub fn new(address: impl Into<String>, seal: SessionSeal, token: Option<&str>) -> Replica {
        let mut tcp = HttpConnector::new();
        tcp.set_nodelay(true);
        tcp.set_connect_timeout(Some(CONNECT_TIMEOUT));
        let client = Client::builder(TokioExecutor::new())
            .pool_timer(TokioTimer::new())
            .pool_idle_timeout(IDLE)
            .pool_max_idle_per_host(MAX_IDLE)
            .build(tcp);
        let token = token.and_then(|token| {
            let mut value = HeaderValue::try_from(format!("Bearer {token}")).ok()?;
            value.set_sensitive(true);
            Some(value)
        });
        Replica { address: address.into(), seal, token, client }
    }

    /// Seals the id of a session that was opened here.
    fn seal_id(&self, response: &mut Response<ProxyBody>) {
        let Some(id) = response.headers().get(SESSION_ID).and_then(|id| id.to_str().ok()) else {
            return;
        };
        let place = SessionLocation { replica: self.address.clone(), session: id.to_owned() };
        let sealed = self.seal.seal(&place).and_then(|id| HeaderValue::try_from(id).ok());
        match sealed {
            Some(sealed) => drop(response.headers_mut().insert(SESSION_ID, sealed)),
            None => {
                *response =
                    failed(StatusCode::SERVICE_UNAVAILABLE, "could not generate random bytes");
            }
        }
    }

    /// Forwards a request to the replica where its session lives.
    async fn forward(
        &self,
        mut request: Request<ProxyBody>,
        place: &SessionLocation,
    ) -> Response<ProxyBody> {
        let original = request.extensions().get::<OriginalPath>();
        let path = original.map(|path| &path.0).or(request.uri().path_and_query());
        let Some(uri) = address(&place.replica, path) else { return unknown_session() };
        *request.uri_mut() = uri;
        *request.version_mut() = http::Version::HTTP_11;
        remove_hop_by_hop(request.headers_mut());
        request.headers_mut().insert(FORWARDED, HeaderValue::from_static("1"));
        if let Some(token) = &self.token {
            request.headers_mut().insert(AUTHORIZATION, token.clone());
        }
        // `Host` is kept, since the other replica checks it.
        request.headers_mut().entry(HOST).or_insert(HeaderValue::from_static("localhost"));
        match self.client.request(request).await {
            Ok(mut response) => {
                remove_hop_by_hop(response.headers_mut());
                response.map(boxed)
            }
            Err(error) if error.is_connect() => unknown_session(),
            Err(error) => {
                tracing::warn!(%error, "another replica did not answer");
                if is_gone(&place.replica).await {
                    unknown_session()
                } else {
                    let message = "the connection to the replica of the session broke";
                    failed(StatusCode::BAD_GATEWAY, message)
                }
            }
        }
    }
}

/// Whether a replica no longer accepts connections.
async fn is_gone(replica: &str) -> bool {
    !matches!(tokio::time::timeout(CONNECT_TIMEOUT, TcpStream::connect(replica)).await, Ok(Ok(_)))
}

/// The same resource at another replica.
fn address(replica: &str, path: Option<&uri::PathAndQuery>) -> Option<Uri> {
    let mut parts = uri::Parts::default();
    parts.scheme = Some(uri::Scheme::HTTP);
    parts.authority = Some(replica.parse().ok()?);
    parts.path_and_query = path.cloned().or(Some(uri::PathAndQuery::from_static("/")));
    Uri::from_parts(parts).ok()
}

fn unknown_session() -> Response<ProxyBody> {
    let message = "unknown session; open another with `initialize`";
    let answer = Answer::error(StatusCode::NOT_FOUND, ErrorCode::InvalidRequest, message);
    answer.into_response()
}

fn failed(status: StatusCode, message: &str) -> Response<ProxyBody> {
    Answer::error(status, ErrorCode::InternalError, message).into_response()
}
