//! The server over Streamable HTTP, with sessions and without.

pub(super) mod events;
mod notes;

use std::{
    convert::Infallible,
    io,
    net::{Ipv4Addr, SocketAddr},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode, request};
use http_body_util::{BodyExt as _, Full, Limited, combinators::UnsyncBoxBody};
use hyper::body::Incoming as Body;
use hyper_util::rt::TokioIo;
use mcp_core::Era;
use serde_json::Value;
use tokio::{net::TcpListener, sync::Mutex, task::JoinSet};

use self::events::EventStream;
use super::Outlet;
use crate::{
    Kind,
    client::{
        act::Act,
        play::{Play, Plays},
    },
};

type Answer = Response<UnsyncBoxBody<Bytes, Infallible>>;

const SESSION: &str = "mcp-session-id";

/// Serves HTTP.
pub(super) async fn listen(
    plays: Arc<Plays>,
) -> io::Result<(SocketAddr, impl Future<Output = ()> + Send + 'static)> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
    let address = listener.local_addr()?;
    let endpoint = Arc::new(Endpoint {
        plays,
        exchanges: AtomicU64::new(1),
        url: format!("http://{address}"),
    });
    let serving = async move {
        let mut connections = JoinSet::new();
        loop {
            let Ok((stream, _)) = listener.accept().await else { continue };
            while connections.try_join_next().is_some() {}
            let endpoint = Arc::clone(&endpoint);
            let service = hyper::service::service_fn(move |request| {
                let endpoint = Arc::clone(&endpoint);
                async move { Ok::<_, Infallible>(endpoint.answer(request).await) }
            });
            connections.spawn(async move {
                let connection = hyper::server::conn::http1::Builder::new()
                    .serve_connection(TokioIo::new(stream), service);
                // It does not matter if the client disconnects.
                let _ = connection.await;
            });
        }
    };
    Ok((address, serving))
}

#[derive(Debug)]
struct Endpoint {
    plays: Arc<Plays>,
    exchanges: AtomicU64,
    url: String,
}

/// One request and its answer.
struct Exchange<'a> {
    number: u64,
    play: &'a Arc<Play>,
}

impl Endpoint {
    async fn answer(&self, request: Request<Body>) -> Answer {
        let (head, body) = request.into_parts();
        if head.uri.path() != "/mcp" {
            // Clients look for authorization metadata at other paths.
            return empty(StatusCode::NOT_FOUND);
        }
        let play = self.plays.over_http();
        let number = self.exchanges.fetch_add(1, Ordering::Relaxed);
        let exchange = Exchange { number, play: &play };
        let body = match Limited::new(body, play.limits.message_bytes).collect().await {
            Ok(body) => body.to_bytes(),
            Err(_) => return empty(StatusCode::PAYLOAD_TOO_LARGE),
        };
        if !play.has_room() {
            return empty(StatusCode::SERVICE_UNAVAILABLE);
        }
        let line = exchange.record_request(&self.url, &head, &body);
        play.touch();
        match head.method {
            Method::POST => exchange.post(line, &body),
            Method::GET => exchange.get(&head),
            Method::DELETE => exchange.delete(),
            _ => exchange.empty(StatusCode::METHOD_NOT_ALLOWED),
        }
    }
}

