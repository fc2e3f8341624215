use std::net::SocketAddr;

use bytes::Bytes;
use http::{HeaderMap, Method, Request, Response, StatusCode};
use http_body::Body;
use http_body_util::{BodyExt, Full};
use hyper::{body::Incoming, client::conn::http1::handshake};
use hyper_util::rt::TokioIo;
use mcp_transport::http::server::{HttpService, ResponseBody};
use tokio::net::TcpStream;
use tower_service::Service;

use super::{Server, soon};

/// A request with a text body.
#[derive(Debug, Clone)]
pub(super) struct Ask {
    method: Method,
    path: &'static str,
    headers: Vec<(&'static str, String)>,
    body: String,
}

impl Ask {
    fn new(method: Method, body: &str) -> Ask {
        let headers = vec![("host", "localhost:1".to_owned())];
        Ask { method, path: "/mcp", headers, body: body.to_owned() }
    }

    pub(super) fn post(body: &str) -> Ask {
        Ask::new(Method::POST, body)
            .with("content-type", "application/json")
            .with("accept", "application/json, text/event-stream")
    }

    pub(super) fn get() -> Ask {
        Ask::new(Method::GET, "").with("accept", "text/event-stream")
    }

    pub(super) fn delete() -> Ask {
        Ask::new(Method::DELETE, "")
    }

    pub(super) fn method(mut self, method: Method) -> Ask {
        self.method = method;
        self
    }

    pub(super) fn at(mut self, path: &'static str) -> Ask {
        self.path = path;
        self
    }

    /// Sets a header, or replaces it.
    pub(super) fn with(mut self, name: &'static str, value: &str) -> Ask {
        self.headers.retain(|(known, _)| *known != name);
        self.headers.push((name, value.to_owned()));
        self
    }

    pub(super) fn without(mut self, name: &str) -> Ask {
        self.headers.retain(|(known, _)| *known != name);
        self
    }

    pub(super) fn again(mut self, name: &'static str, value: &str) -> Ask {
        self.headers.push((name, value.to_owned()));
        self
    }

    pub(super) fn session(self, id: &str) -> Ask {
        self.with("mcp-session-id", id)
    }

    pub(super) fn stateless(self) -> Ask {
        self.with("mcp-protocol-version", "2026-07-28")
    }

    pub(super) fn request(&self) -> Request<Full<Bytes>> {
        let mut request = Request::builder().method(self.method.clone()).uri(self.path);
        for (name, value) in &self.headers {
            request = request.header(*name, value);
        }
        request.body(Full::new(Bytes::from(self.body.clone()))).unwrap()
    }

    /// Sends it on its own connection.
    pub(super) async fn to(&self, server: &Server) -> Reply<Incoming> {
        self.to_address(server.address).await
    }

    pub(super) async fn to_address(&self, address: SocketAddr) -> Reply<Incoming> {
        let stream = soon(TcpStream::connect(address)).await.unwrap();
        self.over(stream).await
    }

    pub(super) async fn over<IO>(&self, stream: IO) -> Reply<Incoming>
    where
        IO: tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin + Send + 'static,
    {
        let (mut sender, connection) = soon(handshake(TokioIo::new(stream))).await.unwrap();
        tokio::spawn(connection);
        Reply::new(soon(sender.send_request(self.request())).await.unwrap())
    }

    /// Sends it without a socket.
    pub(super) async fn directly(&self, service: &HttpService) -> Reply<ResponseBody> {
        Reply::new(service.clone().call(self.request()).await.unwrap())
    }
}

/// A response whose body is read as it arrives.
#[derive(Debug)]
pub(super) struct Reply<B> {
    pub(super) status: StatusCode,
    pub(super) headers: HeaderMap,
    body: B,
    unread: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Event {
    pub(super) id: Option<String>,
    pub(super) retry: Option<u64>,
    pub(super) data: String,
}

impl<B> Reply<B>
where
    B: Body<Data = Bytes> + Unpin,
    B::Error: std::fmt::Debug,
{
    fn new(response: Response<B>) -> Reply<B> {
        let (parts, body) = response.into_parts();
        Reply { status: parts.status, headers: parts.headers, body, unread: String::new() }
    }

    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().unwrap())
    }

    pub(super) async fn text(mut self) -> String {
        while self.read_more().await {}
        self.unread
    }

    /// The next event, skipping comments; `None` at the end of the stream.
    pub(super) async fn event(&mut self) -> Option<Event> {
        loop {
            while let Some(end) = self.unread.find("\n\n") {
                let event = parse(&self.unread[..end]);
                self.unread.drain(..end + 2);
                if event.is_some() {
                    return event;
                }
            }
            if !self.read_more().await {
                assert_eq!(self.unread, "", "the stream ends between two events");
                return None;
            }
        }
    }

    pub(super) async fn events(mut self) -> Vec<Event> {
        let mut events = Vec::new();
        while let Some(event) = self.event().await {
            events.push(event);
        }
        events
    }

    /// Reads something, such as a comment; returns `false` at the end.
    pub(super) async fn read_more(&mut self) -> bool {
        match self.body.frame().await {
            Some(frame) => {
                let data = frame.unwrap().into_data().unwrap();
                self.unread.push_str(str::from_utf8(&data).unwrap());
                true
            }
            None => false,
        }
    }

    pub(super) fn unread(&self) -> &str {
        &self.unread
    }
}

fn parse(block: &str) -> Option<Event> {
    let mut event = Event::default();
    let mut has_data = false;
    for line in block.lines() {
        match line.split_once(':').unwrap() {
            ("", _) => {}
            ("id", value) => event.id = Some(value.trim_start().to_owned()),
            ("retry", value) => event.retry = Some(value.trim_start().parse().unwrap()),
            ("data", value) => {
                has_data = true;
                event.data.push_str(value.trim_start());
            }
            (field, _) => panic!("unexpected field {field}"),
        }
    }
    has_data.then_some(event)
}

pub(super) fn data(events: &[Event]) -> Vec<&str> {
    events.iter().map(|event| event.data.as_str()).collect()
}

/// Opens a session.
pub(super) async fn open_session(server: &Server, revision: &str) -> String {
    let reply = Ask::post(&format!("init {revision}")).to(server).await;
    assert_eq!(reply.status, StatusCode::OK);
    let id = reply.header("mcp-session-id").unwrap().to_owned();
    assert_eq!(reply.text().await, "welcome");
    id
}

/// Opens a session without a socket.
pub(super) async fn open_directly(service: &HttpService, revision: &str) -> String {
    let reply = Ask::post(&format!("init {revision}")).directly(service).await;
    reply.header("mcp-session-id").unwrap().to_owned()
}
