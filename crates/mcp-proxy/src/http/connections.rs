//! Connections to one server. A connection is driven by the task of the request, then by the reader
//! of the response. So no task has to wake another, and data that arrives together is forwarded
//! together.

use std::{
    error::Error,
    fmt,
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
    task::{Context, Poll, Waker, ready},
    time::Duration,
};

use bytes::Bytes;
use http::{Request, Response, Uri};
use http_body::{Body, Frame, SizeHint};
use hyper::{
    body::Incoming,
    client::conn::http1::{self, SendRequest},
};
use hyper_rustls::{HttpsConnector, MaybeHttpsStream};
use hyper_util::{client::legacy::connect::HttpConnector, rt::TokioIo};
use tokio::{net::TcpStream, time::Instant};
use tower_service::Service as _;

use super::body::ProxyBody;

/// Idle time after which a connection is closed; most servers wait longer.
const IDLE: Duration = Duration::from_secs(4);
const MAX_IDLE: usize = 256;
const MAX_HEAD: usize = 64 << 10;

type Stream = MaybeHttpsStream<TokioIo<TcpStream>>;

/// Why a request got no response.
#[derive(Debug)]
pub(super) enum SendError {
    /// The server could not be connected to.
    Unreachable(Box<dyn Error + Send + Sync>),
    /// The connection broke.
    Broken(hyper::Error),
}

/// The connections to a server. Clones share them.
#[derive(Clone)]
pub(super) struct Connections {
    server: Uri,
    connector: HttpsConnector<HttpConnector>,
    idle: Arc<Mutex<Idle>>,
}

/// Idle connections, the most recently used last.
#[derive(Default)]
struct Idle {
    list: Vec<(Instant, Box<Connection>)>,
    /// Whether a task is running that closes those idle for too long.
    is_swept: bool,
}

impl fmt::Debug for Connections {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connections").field("server", &self.server).finish_non_exhaustive()
    }
}

impl Connections {
    /// An empty pool. Only scheme and authority of `server` matter.
    pub(super) fn to(server: Uri, connector: HttpsConnector<HttpConnector>) -> Connections {
        Connections { server, connector, idle: Arc::default() }
    }

    /// An empty pool for the same server.
    pub(super) fn with_own_connections(&self) -> Connections {
        Connections::to(self.server.clone(), self.connector.clone())
    }

    /// Sends a request, and waits for the response head.
    pub(super) async fn send(
        &self,
        mut request: Request<ProxyBody>,
    ) -> Result<Response<ResponseBody>, SendError> {
        while let Some(connection) = self.take_idle() {
            match self.send_on(connection, request).await {
                Ok(response) => return Ok(response),
                // The server has closed the connection while it was idle.
                Err((_, Some(unsent))) => request = unsent,
                Err((error, None)) => return Err(SendError::Broken(error)),
            }
        }
        // Boxed, since few requests open a connection, and all others should not pay for its size.
        let connection = Box::pin(self.connect()).await?;
        self.send_on(connection, request).await.map_err(|(error, _)| SendError::Broken(error))
    }

    /// Sends an upgrade request on its own connection, which a task drives until the upgraded
    /// protocol takes over.
    pub(super) async fn send_upgrade(
        &self,
        request: Request<ProxyBody>,
    ) -> Result<Response<Incoming>, SendError> {
        let Connection { mut sender, connection } = *self.connect().await?;
        tokio::spawn(connection.with_upgrades());
        sender.send_request(request).await.map_err(SendError::Broken)
    }

    async fn connect(&self) -> Result<Box<Connection>, SendError> {
        let mut connector = self.connector.clone();
        let stream = connector.call(self.server.clone()).await.map_err(SendError::Unreachable)?;
        let mut builder = http1::Builder::new();
        builder.preserve_header_case(true).max_buf_size(MAX_HEAD);
        let (sender, connection) = builder.handshake(stream).await.map_err(SendError::Broken)?;
        Ok(Box::new(Connection { sender, connection }))
    }