impl Exchange<'_> {
    fn post(&self, line: u64, body: &[u8]) -> Answer {
        let messages = self.play.hear(line, body, Some(self.number));
        let has_request = messages.iter().any(|message| message.kind == Kind::Request);
        let is_initialize = messages.iter().any(|message| message.method() == Some("initialize"));
        let acts: Vec<Act> = messages.iter().flat_map(|message| self.play.acts(message)).collect();
        if let [Act::Status(status)] = acts[..] {
            return self.empty(StatusCode::from_u16(status).unwrap_or(StatusCode::BAD_REQUEST));
        }
        if !has_request {
            return self.empty(StatusCode::ACCEPTED);
        }
        let session = is_initialize.then(|| self.assign_session()).flatten();
        let manner = self.play.scenario.manner;
        match &acts[..] {
            [Act::Tell(message)] if !manner.streams || self.is_refusal(message) => {
                self.json(message, session.as_deref())
            }
            [Act::Text(text)] if !manner.streams => self.text(text, session.as_deref()),
            _ => self.stream(acts, session.as_deref()),
        }
    }

    fn get(&self, head: &request::Parts) -> Answer {
        let is_legacy = self.play.revision.era() == Era::Legacy;
        let last = head.headers.get("last-event-id").map(HeaderValue::as_bytes);
        let owed = {
            let mut state = self.play.state();
            state.http.gets += 1;
            let is_owed = state
                .http
                .owed
                .as_ref()
                .is_some_and(|(id, _)| last.is_some_and(|last| last == id.as_bytes()));
            is_owed.then(|| {
                state.http.resumed = true;
                state.http.owed.take()
            })
        };
        if let Some(Some((_, message))) = owed {
            return self.stream(vec![Act::Tell(message)], None);
        }
        if !is_legacy || !self.play.scenario.manner.has_get {
            return self.empty(StatusCode::METHOD_NOT_ALLOWED);
        }
        self.stream(vec![Act::Hold], None)
    }

    fn delete(&self) -> Answer {
        if self.play.revision.era() == Era::Modern {
            return self.empty(StatusCode::METHOD_NOT_ALLOWED);
        }
        self.play.state().http.is_deleted = true;
        self.empty(StatusCode::OK)
    }

    fn assign_session(&self) -> Option<String> {
        if self.play.revision.era() == Era::Modern || !self.play.scenario.manner.has_sessions {
            return None;
        }
        let mut state = self.play.state();
        state.http.sessions += 1;
        state.http.is_deleted = false;
        Some(format!("plumb-session-{}", state.http.sessions))
    }

    fn json(&self, message: &Value, session: Option<&str>) -> Answer {
        let status = match message.pointer("/error/code").and_then(Value::as_i64) {
            Some(code) if self.play.revision.era() == Era::Modern => match code {
                -32601 => StatusCode::NOT_FOUND,
                -32602 | -32022..=-32020 => StatusCode::BAD_REQUEST,
                _ => StatusCode::OK,
            },
            _ => StatusCode::OK,
        };
        let mut answer = with_body(status, message.to_string());
        self.finish(&mut answer, "application/json", session);
        let line = self.record_response(status, answer.headers(), message.to_string().as_bytes());
        self.play.note_answer(line);
        self.play.touch();
        answer
    }

    /// Whether the status of the answer depends on the message.
    fn is_refusal(&self, message: &Value) -> bool {
        self.play.revision.era() == Era::Modern && message.get("error").is_some()
    }

    fn text(&self, text: &str, session: Option<&str>) -> Answer {
        let mut answer = with_body(StatusCode::OK, text.to_owned());
        self.finish(&mut answer, "application/json", session);
        self.record_response(StatusCode::OK, answer.headers(), text.as_bytes());
        self.play.touch();
        answer
    }

    fn stream(&self, acts: Vec<Act>, session: Option<&str>) -> Answer {
        let (stream, body) = EventStream::new(self.play, self.number);
        let mut answer = Response::new(UnsyncBoxBody::new(body));
        if self.play.revision.era() == Era::Modern {
            answer.headers_mut().insert("x-accel-buffering", HeaderValue::from_static("no"));
        }
        self.finish(&mut answer, "text/event-stream", session);
        self.record_response(StatusCode::OK, answer.headers(), b"");
        let stream = Arc::new(Mutex::new(stream));
        let play = Arc::clone(self.play);
        tokio::spawn(async move {
            let held = stream.lock().await.begin(&play, &acts).await;
            if held {
                play.perform(acts, &Outlet::Events(Arc::clone(&stream))).await;
            }
            stream.lock().await.end(&play);
        });
        answer
    }

    fn empty(&self, status: StatusCode) -> Answer {
        let answer = empty(status);
        self.record_response(status, answer.headers(), b"");
        self.play.touch();
        answer
    }

    fn finish(&self, answer: &mut Answer, kind: &str, session: Option<&str>) {
        let charset = if self.play.scenario.manner.has_charset { "; charset=utf-8" } else { "" };
        let headers: &mut HeaderMap = answer.headers_mut();
        let kind = HeaderValue::from_str(&format!("{kind}{charset}"));
        headers.extend(kind.ok().map(|kind| (http::header::CONTENT_TYPE, kind)));
        if let Some(session) = session.and_then(|session| session.parse().ok()) {
            headers.insert(SESSION, session);
        }
    }
}

fn empty(status: StatusCode) -> Answer {
    with_body(status, String::new())
}

fn with_body(status: StatusCode, body: String) -> Answer {
    let mut answer = Response::new(UnsyncBoxBody::new(Full::new(Bytes::from(body))));
    *answer.status_mut() = status;
    answer
}
