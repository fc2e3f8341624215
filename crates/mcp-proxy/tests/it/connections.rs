//! Connections to an HTTP server: which are used again, and what comes on them.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use mcp_proxy::Policy;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
    sync::oneshot,
};

use crate::support::{Proxy, parts, post, raw_client};

const PING: &str = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
const PONG: &str = r#"{"jsonrpc":"2.0","id":1,"result":{}}"#;

/// Reads a request up to the end of its body, which is a JSON object.
async fn read_request(stream: &mut TcpStream) -> bool {
    let mut text = Vec::new();
    while !text.ends_with(b"}") {
        if !matches!(stream.read_buf(&mut text).await, Ok(1..)) {
            return false;
        }
    }
    true
}

/// How many connections there were, and how many of them the server has closed.
#[derive(Debug, Default)]
struct Counts {
    opened: AtomicUsize,
    closed: AtomicUsize,
}

/// A server that answers so many requests on each connection, and then closes it without having said
/// so.
async fn server(answers: usize, response: &'static str) -> (std::net::SocketAddr, Arc<Counts>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let count = Arc::new(Counts::default());
    let counted = Arc::clone(&count);
    tokio::spawn(async move {
        loop {
            let (mut stream, _) = listener.accept().await.unwrap();
            counted.opened.fetch_add(1, Ordering::Relaxed);
            let counted = Arc::clone(&counted);
            tokio::spawn(async move {
                for _ in 0..answers {
                    if !read_request(&mut stream).await {
                        return;
                    }
                    stream.write_all(response.as_bytes()).await.unwrap();
                }
                drop(stream);
                counted.closed.fetch_add(1, Ordering::Relaxed);
            });
        }
    });
    (address, count)
}

const JSON: &str = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 36\r\n\r\n\
    {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}";
const EVENTS: &str = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\
    Transfer-Encoding: chunked\r\n\r\n2c\r\ndata: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n\n\r\n0\r\n\r\n";
const EMPTY: &str = "HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n";

#[tokio::test(flavor = "multi_thread")]
async fn a_connection_is_used_again_however_a_response_ends() {
    for response in [JSON, EVENTS, EMPTY] {
        let (address, connections) = server(usize::MAX, response).await;
        let proxy = Proxy::start(address, Policy::observe()).await;
        for _ in 0..5 {
            let (status, _) = parts(&raw_client(proxy.address, &post(PING, "")).await);
            assert!((200..300).contains(&status), "{status}");
        }
        assert_eq!(connections.opened.load(Ordering::Relaxed), 1, "{response}");
        proxy.stop().await.assert_same();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn clients_do_not_see_that_a_server_closes_idle_connections() {
    let (address, connections) = server(1, JSON).await;
    let proxy = Proxy::start(address, Policy::observe()).await;
    for number in 1..=20 {
        let (status, text) = parts(&raw_client(proxy.address, &post(PING, "")).await);
        assert_eq!((status, text.as_str()), (200, PONG));
        while connections.closed.load(Ordering::Relaxed) < number {
            tokio::task::yield_now().await;
        }
    }
    assert_eq!(connections.opened.load(Ordering::Relaxed), 20);
    proxy.stop().await.assert_same();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_answers_early_still_gets_the_rest_of_the_request() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (done, whole) = oneshot::channel();
    tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut text = Vec::new();
        while !text.windows(4).any(|end| end == b"\r\n\r\n") {
            stream.read_buf(&mut text).await.unwrap();
        }
        stream.write_all(EMPTY.as_bytes()).await.unwrap();
        while !text.ends_with(b"}") {
            assert!(stream.read_buf(&mut text).await.unwrap() > 0, "the request broke off");
        }
        done.send(text).unwrap();
    });
    let proxy = Proxy::start(address, Policy::observe()).await;
    let mut client = TcpStream::connect(proxy.address).await.unwrap();
    // Too long to be read before it is passed on.
    let padding = " ".repeat(200_000);
    let request = post(&PING.replace(r#""id""#, &format!(r#"{padding}"id""#)), "");
    let (first, rest) = request.split_at(request.len() - 1000);
    client.write_all(first).await.unwrap();
    let mut answer = Vec::new();
    while !answer.windows(4).any(|end| end == b"\r\n\r\n") {
        assert!(client.read_buf(&mut answer).await.unwrap() > 0);
    }
    assert!(answer.starts_with(b"HTTP/1.1 202"));
    client.write_all(rest).await.unwrap();
    assert!(whole.await.unwrap().ends_with(b"\"ping\"}"));
    proxy.abandon();
}
