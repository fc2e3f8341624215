//! The server over Streamable HTTP, with sessions and without.

mod headers;
mod streams;

use std::{
    collections::BTreeMap,
    convert::Infallible,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
};

use bytes::Bytes;
use http::{HeaderMap, Method, Request, Response, StatusCode};
use http_body_util::{BodyExt as _, Full, Limited, combinators::UnsyncBoxBody};
use hyper::body::Incoming as Body;
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;

use self::streams::{Gone, Reading};
use crate::{
    fault::Carrier,
    faults::Fault,
    incoming::Incoming,
    outbox::{MessageLog, Outbox},
    reply::{Failure, Reply},
    revision::Revision,
    server::{Conversation, Server},
    world::held,
};

pub(crate) type Answer = Response<UnsyncBoxBody<Bytes, Infallible>>;

const LARGEST: usize = 16 * 1024 * 1024;

struct Gateway {
    server: Arc<Server>,
    sessions: Arc<Mutex<BTreeMap<String, Arc<Session>>>>,
    opened: AtomicUsize,
    broken: Arc<Broken>,
}

/// Requests that fail the next time.
#[derive(Default)]
struct Broken {
    lists: AtomicBool,
    calls: AtomicBool,
}

impl Broken {
    /// Whether a request is hit by the fault, which then clears.
    fn hits(&self, method: &str) -> bool {
        match method {
            "tools/call" => self.calls.swap(false, Ordering::SeqCst),
            method if method.ends_with("/list") => self.lists.swap(false, Ordering::SeqCst),
            _ => false,
        }
    }
}

/// A session: its conversation and its streams, of which the first is the GET stream.
struct Session {
    conversation: Arc<Conversation>,
    streams: Mutex<Vec<Arc<MessageLog>>>,
    /// Number of streams opened with GET.
    gets: AtomicUsize,
}

/// Serves until the process ends, after printing the URL.
#[expect(clippy::print_stdout, reason = "says where it listens")]
pub(crate) async fn serve(server: Arc<Server>, address: &str) -> anyhow::Result<()> {
    let listener = TcpListener::bind(address).await?;
    println!("http://{}/mcp", listener.local_addr()?);
    let gateway = Arc::new(Gateway {
        server,
        sessions: Arc::default(),
        opened: AtomicUsize::new(1),
        broken: Arc::default(),
    });
    loop {
        let (stream, _) = listener.accept().await?;
        let _ = stream.set_nodelay(true);
        let gateway = gateway.clone();
        tokio::spawn(async move {
            let service = hyper::service::service_fn(move |request| {
                let gateway = gateway.clone();
                async move {
                    gateway.answer(request).await.ok_or_else(|| std::io::Error::other("dropped"))
                }
            });
            // A client that disconnects is not an error.
            let _ = hyper::server::conn::http1::Builder::new()
                .serve_connection(TokioIo::new(stream), service)
                .await;
        });
    }
}

impl Gateway {
    /// Answers a request; `None` drops the connection.
    async fn answer(&self, request: Request<Body>) -> Option<Answer> {
        let (head, body) = request.into_parts();
        let faults = self.server.faults;
        if head.uri.path() != "/mcp" {
            return Some(empty(StatusCode::NOT_FOUND));
        }
        if !headers::are_local(&head.headers, faults) {
            return Some(empty(if faults.has(Fault::HttpOriginStatus) {
                StatusCode::BAD_REQUEST
            } else {
                StatusCode::FORBIDDEN
            }));
        }
        match head.method {
            Method::POST => match Limited::new(body, LARGEST).collect().await {
                Ok(body) => self.post(&head.headers, &body.to_bytes()).await,
                Err(_) => Some(empty(StatusCode::PAYLOAD_TOO_LARGE)),
            },
            Method::GET => Some(self.get(&head.headers)),
            Method::DELETE => Some(self.delete(&head.headers)),
            _ => Some(not_allowed()),
        }
    }

