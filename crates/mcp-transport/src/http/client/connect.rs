//! A pool of connections to the server.

use std::{
    io,
    task::{Context, Poll},
    time::Duration,
};

use bytes::Bytes;
use futures_util::future::BoxFuture;
use http::Uri;
use http_body_util::Full;
use hyper_util::{
    client::legacy::{Client, connect::HttpConnector},
    rt::{TokioExecutor, TokioTimer},
};
use tower_service::Service;

use super::{HttpSettings, HttpSetupError};

#[cfg(feature = "tls")]
type Plain = hyper_rustls::HttpsConnector<HttpConnector>;
#[cfg(not(feature = "tls"))]
type Plain = HttpConnector;

type BoxError = Box<dyn std::error::Error + Send + Sync>;

pub(super) type Connections = Client<Timed<Plain>, Full<Bytes>>;

/// Idle connections are closed before most servers would close them.
const IDLE: Duration = Duration::from_secs(60);
const MAX_IDLE: usize = 64;
const KEEPALIVE: Duration = Duration::from_secs(30);
const KEEPALIVE_INTERVAL: Duration = Duration::from_secs(10);
const KEEPALIVE_RETRIES: u32 = 3;
/// hyper panics below this.
const MIN_HEAD: usize = 8 << 10;
const MAX_HEADERS: usize = 100;

pub(super) fn connections(
    uri: &Uri,
    settings: &HttpSettings,
) -> Result<Connections, HttpSetupError> {
    let connector = Timed { inner: connector(uri, settings)?, timeout: settings.connect_timeout };
    Ok(Client::builder(TokioExecutor::new())
        .pool_timer(TokioTimer::new())
        .pool_idle_timeout(IDLE)
        .pool_max_idle_per_host(MAX_IDLE)
        .http1_max_buf_size(settings.max_head.max(MIN_HEAD))
        .http1_max_headers(MAX_HEADERS)
        .build(connector))
}

fn tcp() -> HttpConnector {
    let mut connector = HttpConnector::new();
    connector.set_nodelay(true);
    connector.enforce_http(false);
    // A machine that has vanished sends nothing, so without keep-alives a caller could wait forever.
    connector.set_keepalive(Some(KEEPALIVE));
    connector.set_keepalive_interval(Some(KEEPALIVE_INTERVAL));
    connector.set_keepalive_retries(Some(KEEPALIVE_RETRIES));
    connector
}

#[cfg(not(feature = "tls"))]
fn connector(uri: &Uri, _: &HttpSettings) -> Result<Plain, HttpSetupError> {
    match uri.scheme_str() {
        Some("http") => Ok(tcp()),
        _ => Err(HttpSetupError::NoTls),
    }
}

#[cfg(feature = "tls")]
fn connector(uri: &Uri, settings: &HttpSettings) -> Result<Plain, HttpSetupError> {
    let config = match &settings.tls {
        Some(config) => (**config).clone(),
        None => default_tls(uri)?,
    };
    Ok(hyper_rustls::HttpsConnectorBuilder::new()
        .with_tls_config(config)
        .https_or_http()
        .enable_http1()
        .wrap_connector(tcp()))
}

/// The system's certificates; none if TLS is not used, as reading them takes a while.
#[cfg(feature = "tls")]
fn default_tls(uri: &Uri) -> Result<rustls::ClientConfig, HttpSetupError> {
    use hyper_rustls::ConfigBuilderExt as _;

    let setup = |error: &dyn std::fmt::Display| HttpSetupError::Tls(error.to_string());
    let provider = std::sync::Arc::new(rustls::crypto::ring::default_provider());
    let builder = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| setup(&error))?;
    if uri.scheme_str() != Some("https") {
        return Ok(builder
            .with_root_certificates(rustls::RootCertStore::empty())
            .with_no_client_auth());
    }
    Ok(builder.with_native_roots().map_err(|error| setup(&error))?.with_no_client_auth())
}

/// Limits the total time of connecting.
#[derive(Debug, Clone)]
pub(super) struct Timed<C> {
    inner: C,
    timeout: Duration,
}

impl<C> Service<Uri> for Timed<C>
where
    C: Service<Uri>,
    C::Error: Into<BoxError>,
    C::Future: Send + 'static,
{
    type Response = C::Response;
    type Error = BoxError;
    type Future = BoxFuture<'static, Result<C::Response, BoxError>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.inner.poll_ready(context).map_err(Into::into)
    }

    fn call(&mut self, uri: Uri) -> Self::Future {
        let connecting = self.inner.call(uri);
        let timeout = self.timeout;
        Box::pin(async move {
            let Ok(connected) = tokio::time::timeout(timeout, connecting).await else {
                let text = format!("no connection within {} ms", timeout.as_millis());
                return Err(io::Error::new(io::ErrorKind::TimedOut, text).into());
            };
            connected.map_err(Into::into)
        })
    }
}
