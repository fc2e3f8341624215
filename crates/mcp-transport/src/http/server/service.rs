use std::{
    convert::Infallible,
    future::poll_fn,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    task::{Context, Poll},
};

use bytes::Bytes;
use http::{HeaderValue, Method, Request, Response, StatusCode, header, request::Parts};
use http_body::Body;
use mcp_core::{BoxFuture, Era, MemoryBudget, Revision, Revisions};
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;
use tower_service::Service;

use super::{
    Application, HttpFault, HttpSettings, RejectionResponse, RemoteAddress, RequestInfo,
    ResponseBody,
    body::BodyReader,
    cors,
    media::{self, Accepts},
    reply,
    session::{ResponseStart, Session, Sessions},
    stateless,
    watching::Watching,
};
use crate::{
    allowed::{SourceNotAllowed, check_source},
    http::{
        arrived::Arrived,
        headers::{LAST_EVENT_ID, PROTOCOL_VERSION, SESSION_ID},
    },
};

/// Answers HTTP requests to one MCP endpoint. Clones share everything.
///
/// It ignores the path of requests: mount it where the endpoint should be.
#[derive(Debug, Clone)]
pub struct HttpService {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    application: Arc<dyn Application>,
    settings: Arc<HttpSettings>,
    sessions: Arc<Sessions>,
    bodies: BodyReader,
    /// The memory budget for responses and events that clients have not read yet.
    unread: MemoryBudget,
    draining: CancellationToken,
    /// Numbers the exchanges, for the watch.
    exchanges: AtomicU64,
}

const SESSION_METHODS: &str = "GET, POST, DELETE, OPTIONS";
const STATELESS_METHODS: &str = "POST, OPTIONS";

/// Why a request is rejected.
enum Rejection {
    Fault(HttpFault),
    Application(RejectionResponse),
}

impl HttpService {
    /// A service for one application.
    pub fn new(application: Arc<dyn Application>, settings: HttpSettings) -> HttpService {
        settings.hosts.warn_as_hosts();
        settings.origins.warn_as_origins();
        let settings = Arc::new(settings);
        let sessions = Sessions::new(settings.clone());
        let draining = CancellationToken::new();
        let bodies = BodyReader::new(&settings);
        let unread = MemoryBudget::new(settings.max_unread);
        let exchanges = AtomicU64::new(1);
        let inner = Inner { application, settings, sessions, bodies, unread, draining, exchanges };
        HttpService { inner: Arc::new(inner) }
    }

    /// The number of open sessions.
    pub fn sessions(&self) -> usize {
        self.inner.sessions.count()
    }

    /// Ends all notification streams and opens no more sessions. Requests in progress continue.
    pub fn drain(&self) {
        self.inner.draining.cancel();
    }

    /// Waits for `shutdown`, then drains the service: what [`serve`](super::serve) should wait for.
    pub async fn drain_after(self, shutdown: impl Future<Output = ()>) {
        shutdown.await;
        self.drain();
    }

    /// Ends all sessions, whatever they are doing.
    pub fn close(&self) {
        self.drain();
        self.inner.sessions.close_all();
    }
}

impl<B> Service<Request<B>> for HttpService
where
    B: Body<Data = Bytes> + Send + 'static,
{
    type Response = Response<ResponseBody>;
    type Error = Infallible;
    type Future = BoxFuture<'static, Result<Response<ResponseBody>, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let inner = self.inner.clone();
        Box::pin(async move {
            let (parts, body) = request.into_parts();
            let number = inner.exchanges.fetch_add(1, Ordering::Relaxed);
            let mut watching = Watching::new(&*inner.application, number, &parts);
            let answer = inner.answer(&parts, body, &mut watching).await;
            let answer = answer.and_then(|response| Ok(reply::hold(response, &inner.unread)?));
            let mut response = answer.unwrap_or_else(|rejection| inner.reject(rejection));
            cors::share(&inner.settings, &parts.headers, response.headers_mut());
            watching.answered(&mut response);
            Ok(response)
        })
    }
}

impl Inner {
    async fn answer<B>(
        &self,
        parts: &Parts,
        body: B,
        watching: &mut Watching<'_>,
    ) -> Result<Response<ResponseBody>, Rejection>
    where
        B: Body<Data = Bytes> + Send,
    {
        let settings = &*self.settings;
        check_source(&settings.hosts, &settings.origins, &parts.uri, &parts.headers)?;
        match parts.method {
            Method::POST => self.post(parts, body, watching).await,
            Method::GET if self.has_sessions_for(parts) => self.get(parts, watching),
            Method::DELETE if self.has_sessions_for(parts) => self.delete(parts, watching),
            Method::OPTIONS => Ok(self.options(parts)),
            _ => Err(self.method_not_allowed(parts).into()),
        }
    }