    async fn post(&self, head: &HeaderMap, body: &[u8]) -> Option<Answer> {
        let faults = self.server.faults;
        if !headers::sends_json(head, faults) {
            return Some(empty(StatusCode::UNSUPPORTED_MEDIA_TYPE));
        }
        if !headers::accepts_both(head) {
            return Some(empty(StatusCode::NOT_ACCEPTABLE));
        }
        let alone = Conversation::new(&self.server, MessageLog::new(), Carrier::Http);
        let message = std::str::from_utf8(body).map_or(Incoming::NotJson, |text| alone.read(text));
        if matches!(message, Incoming::NotJson) {
            match faults.0 {
                Some(Fault::HttpNotJsonAccepted) => return Some(empty(StatusCode::ACCEPTED)),
                Some(Fault::HttpNotJsonFails) => {
                    return Some(empty(StatusCode::INTERNAL_SERVER_ERROR));
                }
                Some(Fault::HttpEmptyBodyFails) if body.is_empty() => {
                    return Some(empty(StatusCode::INTERNAL_SERVER_ERROR));
                }
                Some(Fault::HttpConnectionDrops) => return None,
                _ => {}
            }
        }
        if headers::is_stateless(head, &message) {
            if let (Incoming::Request(request), Some(failure)) =
                (&message, headers::mismatch(head, &message, faults))
            {
                let log = MessageLog::new();
                Reply::new(faults, log.clone(), &request.id).fail(&failure);
                let status = if faults.has(Fault::HttpMismatchOk) {
                    StatusCode::OK
                } else {
                    StatusCode::BAD_REQUEST
                };
                return Some(streams::json(&log, status, faults));
            }
            let session = Session {
                conversation: alone,
                streams: Mutex::default(),
                gets: AtomicUsize::new(0),
            };
            return Some(self.carry(&session, message, true).await);
        }
        match self.session(head, &message) {
            Ok((session, id)) => {
                let mut answer = self.carry(&session, message, false).await;
                if let Some(id) = id.and_then(|id| id.parse().ok()) {
                    answer.headers_mut().insert("mcp-session-id", id);
                }
                Some(answer)
            }
            Err(status) => Some(refused(status, "the session or the version is not known here")),
        }
    }

    /// The session that a message belongs to, with its id if it is new.
    fn session(
        &self,
        head: &HeaderMap,
        message: &Incoming,
    ) -> Result<(Arc<Session>, Option<String>), StatusCode> {
        let faults = self.server.faults;
        if !matches!(message, Incoming::Request(request) if request.method == "initialize")
            || head.contains_key("mcp-session-id")
        {
            return self.known(head).map(|session| (session, None));
        }
        let side = MessageLog::new();
        let session = Arc::new(Session {
            conversation: Conversation::new(&self.server, side.clone(), Carrier::Http),
            streams: Mutex::new(vec![side]),
            gets: AtomicUsize::new(0),
        });
        let number = self.opened.fetch_add(1, Ordering::SeqCst);
        let id = match faults.0 {
            Some(Fault::HttpSessionShared) => "session".to_owned(),
            Some(Fault::HttpSessionCounted) => number.to_string(),
            Some(Fault::HttpSessionSpaces) => format!("my session {number}"),
            _ => format!(
                "{:016x}{number:08x}",
                0x9e37_79b9_7f4a_7c15_u64
                    .wrapping_mul(number as u64 + u64::from(std::process::id()))
            ),
        };
        held(&self.sessions).insert(id.clone(), session.clone());
        Ok((session, (!faults.has(Fault::HttpSessionWithheld)).then_some(id)))
    }

    fn known(&self, head: &HeaderMap) -> Result<Arc<Session>, StatusCode> {
        let faults = self.server.faults;
        let sessions = held(&self.sessions);
        let session = match head.get("mcp-session-id").map(|id| id.to_str().unwrap_or_default()) {
            Some(id) => match sessions.get(id) {
                Some(session) => session.clone(),
                None if faults.has(Fault::HttpSessionInvented) => {
                    sessions.values().next().cloned().ok_or(StatusCode::NOT_FOUND)?
                }
                None => return Err(StatusCode::NOT_FOUND),
            },
            None if faults.has(Fault::HttpSessionUnneeded) => {
                sessions.values().last().cloned().ok_or(StatusCode::BAD_REQUEST)?
            }
            None => return Err(StatusCode::BAD_REQUEST),
        };
        headers::version(head, &session.conversation, faults).map(|()| session)
    }

