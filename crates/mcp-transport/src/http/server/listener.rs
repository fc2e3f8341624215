use std::{convert::Infallible, future::poll_fn, net::IpAddr, pin::pin, sync::Arc, time::Duration};

use bytes::Bytes;
use http::{Request, Response};
use http_body::Body;
use http_body_util::BodyExt as _;
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::TokioIo;
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::{TcpListener, TcpStream},
    runtime::Handle,
    sync::{OwnedSemaphorePermit, Semaphore},
    task::JoinSet,
};
use tokio_util::sync::CancellationToken;
use tower_service::Service;

use super::{
    RemoteAddress,
    connection::WriteTimeout,
    connections::{Activity, Connections, OpenConnection},
};
use crate::listening::{AcceptBackoff, is_exhausted};

/// The limits of a listener on its connections.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ServeSettings {
    /// Maximum number of concurrent connections. Beyond it, or when the process cannot open more
    /// files, connections without a request are closed, those idle for longest first; if there are
    /// none, new ones wait. Default: 10,000.
    pub max_connections: usize,
    /// Maximum number of headers per request. Default: 100.
    pub max_headers: usize,
    /// Maximum size of a request's head in bytes. Default: 64 KiB.
    pub max_head: usize,
    /// Time for the head of a request to arrive, from its first byte, and for a TLS handshake. It is
    /// enforced with a delay of up to a quarter. Default: 30 s.
    pub head_timeout: Duration,
    /// How long a connection may be idle. Should be longer than clients keep connections for reuse.
    /// Enforced with a delay of up to a quarter. Default: 2 min.
    pub idle_timeout: Duration,
    /// A client that reads nothing for this long loses its connection. Default: 60 s.
    pub write_timeout: Duration,
    /// Time for requests to finish after the server was told to stop. Default: 10 s.
    pub grace: Duration,
    /// Whether to preserve the case of header names, for services that forward requests. Default:
    /// no.
    pub keep_header_case: bool,
}

impl Default for ServeSettings {
    fn default() -> Self {
        ServeSettings {
            max_connections: 10_000,
            max_headers: DEFAULT_HEADERS,
            max_head: 64 << 10,
            head_timeout: Duration::from_secs(30),
            idle_timeout: Duration::from_secs(120),
            write_timeout: Duration::from_secs(60),
            grace: Duration::from_secs(10),
            keep_header_case: false,
        }
    }
}

/// The default of hyper.
const DEFAULT_HEADERS: usize = 100;

/// A service that can be served: any `tower` service for HTTP requests that never fails.
pub trait Servable:
    Service<
        Request<Incoming>,
        Response = Response<<Self as Servable>::Body>,
        Error = Infallible,
        Future: Send + 'static,
    > + Clone
    + Send
    + 'static
{
    /// The body of its responses.
    type Body: Body<Data = Bytes, Error: Into<Box<dyn std::error::Error + Send + Sync>>>
        + Send
        + 'static;
}

impl<S, B> Servable for S
where
    S: Service<Request<Incoming>, Response = Response<B>, Error = Infallible>
        + Clone
        + Send
        + 'static,
    S::Future: Send + 'static,
    B: Body<Data = Bytes, Error: Into<Box<dyn std::error::Error + Send + Sync>>> + Send + 'static,
{
    type Body = B;
}

/// Serves connections until `shutdown` completes; then lets running requests finish.
///
/// A connection that a service upgrades, to WebSocket for example, no longer counts towards the
/// limits: the service is responsible for it.
///
/// The service may be an [`HttpService`](super::HttpService) or a router around it. Notification
/// streams last until [`ServeSettings::grace`] is over unless the service is drained:
///
/// ```no_run
/// # use mcp_transport::http::server::{HttpService, ServeSettings, serve};
/// # async fn example(listener: tokio::net::TcpListener, service: HttpService, stop: impl Future<Output = ()>) {
/// let stop = service.clone().drain_after(stop);
/// serve(listener, service.clone(), ServeSettings::default(), stop).await;
/// service.close();
/// # }
/// ```
pub async fn serve<S: Servable>(
    listener: TcpListener,
    service: S,
    settings: ServeSettings,
    shutdown: impl Future<Output = ()>,
) {
    serve_on(listener, vec![Worker::here(service)], settings, shutdown).await;
}

