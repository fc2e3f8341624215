//! Resumes the stream of a POST that ends before the answer: up to 2025-11-25 a server may close the
//! connection at any time and keep the answer for a client that reconnects.

use std::{sync::Arc, time::Duration};

use mcp_core::Era;
use serde_json::Value;

use super::{Http, HttpRequest, Mutex, PoisonError, Shared};

/// Delay before a stream is resumed, if the server sends no `retry`.
const WAIT: Duration = Duration::from_millis(200);
/// Maximum number of times a stream is resumed.
const TIMES: usize = 50;

impl Shared {
    /// Resumes the stream that began to answer `request` until the answer arrives, as long as the
    /// server sends event ids to resume from.
    pub(super) async fn resume(
        self: &Arc<Self>,
        mut exchange: u64,
        request: &HttpRequest,
        mut retry: Option<Duration>,
    ) {
        let Some(id) = self.resumable(request) else { return };
        for _ in 0..TIMES {
            if self.inbox.has_answer(&id) {
                return;
            }
            let Some(after) = self.last_event_id(exchange) else { return };
            tokio::time::sleep(retry.unwrap_or(WAIT).min(self.limits.answer / 4)).await;
            let http = Http { shared: Arc::clone(self), tasks: Mutex::default() };
            let get = http.get().with("Last-Event-ID", &after);
            let next = self.next_exchange();
            let line = self.record_request(next, &get);
            let Ok((_, Some(body))) = self.begin(next, line, &get).await else { return };
            retry = Arc::clone(self).stream(next, body).await.or(retry);
            // A stream that brought nothing new is resumed where it was before.
            if self.last_event_id(next).is_some() {
                exchange = next;
            }
        }
    }

    /// The id of the request that was posted, as it is spelled, if its stream may be resumed.
    fn resumable(&self, request: &HttpRequest) -> Option<String> {
        if self.revision.era() != Era::Legacy || request.method != "POST" {
            return None;
        }
        let message: Value = serde_json::from_slice(&request.body).ok()?;
        message.get("method")?;
        Some(message.get("id")?.to_string())
    }

    /// The id of the last event received in an exchange.
    fn last_event_id(&self, exchange: u64) -> Option<String> {
        let seen = self.event_ids.lock().unwrap_or_else(PoisonError::into_inner);
        let last = seen.iter().rev().find(|(other, ..)| *other == exchange);
        last.map(|(.., id)| id.clone())
    }
}

#[cfg(test)]
mod tests {
    use http::HeaderMap;
    use mcp_core::Revision;
    use mcp_rules::{Engine, Settings};
    use mcp_schema::Schemas;
    use tokio::{
        io::{AsyncReadExt as _, AsyncWriteExt as _},
        net::TcpListener,
        sync::mpsc,
    };

    use super::*;
    use crate::{Limits, Opening, Recording, conversation::Inbox};

    const CALL: &str = r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"a"}}"#;
    const POLL_LATER: &str = "id: 1\ndata: \n\nretry: 10\n\n";
    const ANSWER: &str = "id: 2\ndata: {\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{}}\n\n";

    /// What a server was sent that answers each request with the next of these streams.
    async fn sent_to(streams: &'static [&'static str], revision: Revision) -> Vec<String> {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/mcp", listener.local_addr().unwrap()).parse().unwrap();
        let (heads, mut sent) = mpsc::channel(8);
        tokio::spawn(async move {
            for stream in streams {
                let (mut connection, _) = listener.accept().await.unwrap();
                let mut buffer = [0; 4096];
                let count = connection.read(&mut buffer).await.unwrap();
                heads.send(String::from_utf8_lossy(&buffer[..count]).into_owned()).await.unwrap();
                let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\
                            connection: close\r\n\r\n";
                connection.write_all(head.as_bytes()).await.unwrap();
                connection.write_all(stream.as_bytes()).await.unwrap();
            }
        });
        let engine = Arc::new(Engine::new(Schemas::embedded(), Settings::default()));
        let recording = Arc::new(Recording::new("test", engine));
        let (inbox, opening) = (Arc::new(Inbox::default()), Opening::at(revision));
        let limits = Limits::default();
        let http = Http::new(&url, &HeaderMap::new(), &recording, &inbox, &opening, &limits);
        let http = http.unwrap();
        let request = http.post(CALL.as_bytes());
        let exchange = http.shared.next_exchange();
        let line = http.shared.record_request(exchange, &request);
        Arc::clone(&http.shared).run(exchange, line, request).await;
        assert_eq!(inbox.has_answer("7"), streams.contains(&ANSWER));
        let mut all = Vec::new();
        while let Ok(head) = sent.try_recv() {
            all.push(head);
        }
        all
    }

    #[tokio::test]
    async fn a_stream_that_ends_early_is_resumed_until_the_answer_comes() {
        let streams = &[POLL_LATER, "retry: 10\n\n", ANSWER];
        let sent = sent_to(streams, Revision::V2025_11_25).await;
        assert_eq!(sent.len(), 3);
        for get in &sent[1..] {
            assert!(get.starts_with("GET /mcp ") && get.contains("last-event-id: 1\r\n"), "{get}");
        }
    }

    #[tokio::test]
    async fn a_stream_without_ids_and_one_of_2026_07_28_just_end() {
        assert_eq!(sent_to(&["data: \n\n"], Revision::V2025_11_25).await.len(), 1);
        assert_eq!(sent_to(&[POLL_LATER], Revision::V2026_07_28).await.len(), 1);
    }

    #[tokio::test]
    async fn a_body_says_how_long_it_is() {
        let sent = sent_to(&[ANSWER], Revision::V2025_11_25).await;
        let length = format!("content-length: {}\r\n", CALL.len());
        assert!(sent[0].contains(&length) && !sent[0].contains("chunked"), "{}", sent[0]);
    }
}
