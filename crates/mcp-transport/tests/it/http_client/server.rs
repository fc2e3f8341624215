use std::{
    fmt::Write as _,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use futures_util::future::BoxFuture;
use tokio::{
    io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader},
    net::{TcpListener, TcpStream},
    time::Instant,
};

use super::patiently;

/// A raw HTTP/1.1 server whose responses are written by the test.
pub(super) struct Server {
    pub(super) url: String,
    seen: Arc<Mutex<Vec<Request>>>,
    connections: Arc<AtomicUsize>,
    accepting: tokio::task::JoinHandle<()>,
}

#[derive(Debug, Clone)]
pub(super) struct Request {
    pub(super) method: String,
    pub(super) target: String,
    pub(super) head: String,
    pub(super) body: String,
    pub(super) at: Instant,
}

/// The client's end of a connection.
pub(super) struct Peer {
    stream: BufReader<TcpStream>,
    keep: bool,
}

impl Server {
    pub(super) async fn start<F>(respond: F) -> Server
    where
        F: for<'p> Fn(Request, &'p mut Peer) -> BoxFuture<'p, ()> + Send + Sync + 'static,
    {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/mcp?key=secret", listener.local_addr().unwrap());
        let seen = Arc::new(Mutex::new(Vec::new()));
        let connections = Arc::new(AtomicUsize::new(0));
        let respond = Arc::new(respond);
        let (log, count) = (Arc::clone(&seen), Arc::clone(&connections));
        let accepting = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                count.fetch_add(1, Ordering::SeqCst);
                stream.set_nodelay(true).unwrap();
                let (respond, log) = (Arc::clone(&respond), Arc::clone(&log));
                tokio::spawn(async move {
                    let mut peer = Peer { stream: BufReader::new(stream), keep: true };
                    while peer.keep {
                        let Some(request) = peer.read_request().await else { break };
                        log.lock().unwrap().push(request.clone());
                        respond(request, &mut peer).await;
                    }
                });
            }
        });
        Server { url, seen, connections, accepting }
    }

    pub(super) fn requests(&self) -> Vec<Request> {
        self.seen.lock().unwrap().clone()
    }

    pub(super) fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }

    /// Waits until there are `count` requests and returns them.
    pub(super) async fn after(&self, count: usize) -> Vec<Request> {
        patiently(async {
            loop {
                let requests = self.requests();
                if requests.len() >= count {
                    return requests;
                }
                tokio::time::sleep(Duration::from_millis(2)).await;
            }
        })
        .await
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

impl Request {
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().skip(1).find_map(|line| {
            let (key, value) = line.split_once(':')?;
            key.eq_ignore_ascii_case(name).then_some(value.trim())
        })
    }
}

impl Peer {
    async fn read_request(&mut self) -> Option<Request> {
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            if self.stream.read_line(&mut head).await.ok()? == 0 {
                return None;
            }
        }
        let mut parts = head.split(' ').map(str::to_owned);
        let (method, target) = (parts.next()?, parts.next()?);
        let mut request = Request { method, target, head, body: String::new(), at: Instant::now() };
        let length = request.header("content-length").map_or(0, |text| text.parse().unwrap());
        let mut body = vec![0; length];
        self.stream.read_exact(&mut body).await.ok()?;
        request.body = String::from_utf8(body).unwrap();
        Some(request)
    }

    pub(super) async fn raw(&mut self, text: &str) {
        if self.stream.get_mut().write_all(text.as_bytes()).await.is_err() {
            self.keep = false;
        }
    }

    /// Whether the client is known to have closed the connection, from writing to it.
    pub(super) fn is_gone(&self) -> bool {
        !self.keep
    }

    /// Sends a whole response: status, header lines and body.
    pub(super) async fn respond(&mut self, status: &str, headers: &[&str], body: &str) {
        let mut head = format!("HTTP/1.1 {status}\r\ncontent-length: {}\r\n", body.len());
        for header in headers {
            let _ = write!(head, "{header}\r\n");
        }
        self.raw(&format!("{head}\r\n{body}")).await;
    }

    pub(super) async fn json(&mut self, body: &str) {
        self.respond("200 OK", &["content-type: application/json"], body).await;
    }

    pub(super) async fn accept(&mut self) {
        self.respond("202 Accepted", &[], "").await;
    }

    /// Sends the head of a stream.
    pub(super) async fn stream(&mut self) {
        self.stream_with("").await;
    }

    pub(super) async fn stream_with(&mut self, headers: &str) {
        let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\n";
        self.raw(&format!("{head}{headers}transfer-encoding: chunked\r\n\r\n")).await;
    }

    pub(super) async fn chunk(&mut self, text: &str) {
        self.raw(&format!("{:x}\r\n{text}\r\n", text.len())).await;
    }

    /// Ends a stream properly.
    pub(super) async fn end(&mut self) {
        self.raw("0\r\n\r\n").await;
    }

    /// Closes the connection when the response is done.
    pub(super) fn hang_up(&mut self) {
        self.keep = false;
    }

    /// Waits until the client closes the connection.
    pub(super) async fn gone(&mut self) {
        self.keep = false;
        let mut rest = Vec::new();
        let _ = self.stream.read_to_end(&mut rest).await;
    }
}
