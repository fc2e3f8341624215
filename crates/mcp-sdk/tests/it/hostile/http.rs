//! Handwritten, possibly invalid HTTP: one request per connection.

use std::{fmt::Write as _, net::SocketAddr};

use serde_json::Value;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};

/// An HTTP response.
#[derive(Debug)]
pub(super) struct Reply {
    pub(super) status: u16,
    head: String,
    body: String,
}

impl Reply {
    /// The value of a header with this lower-case name.
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        let mut lines = self.head.lines().filter_map(|line| line.split_once(':'));
        lines.find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value.trim())
    }

    /// The messages in the body, which is JSON or an event stream.
    pub(super) fn messages(&self) -> Vec<Value> {
        if self.header("content-type").is_some_and(|kind| kind.contains("event-stream")) {
            let data = self.body.lines().filter_map(|line| line.strip_prefix("data:"));
            return data.filter_map(|text| serde_json::from_str(text).ok()).collect();
        }
        serde_json::from_str(&self.body).into_iter().collect()
    }
}

/// The text of a POST.
pub(super) fn written(headers: &[(&str, String)], body: &str) -> String {
    let mut text = String::from(
        "POST /mcp HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\
         content-type: application/json\r\naccept: application/json, text/event-stream\r\n",
    );
    for (name, value) in headers {
        let _ = write!(text, "{name}: {value}\r\n");
    }
    let _ = write!(text, "content-length: {}\r\n\r\n{body}", body.len());
    text
}

pub(super) async fn post(to: SocketAddr, headers: &[(&str, String)], body: &str) -> Reply {
    let mut stream = TcpStream::connect(to).await.unwrap();
    // It may be rejected before it is fully read.
    let _ = stream.write_all(written(headers, body).as_bytes()).await;
    read(&mut stream).await
}

/// Reads the reply up to the end of the connection.
pub(super) async fn read(stream: &mut TcpStream) -> Reply {
    let mut bytes = Vec::new();
    let _ = stream.read_to_end(&mut bytes).await;
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
    let head = head.to_owned();
    let is_chunked = head.to_ascii_lowercase().contains("transfer-encoding: chunked");
    let body = if is_chunked { unchunked(body) } else { body.to_owned() };
    Reply { status, head, body }
}

fn unchunked(mut rest: &str) -> String {
    let mut whole = String::new();
    while let Some((length, after)) = rest.split_once("\r\n") {
        let length = usize::from_str_radix(length, 16).unwrap_or(0);
        let Some(chunk) = after.get(..length).filter(|chunk| !chunk.is_empty()) else { break };
        whole.push_str(chunk);
        rest = after.get(length + 2..).unwrap_or("");
    }
    whole
}