/// Like [`serve`], with the connections divided among workers.
pub async fn serve_on<S: Servable>(
    listener: TcpListener,
    workers: Vec<Worker<S>>,
    settings: ServeSettings,
    shutdown: impl Future<Output = ()>,
) {
    let welcome = |client: Client, service, settings: Arc<ServeSettings>, stop| async move {
        let Client { stream, address, open } = client;
        serve_connection(stream, service, &settings, (address, &open.activity), stop).await;
    };
    accept_all(listener, workers, settings, shutdown, welcome).await;
}

/// Serves some of the connections of a listener.
#[derive(Debug, Clone)]
pub struct Worker<S> {
    /// The runtime it works on; `None` for the current one.
    runtime: Option<Handle>,
    service: S,
}

impl<S> Worker<S> {
    /// A worker on the runtime that accepts connections.
    pub fn here(service: S) -> Worker<S> {
        Worker { runtime: None, service }
    }

    /// A worker on another runtime, which must outlive the listener. On a single-threaded runtime, a
    /// connection never changes threads.
    pub fn on(runtime: Handle, service: S) -> Worker<S> {
        Worker { runtime: Some(runtime), service }
    }
}

/// Like [`serve`], over TLS.
#[cfg(feature = "tls")]
pub async fn serve_tls<S: Servable>(
    listener: TcpListener,
    tls: Arc<rustls::ServerConfig>,
    service: S,
    settings: ServeSettings,
    shutdown: impl Future<Output = ()>,
) {
    serve_tls_on(listener, tls, vec![Worker::here(service)], settings, shutdown).await;
}

/// Like [`serve_on`], over TLS.
#[cfg(feature = "tls")]
pub async fn serve_tls_on<S: Servable>(
    listener: TcpListener,
    tls: Arc<rustls::ServerConfig>,
    workers: Vec<Worker<S>>,
    settings: ServeSettings,
    shutdown: impl Future<Output = ()>,
) {
    let acceptor = tokio_rustls::TlsAcceptor::from(tls);
    let welcome = move |client: Client, service, settings: Arc<ServeSettings>, stop| {
        let Client { stream, address, open } = client;
        let handshake = acceptor.accept(stream);
        async move {
            let handshake = tokio::time::timeout(settings.head_timeout, handshake);
            let outcome = tokio::select! {
                outcome = handshake => outcome,
                () = open.activity.asked_to_close() => return,
            };
            match outcome {
                Ok(Ok(stream)) => {
                    let origin = (address, &open.activity);
                    serve_connection(stream, service, &settings, origin, stop).await;
                }
                Ok(Err(error)) => tracing::debug!(%error, "a TLS handshake failed"),
                Err(_) => tracing::debug!("a TLS handshake took too long"),
            }
        }
    };
    accept_all(listener, workers, settings, shutdown, welcome).await;
}

async fn accept_all<S, F, W>(
    listener: TcpListener,
    workers: Vec<Worker<S>>,
    settings: ServeSettings,
    shutdown: impl Future<Output = ()>,
    welcome: W,
) where
    S: Servable,
    F: Future<Output = ()> + Send + 'static,
    W: Fn(Client, S, Arc<ServeSettings>, CancellationToken) -> F + Clone + Send + 'static,
{
    let mut next = workers.iter().cycle();
    let settings = Arc::new(settings);
    let room = Arc::new(Semaphore::new(settings.max_connections.clamp(1, Semaphore::MAX_PERMITS)));
    let open = Arc::new(Connections::default());
    let stop = CancellationToken::new();
    let mut connections = JoinSet::new();
    let mut shutdown = pin!(shutdown);
    loop {
        let accepted = async {
            let permit = find_room(&room, &open).await;
            (accept(&listener, &open).await, permit)
        };
        tokio::select! {
            biased;
            () = &mut shutdown => break,
            Some(_) = connections.join_next() => {}
            ((stream, address), permit) = accepted => {
                let Some(worker) = next.next() else { continue };
                let (open, service) = (open.add(), worker.service.clone());
                let (welcome, settings, stop) = (welcome.clone(), settings.clone(), stop.clone());
                let Some(runtime) = &worker.runtime else {
                    let served = welcome(Client { stream, address, open }, service, settings, stop);
                    connections.spawn(async move {
                        served.await;
                        drop(permit);
                    });
                    continue;
                };
                // A stream belongs to a runtime.
                let Ok(stream) = stream.into_std() else { continue };
                connections.spawn_on(
                    async move {
                        if let Ok(stream) = TcpStream::from_std(stream) {
                            welcome(Client { stream, address, open }, service, settings, stop).await;
                        }
                        drop(permit);
                    },
                    runtime,
                );
            }
        }
    }
    drop(listener);
    stop.cancel();
    let finished = async { while connections.join_next().await.is_some() {} };
    if tokio::time::timeout(settings.grace, finished).await.is_err() {
        tracing::debug!(connections = connections.len(), "some requests did not finish in time");
    }
    connections.shutdown().await;
}

