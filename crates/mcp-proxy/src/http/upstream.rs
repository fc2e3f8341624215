use std::{error::Error, fmt, io, time::Duration};

use http::{
    Request, Response, Uri,
    header::{HOST, HeaderValue},
    uri::{Authority, PathAndQuery, Scheme},
};
use hyper::body::Incoming;
use hyper_rustls::HttpsConnector;
use hyper_util::{
    client::legacy::{Client, connect::HttpConnector},
    rt::{TokioExecutor, TokioTimer},
};

use super::body::ProxyBody;

/// Why an upstream URL cannot be used.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
#[non_exhaustive]
pub enum UpstreamError {
    #[error("`{0}` is not a URL such as http://127.0.0.1:3000/mcp")]
    NotAUrl(String),
    #[error("`{0}` is not an http or https URL")]
    Scheme(String),
    #[error("`{0}` holds credentials; send them in a header instead")]
    Credentials(String),
    #[error("no certificates to check servers by")]
    Certificates(#[source] io::Error),
}

/// Why a server did not answer.
#[derive(Debug)]
pub(super) enum Failure {
    /// It cannot be reached.
    Unreachable(String),
    /// It did not answer in time.
    TimedOut(Duration),
    /// The connection broke before the answer.
    Broken(String),
    /// The proxy was told to stop before.
    Stopped,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Unreachable(reason) => write!(f, "the server cannot be reached: {reason}"),
            Failure::TimedOut(limit) => {
                write!(f, "the server has not answered within {} s", limit.as_secs())
            }
            Failure::Broken(reason) => write!(f, "the server broke off: {reason}"),
            Failure::Stopped => {
                f.write_str("the proxy was told to stop before the server has answered")
            }
        }
    }
}

/// A server that requests are passed on to.
#[derive(Debug, Clone)]
pub struct Upstream {
    scheme: Scheme,
    authority: Authority,
    host: HeaderValue,
    /// What `/` stands for.
    path: PathAndQuery,
    client: Client<HttpsConnector<HttpConnector>, ProxyBody>,
}

const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// Idle connections are closed before most servers would close them.
const IDLE: Duration = Duration::from_secs(4);
const MAX_IDLE: usize = 256;
const MAX_HEAD: usize = 64 << 10;

impl Upstream {
    /// The server at `url`. Nothing is connected yet.
    ///
    /// # Errors
    ///
    /// If it is not a usable URL.
    pub fn new(url: &str) -> Result<Upstream, UpstreamError> {
        let uri: Uri = url.parse().map_err(|_| UpstreamError::NotAUrl(url.into()))?;
        let parts = uri.into_parts();
        let (Some(scheme), Some(authority)) = (parts.scheme, parts.authority) else {
            return Err(UpstreamError::NotAUrl(url.into()));
        };
        if scheme != Scheme::HTTP && scheme != Scheme::HTTPS {
            return Err(UpstreamError::Scheme(url.into()));
        }
        if authority.as_str().contains('@') {
            let shown = format!("{scheme}://…@{}", authority.host());
            return Err(UpstreamError::Credentials(shown));
        }
        let host = HeaderValue::from_str(authority.as_str())
            .map_err(|_| UpstreamError::NotAUrl(url.into()))?;
        let client = Client::builder(TokioExecutor::new())
            .pool_timer(TokioTimer::new())
            .pool_idle_timeout(IDLE)
            .pool_max_idle_per_host(MAX_IDLE)
            .http1_preserve_header_case(true)
            .http1_max_buf_size(MAX_HEAD)
            .build(connector(&scheme)?);
        let path = parts.path_and_query.unwrap_or_else(|| PathAndQuery::from_static("/"));
        Ok(Upstream { scheme, authority, host, path, client })
    }

    /// Addresses a request to the server. Paths are kept; `/` stands for the path of the URL.
    pub(super) fn address<B>(&self, request: &mut Request<B>) {
        let path = match request.uri().path_and_query() {
            Some(path) if path.as_str() != "/" => path.clone(),
            _ => self.path.clone(),
        };
        let mut parts = http::uri::Parts::default();
        parts.scheme = Some(self.scheme.clone());
        parts.authority = Some(self.authority.clone());
        parts.path_and_query = Some(path);
        if let Ok(uri) = Uri::from_parts(parts) {
            *request.uri_mut() = uri;
        }
        // In its place, so that the order stays.
        request.headers_mut().insert(HOST, self.host.clone());
    }

    pub(super) async fn send(
        &self,
        request: Request<ProxyBody>,
        limit: Duration,
    ) -> Result<Response<Incoming>, Failure> {
        let answered = tokio::time::timeout(limit, self.client.request(request)).await;
        answered.map_err(|_| Failure::TimedOut(limit))?.map_err(|error| {
            let reason = innermost(&error);
            if error.is_connect() { Failure::Unreachable(reason) } else { Failure::Broken(reason) }
        })
    }
}

fn connector(scheme: &Scheme) -> Result<HttpsConnector<HttpConnector>, UpstreamError> {
    let mut tcp = HttpConnector::new();
    tcp.set_nodelay(true);
    tcp.enforce_http(false);
    tcp.set_connect_timeout(Some(CONNECT_TIMEOUT));
    let builder = hyper_rustls::HttpsConnectorBuilder::new();
    // Reading the certificates of the system takes a while.
    let builder = if *scheme == Scheme::HTTPS {
        builder.with_native_roots().map_err(UpstreamError::Certificates)?
    } else {
        let roots = rustls::RootCertStore::empty();
        let provider = std::sync::Arc::new(rustls::crypto::ring::default_provider());
        let config = rustls::ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|error| UpstreamError::Certificates(io::Error::other(error)))?
            .with_root_certificates(roots)
            .with_no_client_auth();
        builder.with_tls_config(config)
    };
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
