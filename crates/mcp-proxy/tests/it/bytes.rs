//! Observed bytes pass untouched.

use mcp_proxy::Policy;

use crate::support::{Proxy, raw_client, raw_server};

/// Sends a request through the proxy; returns what the server got and what the client got.
async fn exchange(request: &[u8], answer: &[u8]) -> (Vec<u8>, Vec<u8>) {
    let expected = request.len() - b"Connection: close\r\n".len();
    let (upstream, serving) = raw_server(expected, answer.to_vec()).await;
    // The name of the server has the length of the one that the client uses.
    let proxy = Proxy::start(upstream, Policy::observe()).await;
    let host = format!("Host: {upstream}");
    let request = String::from_utf8_lossy(request).into_owned();
    let request = request.replace("Host: proxy", &host);
    let answer = raw_client(proxy.address, request.as_bytes()).await;
    let received = serving.await.unwrap();
    proxy.stop().await;
    (received, answer)
}

fn split(message: &[u8]) -> (Vec<String>, Vec<u8>) {
    let end = message.windows(4).position(|window| window == b"\r\n\r\n").unwrap();
    let head = String::from_utf8_lossy(&message[..end]);
    (head.split("\r\n").map(str::to_owned).collect(), message[end + 4..].to_vec())
}

#[tokio::test]
async fn headers_keep_their_order_and_spelling() {
    let body = "not json \u{0} at all";
    let request = format!(
        "POST /mcp?a=b%20c HTTP/1.1\r\nX-First: 1\r\nHost: proxy\r\nmcp-SESSION-id: x\r\n\
         Connection: close\r\nX-Many: a\r\nX-Many: b\r\nContent-Length: {}\r\nX-Last: \t z\r\n\r\n{body}",
        body.len()
    );
    let answer =
        b"HTTP/1.1 418 I'm a teapot\r\nX-B: 1\r\nx-a: 2\r\nContent-Length: 3\r\n\r\n\xff\0x";
    let (received, answered) = exchange(request.as_bytes(), answer).await;
    let (head, text) = split(&received);
    assert_eq!(text, body.as_bytes());
    assert_eq!(head[0], "POST /mcp?a=b%20c HTTP/1.1");
    let names: Vec<&str> = head[1..].iter().map(|line| line.split(':').next().unwrap()).collect();
    let expected =
        ["X-First", "Host", "mcp-SESSION-id", "X-Many", "X-Many", "Content-Length", "X-Last"];
    assert_eq!(names, expected);
    let (head, text) = split(&answered);
    assert_eq!(text, b"\xff\0x");
    assert_eq!(head[0], "HTTP/1.1 418 I'm a teapot");
    assert!(head.contains(&"X-B: 1".to_owned()) && head.contains(&"x-a: 2".to_owned()), "{head:?}");
}

#[tokio::test]
async fn event_streams_pass_with_comments_and_odd_line_breaks() {
    let stream =
        b": hello\r\rdata: 1\r\ndata:2\r\n\r\nid: \xff\nretry: x\n\nevent: e\ndata\n\n: unfinished";
    let mut answer =
        b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n".to_vec();
    answer.extend_from_slice(stream);
    let request = b"GET /mcp HTTP/1.1\r\nHost: proxy\r\nConnection: close\r\n\r\n";
    let (_, answered) = exchange(request, &answer).await;
    let (head, text) = split(&answered);
    assert!(head[0].starts_with("HTTP/1.1 200"), "{head:?}");
    // The body is chunked on the way.
    let text: Vec<u8> = unchunked(&text);
    assert_eq!(text, stream);
}

fn unchunked(mut text: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    while let Some(end) = text.windows(2).position(|window| window == b"\r\n") {
        let length = usize::from_str_radix(std::str::from_utf8(&text[..end]).unwrap(), 16).unwrap();
        out.extend_from_slice(&text[end + 2..end + 2 + length]);
        text = &text[end + 4 + length..];
    }
    out
}