    async fn post<B>(
        &self,
        parts: &Parts,
        body: B,
        watching: &mut Watching<'_>,
    ) -> Result<Response<ResponseBody>, Rejection>
    where
        B: Body<Data = Bytes> + Send,
    {
        media::require_json(&parts.headers)?;
        let accepts = Accepts::read(&parts.headers);
        if !accepts.json && !accepts.events {
            return Err(HttpFault::NotAcceptable("application/json and text/event-stream").into());
        }
        let message = self.bodies.read(body, &self.settings).await?;
        if message.trim_ascii().is_empty() {
            return Err(HttpFault::BodyEmpty.into());
        }
        let application = &*self.application;
        let parsed = application.parse(&message);
        watching.has_body(&message, parsed.as_ref());
        let info = application.inspect(parts, &message, parsed.as_ref())?;
        let message = Arrived::new(message, parsed);
        if info.stateless {
            let watch = application.watch_exchange(parts);
            let verdict = watching.show(watch.clone())?;
            let said = (message.judged(verdict.refusals), accepts, info);
            let (settings, draining) = (&self.settings, &self.draining);
            let served = stateless::serve(application, settings, draining, parts, watch, said);
            return Ok(served.await?);
        }
        // A request that opens a session may ask for an unsupported revision: the answer names the
        // supported ones.
        let spoken = if info.opens_session { Revisions::ALL } else { self.settings.revisions };
        require_revision(parts, spoken)?;
        match media::single(&parts.headers, &SESSION_ID)? {
            Some(id) => {
                let session = self.find(parts, id)?;
                let verdict = watching.show(session.watch())?;
                let message = message.judged(verdict.refusals);
                if !info.expects_response {
                    session.tell(message).await?;
                    return Ok(reply::empty(StatusCode::ACCEPTED));
                }
                Ok(match ask(&session, message, accepts, info).await? {
                    ResponseStart::Answer(body, parsed) => {
                        reply::message(StatusCode::OK, body, parsed)
                    }
                    ResponseStart::Events(stream) => reply::events(stream),
                })
            }
            // Nothing would ever answer anything else.
            None if info.opens_session && info.expects_response => {
                self.open_session(parts, message, accepts, info, watching).await
            }
            None => Err(HttpFault::SessionMissing.into()),
        }
    }

    async fn open_session(
        &self,
        parts: &Parts,
        message: Arrived,
        accepts: Accepts,
        info: RequestInfo,
        watching: &mut Watching<'_>,
    ) -> Result<Response<ResponseBody>, Rejection> {
        if self.draining.is_cancelled() {
            return Err(HttpFault::ShuttingDown.into());
        }
        let watch = self.application.watch_session();
        let message = message.judged(watching.show(watch.clone())?.refusals);
        let address = parts.extensions.get::<RemoteAddress>().map(|address| address.0);
        let principal = self.application.principal(parts);
        let session = self.sessions.open(principal, address, watch.clone())?;
        let conversation = self.application.converse(session.clone(), parts, watch);
        self.sessions.host(session.clone(), conversation);
        let mut opening = Opening { sessions: &self.sessions, session: &session, known: false };
        let mut response = match ask(&session, message, accepts, info).await? {
            ResponseStart::Answer(body, parsed) => reply::message(StatusCode::OK, body, parsed),
            ResponseStart::Events(stream) => reply::events(stream),
        };
        if session.is_refused() {
            return Ok(response);
        }
        let id = HeaderValue::from_str(session.id()).expect("hexadecimal digits are visible");
        response.headers_mut().insert(SESSION_ID, id);
        opening.known = true;
        Ok(response)
    }

    fn get(
        &self,
        parts: &Parts,
        watching: &mut Watching<'_>,
    ) -> Result<Response<ResponseBody>, Rejection> {
        if !Accepts::read(&parts.headers).events {
            return Err(HttpFault::NotAcceptable("text/event-stream").into());
        }
        let session = self.session(parts)?;
        watching.show(session.watch())?;
        if self.draining.is_cancelled() {
            return Err(HttpFault::ShuttingDown.into());
        }
        let stream = match media::single(&parts.headers, &LAST_EVENT_ID)? {
            Some(id) => session.resume(id, &self.draining)?,
            None => session.listen(&self.draining)?,
        };
        Ok(reply::events(stream))
    }

    fn delete(
        &self,
        parts: &Parts,
        watching: &mut Watching<'_>,
    ) -> Result<Response<ResponseBody>, Rejection> {
        let session = self.session(parts)?;
        watching.show(session.watch())?;
        self.sessions.close(session.id());
        Ok(reply::empty(StatusCode::NO_CONTENT))
    }

    fn options(&self, parts: &Parts) -> Response<ResponseBody> {
        let methods = self.methods();
        let mut response = reply::empty(StatusCode::NO_CONTENT);
        if self.settings.cors && cors::is_preflight(parts) {
            cors::permit(&parts.headers, methods, response.headers_mut());
        }
        response.headers_mut().insert(header::ALLOW, HeaderValue::from_static(methods));
        response
    }