    /// Handles a message of a session, or a stateless one.
    async fn carry(&self, session: &Session, message: Incoming, is_stateless: bool) -> Answer {
        let faults = self.server.faults;
        let log = MessageLog::new();
        let outbox: Outbox = log.clone();
        let conversation = session.conversation.clone();
        let Incoming::Request(request) = &message else {
            let is_silent = matches!(message, Incoming::Notification { .. } | Incoming::Response);
            conversation.serve(message, &outbox).await;
            return match (is_silent, log.length()) {
                (true, _) if faults.has(Fault::HttpNotificationAnswered) => {
                    page(StatusCode::OK, "application/json", "{}")
                }
                (true, _) | (false, 0) => empty(StatusCode::ACCEPTED),
                _ => {
                    let is_error = log.get(0).is_some_and(|text| !text.starts_with('['));
                    streams::json(
                        &log,
                        if is_error { StatusCode::BAD_REQUEST } else { StatusCode::OK },
                        faults,
                    )
                }
            };
        };
        if self.broken.hits(&request.method) {
            return empty(StatusCode::SERVICE_UNAVAILABLE);
        }
        let is_long = matches!(request.method.as_str(), "tools/call" | "subscriptions/listen");
        let is_refused = is_stateless && headers::is_refused(request, faults);
        if !is_long || is_refused {
            let unanswered = faults.has(Fault::PingUnanswered) && request.method == "ping";
            conversation.serve(message, &outbox).await;
            if unanswered {
                std::future::pending::<()>().await;
            }
            let status = if is_stateless { headers::status(&log, faults) } else { StatusCode::OK };
            return streams::json(&log, status, faults);
        }
        let known = crate::offer::tools::input_schema(
            &self.server.world,
            request.params.as_ref().and_then(|params| params["name"].as_str()).unwrap_or_default(),
        );
        if faults.has(Fault::HttpErrorPage) && request.method == "tools/call" && known.is_none() {
            return page(
                StatusCode::INTERNAL_SERVER_ERROR,
                "text/html",
                "<h1>Internal Server Error</h1>",
            );
        }
        let number = {
            let mut streams = held(&session.streams);
            streams.push(log.clone());
            streams.len() - 1
        };
        let side = held(&session.streams).first().cloned();
        let listens = request.method == "subscriptions/listen";
        let (serving, ended) = (conversation.clone(), log.clone());
        tokio::spawn(async move {
            serving.serve(message, &outbox).await;
            if faults.has(Fault::HttpAnswerElsewhere)
                && let (Some(side), Some(last)) =
                    (side, ended.length().checked_sub(1).and_then(|last| ended.get(last)))
            {
                crate::outbox::Sink::send(&*side, last);
            }
            if !faults.has(Fault::HttpStreamStays) && !faults.has(Fault::ToolHangs) {
                ended.end();
            }
        });
        let primes = conversation.revision() == Some(Revision::V2025_11_25);
        let broken = Arc::clone(&self.broken);
        let gone: Gone = Box::new(move |is_early| {
            conversation.abandon();
            match faults.0 {
                Some(Fault::HttpListenEndBreaksLists) if listens => {
                    broken.lists.store(true, Ordering::SeqCst);
                }
                Some(Fault::HttpHangUpBreaksCalls) if is_early && !listens => {
                    broken.calls.store(true, Ordering::SeqCst);
                }
                _ => {}
            }
        });
        streams::events(Reading {
            log,
            number,
            from: 0,
            primed: primes.then(|| format!("{number}-0")),
            is_stateless,
            faults,
            gone: is_stateless.then_some(gone),
        })
    }

