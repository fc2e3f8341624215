//! A handwritten HTTP server.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use mcp_sdk::core::Revision;
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
};

use super::{builder, initialized, within};

/// One request: its method and its body.
pub(super) async fn read(stream: &mut TcpStream) -> Option<(String, Value)> {
    let mut text = Vec::new();
    loop {
        let mut buffer = [0; 4096];
        let length = stream.read(&mut buffer).await.ok().filter(|length| *length > 0)?;
        text.extend_from_slice(&buffer[..length]);
        let text = String::from_utf8_lossy(&text);
        let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
        if body.len() >= length.map_or(0, |length| length.parse().unwrap()) {
            let word = head.split(' ').next().unwrap_or_default().to_owned();
            return Some((word, serde_json::from_str(body).unwrap_or_default()));
        }
    }
}

pub(super) fn json_reply(body: &Value) -> String {
    let body = body.to_string();
    let length = body.len();
    format!(
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}"
    )
}

async fn serve(mut stream: TcpStream, streams: Arc<AtomicUsize>) {
    while let Some((word, request)) = read(&mut stream).await {
        if word == "GET" {
            streams.fetch_add(1, Ordering::SeqCst);
            let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n";
            stream.write_all(head.as_bytes()).await.unwrap();
            return std::future::pending().await;
        }
        let result = match request["method"].as_str() {
            Some("initialize") => initialized("2025-11-25", json!({})),
            _ => json!({}),
        };
        let body = json!({ "jsonrpc": "2.0", "id": request["id"], "result": result });
        let reply = if request.get("id").is_some() {
            json_reply(&body)
        } else {
            "HTTP/1.1 202 Accepted\r\ncontent-length: 0\r\n\r\n".to_owned()
        };
        stream.write_all(reply.as_bytes()).await.unwrap();
    }
}

#[tokio::test]
async fn a_session_has_one_stream_for_notifications() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    let streams = Arc::<AtomicUsize>::default();
    let seen = Arc::clone(&streams);
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(serve(stream, Arc::clone(&seen)));
        }
    });
    let connecting = builder().revision(Revision::LATEST_LEGACY).connect_http(&url);
    let client = within(connecting).await.unwrap();
    for _ in 0..20 {
        within(client.ping()).await.unwrap();
    }
    assert_eq!(streams.load(Ordering::SeqCst), 1);
}
