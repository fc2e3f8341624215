use std::{error::Error, fmt, time::Duration};

use http::{
    HeaderMap, Method, Request, Response, Uri, Version,
    header::{HOST, HeaderValue},
    uri::{Authority, PathAndQuery, Scheme},
};
use hyper::body::Incoming;
use hyper_rustls::HttpsConnector;
use hyper_util::client::legacy::connect::HttpConnector;

use super::{
    body::ProxyBody,
    connections::{Connections, ResponseBody, SendError},
    exchange::ServerShown,
};
use crate::{Access, Address, UpstreamError, shutdown::STOPPED};

/// Why a request got no answer from the server.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The server cannot be reached.
    Unreachable(String),
    /// The server did not answer in time.
    TimedOut(Duration),
    /// The connection broke before the answer.
    Broken(String),
    /// The client did not finish its request.
    Unfinished,
    /// The proxy stopped before.
    Stopped,
    /// There is no memory left for the answer.
    CrowdedOut,
    /// The answer cannot be judged.
    Unjudged(&'static str),
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Unreachable(reason) => write!(f, "the server cannot be reached: {reason}"),
            Failure::TimedOut(limit) => {
                write!(f, "the server did not answer within {} s", limit.as_secs())
            }
            Failure::Broken(reason) => write!(f, "the connection to the server broke: {reason}"),
            Failure::Unfinished => f.write_str(UNFINISHED),
            Failure::Stopped => f.write_str(STOPPED),
            Failure::CrowdedOut => f.write_str(CROWDED_OUT),
            Failure::Unjudged(reason) => f.write_str(reason),
        }
    }
}

/// The error for requests refused for lack of memory.
pub(crate) const CROWDED_OUT: &str =
    "the proxy has no memory left for messages at the moment; try again later";

/// The answer to a client that did not send all of a request.
pub(super) const UNFINISHED: &str = "the body is incomplete";

/// A server that requests are forwarded to.
#[derive(Debug, Clone)]
pub struct Upstream {
    scheme: Scheme,
    authority: Authority,
    host: HeaderValue,
    /// The path that `/` stands for.
    path: PathAndQuery,
    /// Sent with every request, replacing those of clients.
    headers: HeaderMap,
    connections: Connections,
}

const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
const KEEPALIVE: Duration = Duration::from_secs(30);
const KEEPALIVE_INTERVAL: Duration = Duration::from_secs(10);
const KEEPALIVE_RETRIES: u32 = 3;

impl Upstream {
    /// The server at `url` (`http`, `https`, `ws` or `wss`). Does not connect yet.
    ///
    /// # Errors
    ///
    /// If the URL cannot be used, or there are no certificates to trust.
    pub fn new(url: &str, access: &Access) -> Result<Upstream, UpstreamError> {
        let Address { kind: _, secure, authority, path } = Address::parse(url)?;
        let host = HeaderValue::from_str(authority.as_str())
            .map_err(|_| UpstreamError::NotAUrl(url.into()))?;
        let scheme = if secure { Scheme::HTTPS } else { Scheme::HTTP };
        let mut server = http::uri::Parts::default();
        server.scheme = Some(scheme.clone());
        server.authority = Some(authority.clone());
        server.path_and_query = Some(PathAndQuery::from_static("/"));
        let server = Uri::from_parts(server).map_err(|_| UpstreamError::NotAUrl(url.into()))?;
        let connections = Connections::to(server, connector(secure, access)?);
        let headers = access.headers().clone();
        Ok(Upstream { scheme, authority, host, path, headers, connections })
    }

    /// The same server, with its own connections.
    pub(crate) fn with_own_connections(&self) -> Upstream {
        Upstream { connections: self.connections.with_own_connections(), ..self.clone() }
    }

    /// The server, for recordings that name it instead of the proxy.
    pub(super) fn shown(&self) -> ServerShown {
        ServerShown { scheme: self.scheme.clone(), host: self.host.clone() }
    }

    /// Addresses a request to the server, in our version of HTTP. Paths are kept; `/` becomes the
    /// path of the URL.
    pub(crate) fn address<B>(&self, request: &mut Request<B>) {
        *request.uri_mut() = match request.uri().path_and_query() {
            _ if request.method() == Method::CONNECT => self.authority.clone().into(),
            Some(path) if path.as_str() != "/" => path.clone().into(),
            _ => self.path.clone().into(),
        };
        *request.version_mut() = Version::HTTP_11;
        // Insert, so that the order of headers stays.
        request.headers_mut().insert(HOST, self.host.clone());
        for (name, value) in &self.headers {
            request.headers_mut().insert(name, value.clone());
        }
    }

    /// Sends a request, and waits for the response head.
    pub(crate) async fn send(
        &self,
        request: Request<ProxyBody>,
        limit: Duration,
    ) -> Result<Response<ResponseBody>, Failure> {
        within(limit, self.connections.send(request)).await
    }

    /// Sends an upgrade request, and waits for the response head.
    pub(crate) async fn send_upgrade(
        &self,
        request: Request<ProxyBody>,
        limit: Duration,
    ) -> Result<Response<Incoming>, Failure> {
        within(limit, self.connections.send_upgrade(request)).await
    }
}

async fn within<T>(
    limit: Duration,
    answer: impl Future<Output = Result<T, SendError>>,
) -> Result<T, Failure> {
    let answered = tokio::time::timeout(limit, answer).await;
    answered.map_err(|_| Failure::TimedOut(limit))?.map_err(|error| match error {
        SendError::Unreachable(error) => Failure::Unreachable(innermost(&*error)),
        // The only thing we feed into a connection is the body of the client.
        SendError::Broken(error) if error.is_user() => Failure::Unfinished,
        SendError::Broken(error) => Failure::Broken(innermost(&error)),
    })
}

fn connector(
    secure: bool,
    access: &Access,
) -> Result<HttpsConnector<HttpConnector>, UpstreamError> {
    let mut tcp = HttpConnector::new();
    tcp.set_nodelay(true);
    tcp.enforce_http(false);
    tcp.set_connect_timeout(Some(CONNECT_TIMEOUT));
    // Keepalive detects a machine that has vanished, so that callers do not wait forever.
    tcp.set_keepalive(Some(KEEPALIVE));
    tcp.set_keepalive_interval(Some(KEEPALIVE_INTERVAL));
    tcp.set_keepalive_retries(Some(KEEPALIVE_RETRIES));
    let config = access.tls(secure)?;
    let builder = hyper_rustls::HttpsConnectorBuilder::new().with_tls_config((*config).clone());
    Ok(builder.https_or_http().enable_http1().wrap_connector(tcp))
}

/// The innermost cause, which says most.
fn innermost(error: &dyn Error) -> String {
    let mut cause = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    cause.to_string()
}