    fn session(&self, parts: &Parts) -> Result<Arc<Session>, HttpFault> {
        require_revision(parts, self.settings.revisions)?;
        let id = media::single(&parts.headers, &SESSION_ID)?.ok_or(HttpFault::SessionMissing)?;
        self.find(parts, id)
    }

    /// The session that a request names, if it belongs to the sender.
    fn find(&self, parts: &Parts, id: &str) -> Result<Arc<Session>, HttpFault> {
        let principal = self.application.principal(parts);
        let session = self.sessions.find(id, principal.as_deref());
        let session = session.ok_or(HttpFault::SessionUnknown)?;
        session.visited();
        Ok(session)
    }

    /// Whether this client could have a session: the newest revision has none.
    fn has_sessions_for(&self, parts: &Parts) -> bool {
        let stated = parts.headers.get(PROTOCOL_VERSION).and_then(|value| value.to_str().ok());
        let is_modern = stated
            .and_then(|stated| stated.parse::<Revision>().ok())
            .is_some_and(|revision| revision.era() == Era::Modern);
        !is_modern && self.has_sessions()
    }

    fn has_sessions(&self) -> bool {
        Revisions::LEGACY.iter().any(|revision| self.settings.revisions.contains(revision))
    }

    fn methods(&self) -> &'static str {
        if self.has_sessions() { SESSION_METHODS } else { STATELESS_METHODS }
    }

    fn method_not_allowed(&self, parts: &Parts) -> HttpFault {
        // They are allowed, but not for this client.
        let needs_session = matches!(parts.method, Method::GET | Method::DELETE);
        let allowed = if needs_session { STATELESS_METHODS } else { self.methods() };
        HttpFault::MethodNotAllowed { method: parts.method.to_string(), allowed }
    }

    fn reject(&self, rejection: Rejection) -> Response<ResponseBody> {
        let fault = match rejection {
            Rejection::Application(refused) => return reply::json(refused.status, refused.body),
            Rejection::Fault(fault) => fault,
        };
        tracing::debug!(%fault, "a request was rejected");
        let mut response = reply::json(fault.status(), self.application.explain(&fault));
        let told = match fault {
            HttpFault::MethodNotAllowed { allowed, .. } => Some((header::ALLOW, allowed)),
            HttpFault::UnsupportedCoding => Some((header::ACCEPT_ENCODING, "identity")),
            _ => None,
        };
        if let Some((name, value)) = told {
            response.headers_mut().insert(name, HeaderValue::from_static(value));
        }
        response
    }
}

/// Rejects clients that name an unsupported revision. Without the header, the session knows.
fn require_revision(parts: &Parts, spoken: Revisions) -> Result<(), HttpFault> {
    let Some(stated) = media::single(&parts.headers, &PROTOCOL_VERSION)? else { return Ok(()) };
    match stated.parse::<Revision>() {
        Ok(revision) if spoken.contains(revision) => Ok(()),
        _ => Err(HttpFault::UnsupportedRevision(stated.to_owned())),
    }
}

/// Passes a request to its session and waits for the start of the response.
async fn ask(
    session: &Session,
    message: Arrived,
    accepts: Accepts,
    info: RequestInfo,
) -> Result<ResponseStart, HttpFault> {
    let start = session.ask(message, accepts, info.revision).await?;
    let mut waiting = Waiting { session, start };
    let start = poll_fn(|context| Pin::new(&mut waiting.start).poll(context)).await;
    start.map_err(|_| {
        if session.has_ended() { HttpFault::SessionUnknown } else { HttpFault::Unanswered }
    })
}

/// A client that waits for the start of a response.
struct Waiting<'s> {
    session: &'s Session,
    start: oneshot::Receiver<ResponseStart>,
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.start.close();
        self.session.client_left();
    }
}

/// Closes a session whose client never learns its id: it disconnected too early, or did not open it
/// properly.
struct Opening<'a> {
    sessions: &'a Sessions,
    session: &'a Session,
    known: bool,
}

impl Drop for Opening<'_> {
    fn drop(&mut self) {
        if !self.known {
            self.sessions.close(self.session.id());
        }
    }
}

impl From<SourceNotAllowed> for Rejection {
    fn from(foreign: SourceNotAllowed) -> Rejection {
        Rejection::Fault(match foreign {
            SourceNotAllowed::Unclear => HttpFault::HostUnclear,
            SourceNotAllowed::Host(host) => HttpFault::ForeignHost(host),
            SourceNotAllowed::Origin(origin) => HttpFault::ForeignOrigin(origin),
        })
    }
}

impl From<RejectionResponse> for Rejection {
    fn from(refused: RejectionResponse) -> Rejection {
        Rejection::Application(refused)
    }
}

impl From<HttpFault> for Rejection {
    fn from(fault: HttpFault) -> Rejection {
        Rejection::Fault(fault)
    }
}
