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
    connections::{Answering, Connections, Unanswered},
    exchange::ServerShown,
};
use crate::{Access, Address, UpstreamError, shutdown::STOPPED};

/// Why a server did not answer.
#[derive(Debug)]
pub(crate) enum Failure {
    /// It cannot be reached.
    Unreachable(String),
    /// It did not answer in time.
    TimedOut(Duration),
    /// The connection broke before the answer.
    Broken(String),
    /// The client did not finish its request.
    Unfinished,
    /// The proxy was told to stop before.
    Stopped,
    /// The proxy holds too much already to hold its answer.
    CrowdedOut,
    /// Its answer cannot be judged.
    Unjudged(&'static str),
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Unreachable(reason) => write!(f, "the server cannot be reached: {reason}"),
            Failure::TimedOut(limit) => {
                write!(f, "the server has not answered within {} s", limit.as_secs())
            }
            Failure::Broken(reason) => write!(f, "the server broke off: {reason}"),
            Failure::Unfinished => f.write_str(UNFINISHED),
            Failure::Stopped => f.write_str(STOPPED),
            Failure::CrowdedOut => f.write_str(CROWDED_OUT),
            Failure::Unjudged(reason) => f.write_str(reason),
        }
    }
}

/// Said to whoever is refused because too much is held already.
pub(crate) const CROWDED_OUT: &str =
    "the proxy is holding too many messages for others at the moment; try again";

/// Said to whoever has not sent all of a request.
pub(super) const UNFINISHED: &str = "the body has broken off";

/// A server that requests are passed on to.
#[derive(Debug, Clone)]
pub struct Upstream {
    scheme: Scheme,
    authority: Authority,
    host: HeaderValue,
    /// What `/` stands for.
    path: PathAndQuery,
    /// Sent with every request, in the place of what clients send.
    headers: HeaderMap,
    connections: Connections,
}

const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
const KEEPALIVE: Duration = Duration::from_secs(30);
const KEEPALIVE_INTERVAL: Duration = Duration::from_secs(10);
const KEEPALIVE_RETRIES: u32 = 3;

impl Upstream {
    /// The server at `url`, which is `http`, `https`, `ws` or `wss`. Nothing is connected yet.
    ///
    /// # Errors
    ///
    /// If it is not a usable URL, or there is no way to reach it.
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

    /// The same server, with connections of its own.
    pub(crate) fn apart(&self) -> Upstream {
        Upstream { connections: self.connections.apart(), ..self.clone() }
    }

    /// What recordings name instead of the proxy.
    pub(super) fn shown(&self) -> ServerShown {
        ServerShown { scheme: self.scheme.clone(), host: self.host.clone() }
    }

    /// Addresses a request to the server, in our version of HTTP. Paths are kept; `/` stands for the
    /// path of the URL.
    pub(crate) fn address<B>(&self, request: &mut Request<B>) {
        *request.uri_mut() = match request.uri().path_and_query() {
            _ if request.method() == Method::CONNECT => self.authority.clone().into(),
            Some(path) if path.as_str() != "/" => path.clone().into(),
            _ => self.path.clone().into(),
        };
        *request.version_mut() = Version::HTTP_11;
        // In its place, so that the order stays.
        request.headers_mut().insert(HOST, self.host.clone());
        for (name, value) in &self.headers {
            request.headers_mut().insert(name, value.clone());
        }
    }

    /// Sends a request, and waits for the head of the response.
    pub(crate) async fn send(
        &self,
        request: Request<ProxyBody>,
        limit: Duration,
    ) -> Result<Response<Answering>, Failure> {
        within(limit, self.connections.send(request)).await
    }

    /// The same for a request that asks for another protocol.
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
    answer: impl Future<Output = Result<T, Unanswered>>,
) -> Result<T, Failure> {
    let answered = tokio::time::timeout(limit, answer).await;
    answered.map_err(|_| Failure::TimedOut(limit))?.map_err(|error| match error {
        Unanswered::Unreachable(error) => Failure::Unreachable(innermost(&*error)),
        // All that we give to a connection ourselves is the body of the client.
        Unanswered::Broken(error) if error.is_user() => Failure::Unfinished,
        Unanswered::Broken(error) => Failure::Broken(innermost(&error)),
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
    // A machine that has vanished says nothing: whoever waits for it must not wait for ever.
    tcp.set_keepalive(Some(KEEPALIVE));
    tcp.set_keepalive_interval(Some(KEEPALIVE_INTERVAL));
    tcp.set_keepalive_retries(Some(KEEPALIVE_RETRIES));
    let config = access.tls(secure)?;
    let builder = hyper_rustls::HttpsConnectorBuilder::new().with_tls_config((*config).clone());
    Ok(builder.https_or_http().enable_http1().wrap_connector(tcp))
}

/// The cause that says most.
fn innermost(error: &dyn Error) -> String {
    let mut cause = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    cause.to_string()
}