/// An accepted connection.
struct Client {
    stream: TcpStream,
    address: IpAddr,
    open: OpenConnection,
}

/// Waits until another connection is allowed, closing idle ones if necessary.
async fn find_room(room: &Arc<Semaphore>, open: &Connections) -> OwnedSemaphorePermit {
    loop {
        if room.available_permits() == 0 {
            open.close_idle();
        }
        let permit = tokio::time::timeout(PAUSE, room.clone().acquire_owned());
        if let Ok(permit) = permit.await {
            return permit.expect("nobody closes it");
        }
    }
}

/// How long to wait before looking for idle connections again.
const PAUSE: Duration = Duration::from_millis(50);

async fn accept(listener: &TcpListener, open: &Connections) -> (TcpStream, IpAddr) {
    let mut backoff = AcceptBackoff::default();
    loop {
        match listener.accept().await {
            Ok((stream, address)) => {
                // Small messages must not be delayed.
                let _ = stream.set_nodelay(true);
                return (stream, address.ip());
            }
            Err(error) => {
                if is_exhausted(&error) {
                    open.close_idle();
                }
                backoff.pause(&error).await;
            }
        }
    }
}

async fn serve_connection<IO, S: Servable>(
    io: IO,
    service: S,
    settings: &ServeSettings,
    (address, activity): (IpAddr, &Arc<Activity>),
    stop: CancellationToken,
) where
    IO: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let service = service_fn(move |mut request: Request<Incoming>| {
        let answering = activity.begin_request();
        let mut service = service.clone();
        request.extensions_mut().insert(RemoteAddress(address));
        async move {
            let Ok(()) = poll_fn(|context| service.poll_ready(context)).await;
            let Ok(response) = service.call(request).await;
            // The guard lives as long as the body.
            Ok::<_, Infallible>(response.map(|body| {
                body.map_err(move |error| {
                    let _ = &answering;
                    error
                })
            }))
        }
    });
    let io = TokioIo::new(WriteTimeout::new(io, settings.write_timeout, Arc::clone(activity)));
    let mut builder = http1::Builder::new();
    // Hyper would set a timer for each request.
    builder
        .header_read_timeout(None)
        .preserve_header_case(settings.keep_header_case)
        .max_header_size(settings.max_head);
    // Setting it makes every request a little slower, even if it changes nothing.
    if settings.max_headers != DEFAULT_HEADERS {
        builder.max_headers(settings.max_headers);
    }
    let mut connection = pin!(builder.serve_connection(io, service).with_upgrades());
    let served = async {
        tokio::select! {
            biased;
            outcome = &mut connection => return outcome,
            () = stop.cancelled() => {}
        }
        connection.as_mut().graceful_shutdown();
        connection.await
    };
    tokio::select! {
        biased;
        outcome = served => if let Err(error) = outcome {
            tracing::debug!(%error, "a connection ended with an error");
        },
        () = activity.asked_to_close() => tracing::debug!("an idle connection was closed to make room for another"),
        () = activity.overdue(settings.head_timeout, settings.idle_timeout) => {
            tracing::debug!("a connection was idle, or the head of a request took too long");
        }
    }
}