    /// Returns the request with the error if none of it was sent.
    async fn send_on(
        &self,
        mut connection: Box<Connection>,
        request: Request<ProxyBody>,
    ) -> Result<Response<ResponseBody>, (hyper::Error, Option<Request<ProxyBody>>)> {
        let mut answer = std::pin::pin!(connection.sender.try_send_request(request));
        let mut connection = Some(connection);
        let answer = std::future::poll_fn(|context| {
            // Drop a closed connection: only then does it return a request that it has not taken.
            if let Some(driven) = &mut connection
                && Pin::new(&mut driven.connection).poll(context).is_ready()
            {
                connection = None;
            }
            answer.as_mut().poll(context)
        });
        let response = answer.await.map_err(|mut error| {
            let unsent = error.take_message();
            (error.into_error(), unsent)
        })?;
        let idle = Arc::downgrade(&self.idle);
        Ok(response.map(|body| ResponseBody { body, connection, failure: None, idle }))
    }

    fn take_idle(&self) -> Option<Box<Connection>> {
        let (since, connection) = lock(&self.idle).list.pop()?;
        // All others have been idle for longer, and are left to the sweeping task.
        (since.elapsed() < IDLE).then_some(connection)
    }
}

fn lock(idle: &Mutex<Idle>) -> MutexGuard<'_, Idle> {
    idle.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Closes connections that are idle for too long, until none are left.
async fn sweep(idle: Weak<Mutex<Idle>>) {
    loop {
        tokio::time::sleep(IDLE / 4).await;
        let Some(idle) = idle.upgrade() else { return };
        let mut idle = lock(&idle);
        idle.list.retain(|(since, _)| since.elapsed() < IDLE);
        if idle.list.is_empty() {
            idle.is_swept = false;
            return;
        }
    }
}

/// Always boxed: with TLS it takes several kilobytes, and it is moved several times per request.
struct Connection {
    sender: SendRequest<ProxyBody>,
    connection: http1::Connection<Stream, ProxyBody>,
}

impl Connection {
    /// Makes it available for the next request once this one is sent.
    fn release(mut self: Box<Self>, idle: Weak<Mutex<Idle>>) {
        let mut context = Context::from_waker(Waker::noop());
        if !self.sender.is_ready() && Pin::new(&mut self.connection).poll(&mut context).is_ready() {
            return;
        }
        if self.sender.is_ready() {
            return self.rest(&idle);
        }
        // The server answered before it had received the whole request. It may still read the rest.
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(async move {
                let Connection { sender, connection } = &mut *self;
                let is_ready = std::future::poll_fn(|context| {
                    if Pin::new(&mut *connection).poll(context).is_ready() {
                        return Poll::Ready(false);
                    }
                    sender.poll_ready(context).map(|ready| ready.is_ok())
                });
                if is_ready.await {
                    self.rest(&idle);
                }
            });
        }
    }

    fn rest(self: Box<Self>, idle: &Weak<Mutex<Idle>>) {
        let Some(shared) = idle.upgrade() else { return };
        let mut shared = lock(&shared);
        if shared.list.len() >= MAX_IDLE {
            return;
        }
        if !shared.is_swept {
            let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
            shared.is_swept = true;
            runtime.spawn(sweep(Weak::clone(idle)));
        }
        shared.list.push((Instant::now(), self));
    }
}

/// The body of a response. Reading it drives its connection.
pub(crate) struct ResponseBody {
    body: Incoming,
    /// `None` once the body is complete or the connection closed.
    connection: Option<Box<Connection>>,
    /// The error to return at the next poll.
    failure: Option<hyper::Error>,
    idle: Weak<Mutex<Idle>>,
}

impl fmt::Debug for ResponseBody {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ResponseBody").field("body", &self.body).finish_non_exhaustive()
    }
}

impl ResponseBody {
    fn release(&mut self) {
        if let Some(connection) = self.connection.take() {
            connection.release(Weak::clone(&self.idle));
        }
    }
}

impl Body for ResponseBody {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let this = self.get_mut();
        if let Some(error) = this.failure.take() {
            return Poll::Ready(Some(Err(error)));
        }
        if let Some(driven) = &mut this.connection
            && Pin::new(&mut driven.connection).poll(context).is_ready()
        {
            this.connection = None;
        }
        let frame = ready!(Pin::new(&mut this.body).poll_frame(context));
        if let Some(Err(error)) = frame {
            // Deliver received data first: an error ends the connection to the client at once.
            this.failure = Some(error);
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        if frame.is_none() || this.body.is_end_stream() {
            this.release();
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl Drop for ResponseBody {
    fn drop(&mut self) {
        // An empty body is never polled. If a body is not read to its end, the connection is
        // dropped.
        if self.body.is_end_stream() {
            self.release();
        }
    }
}