    fn get(&self, head: &HeaderMap) -> Answer {
        let faults = self.server.faults;
        if headers::names_stateless(head) && !faults.has(Fault::HttpGetAfterEnd) {
            return not_allowed();
        }
        if faults.has(Fault::HttpGetNotSse) {
            return page(StatusCode::OK, "text/html", "<h1>It works</h1>");
        }
        if faults.has(Fault::HttpGetAfterEnd) && headers::names_stateless(head) {
            let log = MessageLog::new();
            return streams::events(Reading {
                log,
                number: 0,
                from: 0,
                primed: None,
                is_stateless: true,
                faults,
                gone: None,
            });
        }
        if !headers::accepts_events(head) {
            return empty(StatusCode::NOT_ACCEPTABLE);
        }
        let session = match self.known(head) {
            Ok(session) => session,
            Err(status) => return refused(status, "the session or the version is not known here"),
        };
        let streams = held(&session.streams).clone();
        let last = head.get("last-event-id").and_then(|id| id.to_str().ok()).map(str::to_owned);
        let (number, from) = match last.as_deref().map(streams::place) {
            None => (0, streams.first().map_or(0, |log| log.length())),
            Some(Some((number, _))) if faults.has(Fault::HttpResumeRepeats) => (number, 0),
            Some(Some((number, _))) if faults.has(Fault::HttpResumeForeign) => {
                (number.saturating_sub(1), 0)
            }
            Some(Some(place)) => place,
            Some(None) => return empty(StatusCode::BAD_REQUEST),
        };
        let Some(log) = streams.get(number).cloned() else { return empty(StatusCode::BAD_REQUEST) };
        let primes =
            last.is_none() && session.conversation.revision() == Some(Revision::V2025_11_25);
        // The stream stays the same, and ids are not reused.
        let opened = session.gets.fetch_add(1, Ordering::SeqCst);
        let sessions = Arc::clone(&self.sessions);
        let gone: Gone = Box::new(move |_| {
            held(&sessions).retain(|_, known| !Arc::ptr_eq(known, &session));
        });
        let ends_session = faults.has(Fault::HttpGetEndEndsSession) && number == 0;
        streams::events(Reading {
            log,
            number,
            from,
            primed: primes.then(|| format!("{number}-{from}-{opened}")),
            is_stateless: false,
            faults,
            gone: ends_session.then_some(gone),
        })
    }

    fn delete(&self, head: &HeaderMap) -> Answer {
        let faults = self.server.faults;
        if headers::names_stateless(head) {
            return not_allowed();
        }
        match self.known(head) {
            _ if faults.has(Fault::HttpDeleteFails) => empty(StatusCode::INTERNAL_SERVER_ERROR),
            Ok(session) => {
                if !faults.has(Fault::HttpSessionOutlivesDelete) {
                    held(&self.sessions).retain(|_, known| !Arc::ptr_eq(known, &session));
                    session.conversation.abandon();
                    held(&session.streams).iter().for_each(|log| log.end());
                }
                empty(StatusCode::NO_CONTENT)
            }
            Err(status) => refused(status, "the session or the version is not known here"),
        }
    }
}

pub(crate) fn page(status: StatusCode, kind: &'static str, text: &str) -> Answer {
    let mut answer = Response::new(Full::new(Bytes::from(text.to_owned())).boxed_unsync());
    *answer.status_mut() = status;
    answer.headers_mut().insert("content-type", http::HeaderValue::from_static(kind));
    answer
}

fn empty(status: StatusCode) -> Answer {
    let mut answer = Response::new(Full::new(Bytes::new()).boxed_unsync());
    *answer.status_mut() = status;
    answer
}

fn not_allowed() -> Answer {
    let mut answer = empty(StatusCode::METHOD_NOT_ALLOWED);
    answer.headers_mut().insert("allow", http::HeaderValue::from_static("POST, GET, DELETE"));
    answer
}

fn refused(status: StatusCode, why: &str) -> Answer {
    let failure = Failure::new(-32600, why);
    page(status, "text/plain", &failure.message)
}
