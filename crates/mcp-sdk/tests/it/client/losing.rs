//! Servers of the handshake era that disappear, over HTTP.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

use mcp_sdk::{
    CallOptions, Client, ClientError, ClientEvent, Host, ListenError, NoArguments, Server,
    core::{PeerError, Revision},
    transport::http::server::HttpSettings,
};
use serde_json::json;
use tokio::{
    io::AsyncWriteExt as _,
    net::{TcpListener, TcpStream},
    sync::{Notify, oneshot},
    task::JoinHandle,
};

use super::{builder, http::read, initialized, within};

fn start(listener: TcpListener) -> (oneshot::Sender<()>, JoinHandle<()>) {
    let server = Server::builder("test", "1.0.0")
        .offers_everything()
        .tool("who", "Says who it is", async |_: NoArguments, _| Ok("me"))
        .build()
        .unwrap();
    let (stop, stopped) = oneshot::channel();
    let shutdown = async { drop(stopped.await) };
    let serving = tokio::spawn(async move {
        server.serve_http_on(listener, HttpSettings::default(), shutdown).await;
    });
    (stop, serving)
}

async fn legacy(url: &str) -> Client {
    within(builder().revision(Revision::LATEST_LEGACY).connect_http(url)).await.unwrap()
}

#[tokio::test]
async fn an_expired_session_ends_subscriptions_and_fails_the_lists_of_a_host() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let address = listener.local_addr().unwrap();
    // Kept open between the two servers to reserve the port.
    let again = TcpListener::from_std(listener.try_clone().unwrap()).unwrap();
    let (stop, serving) = start(TcpListener::from_std(listener).unwrap());
    let client = legacy(&format!("http://{address}/mcp")).await;
    let host = Host::builder().server("a", client.clone()).build().unwrap();
    let listed = host.tools().await;
    assert_eq!((listed.entries.len(), listed.failures.len()), (1, 0));
    let mut subscription = within(client.subscribe(&["test://a"])).await.unwrap();
    assert!(subscription.is_open());
    stop.send(()).unwrap();
    serving.await.unwrap();

    let (_stop, _serving) = start(again);
    let last = loop {
        match within(subscription.recv()).await {
            Ok(ClientEvent::Closed) => {}
            other => break other,
        }
    };
    assert_eq!(last.unwrap_err(), ListenError::Closed);
    assert!(!subscription.is_open());
    let error = within(client.subscribe(&["test://a"])).await.unwrap_err();
    assert!(error.is_disconnected(), "{error}");
    // The host notices in its own task.
    within(async {
        while host.tools().await.failures.is_empty() {
            tokio::task::yield_now().await;
        }
    })
    .await;
}

#[derive(Default)]
struct Hand {
    /// The response to the GET that opens the server's stream.
    refuses_streams: AtomicBool,
    has_no_stream: bool,
    streams: AtomicUsize,
    opened: Notify,
    cut: Notify,
    subscribed: AtomicUsize,
}

impl Hand {
    async fn start(self) -> (Arc<Hand>, String) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/mcp", listener.local_addr().unwrap());
        let hand = Arc::new(self);
        let serving = Arc::clone(&hand);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let hand = Arc::clone(&serving);
                tokio::spawn(async move { hand.serve(stream).await });
            }
        });
        (hand, url)
    }

    async fn serve(&self, mut stream: TcpStream) {
        const EVENTS: &str =
            "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
        while let Some((word, request)) = read(&mut stream).await {
            if word == "GET" {
                self.streams.fetch_add(1, Ordering::SeqCst);
                let status = match self.refuses_streams.load(Ordering::SeqCst) {
                    _ if self.has_no_stream => "405 Method Not Allowed",
                    true => "503 Service Unavailable",
                    false => {
                        let events = format!("{EVENTS}retry: 10\n\n");
                        stream.write_all(events.as_bytes()).await.unwrap();
                        self.opened.notify_one();
                        return self.cut.notified().await;
                    }
                };
                let head = format!("HTTP/1.1 {status}\r\ncontent-length: 0\r\n\r\n");
                self.opened.notify_one();
                stream.write_all(head.as_bytes()).await.unwrap();
                continue;
            }
            let result = match request["method"].as_str() {
                Some("initialize") => {
                    let resources = json!({ "subscribe": true });
                    initialized("2025-11-25", json!({ "tools": {}, "resources": resources }))
                }
                Some("resources/subscribe") => {
                    self.subscribed.fetch_add(1, Ordering::SeqCst);
                    json!({})
                }
                Some("tools/call") => {
                    let events = format!("{EVENTS}id: 1\nretry: 20000\ndata:\n\n");
                    return stream.write_all(events.as_bytes()).await.unwrap();
                }
                _ => json!({}),
            };
            let body = json!({ "jsonrpc": "2.0", "id": request["id"], "result": result });
            let reply = match request.get("id") {
                Some(_) => super::http::json_reply(&body),
                None => "HTTP/1.1 202 Accepted\r\ncontent-length: 0\r\n\r\n".to_owned(),
            };
            stream.write_all(reply.as_bytes()).await.unwrap();
        }
    }
}

#[tokio::test]
async fn a_lost_stream_ends_subscriptions_and_is_reopened_for_new_ones() {
    let (hand, url) = Hand::default().start().await;
    let client = legacy(&url).await;
    within(hand.opened.notified()).await;
    let mut subscription = within(client.subscribe(&["test://a"])).await.unwrap();
    hand.refuses_streams.store(true, Ordering::SeqCst);
    hand.cut.notify_one();
    let lost = within(subscription.recv()).await.unwrap();
    assert!(matches!(lost, ClientEvent::NotificationsLost), "{lost:?}");
    assert_eq!(within(subscription.recv()).await.unwrap_err(), ListenError::Closed);
    assert!(!subscription.is_open());

    hand.refuses_streams.store(false, Ordering::SeqCst);
    let streams = hand.streams.load(Ordering::SeqCst);
    let again = within(client.subscribe(&["test://a"])).await.unwrap();
    assert_eq!(hand.subscribed.load(Ordering::SeqCst), 2);
    while hand.streams.load(Ordering::SeqCst) == streams {
        within(hand.opened.notified()).await;
    }
    assert!(again.is_open());
}

#[tokio::test]
async fn a_server_without_a_notification_stream_keeps_subscriptions() {
    let (hand, url) = Hand { has_no_stream: true, ..Hand::default() }.start().await;
    let client = legacy(&url).await;
    let subscription = within(client.subscribe(&["test://a"])).await.unwrap();
    within(hand.opened.notified()).await;
    for _ in 0..20 {
        within(client.ping()).await.unwrap();
    }
    assert!(subscription.is_open());
    assert_eq!(hand.streams.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn a_call_whose_stream_broke_fails_with_the_reason() {
    let (_hand, url) = Hand::default().start().await;
    let client = legacy(&url).await;
    let options = CallOptions::new().timeout(Duration::from_secs(1));
    let error = within(client.call_tool_with("x", (), &options)).await.unwrap_err();
    let broke = matches!(
        &error,
        ClientError::Call { cause: PeerError::TimedOut { last_error: Some(_), .. }, .. }
    );
    assert!(broke, "{error}");
    let expected = "no response within 1s; last error: the connection is lost: the stream ended";
    assert!(error.to_string().contains(expected), "{error}");
}
