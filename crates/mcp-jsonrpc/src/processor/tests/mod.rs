use std::{
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

use bytes::Bytes;
use mcp_core::{
    BoxFuture, Call, Clock, Handler, Inbound, Json, Notification, Outbound, OutgoingRequest, Peer,
    PeerError, Refusal, RefusalReason, Request, Response, Revision, Side, Ticket, Transport,
    TransportError, UncheckedResponse,
};
use mcp_json::{Parsed, SyntaxError};
use tokio::sync::{Mutex as AsyncMutex, mpsc};

mod limits;
mod order;
mod overlong;

use super::{JsonRpcPeer, JsonRpcProcessor, ProcessorSettings};
use crate::{Gate, JsonRpcTransport, OpenGate, Verdict};

/// The size limit of outgoing messages, in bytes.
const LIMIT: usize = 1000;

/// A transport whose peer is the test.
#[derive(Debug)]
struct Wire {
    incoming: AsyncMutex<mpsc::UnboundedReceiver<Inbound>>,
    outgoing: mpsc::UnboundedSender<String>,
    finished: Arc<Mutex<Vec<Ticket>>>,
    established: Arc<Mutex<Option<Revision>>>,
}

impl Transport for Wire {
    fn receive(&self) -> BoxFuture<'_, Result<Option<Inbound>, TransportError>> {
        Box::pin(async { Ok(self.incoming.lock().await.recv().await) })
    }

    fn send(&self, outbound: Outbound) -> BoxFuture<'_, Result<(), TransportError>> {
        let (length, limit) = (outbound.bytes.len() as u64, LIMIT as u64);
        let text = String::from_utf8_lossy(&outbound.bytes).into_owned();
        let sent = if length > limit {
            Err(TransportError::TooLong { length, limit })
        } else {
            self.outgoing.send(text).map_err(|_| TransportError::Closed)
        };
        Box::pin(std::future::ready(sent))
    }

    fn finish_exchange(&self, ticket: Ticket) {
        self.finished.lock().unwrap_or_else(PoisonError::into_inner).push(ticket);
    }

    fn established(&self, revision: Revision) {
        *self.established.lock().unwrap_or_else(PoisonError::into_inner) = Some(revision);
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        Box::pin(std::future::ready(()))
    }
}

#[derive(Debug)]
struct TestClock;

impl Clock for TestClock {
    fn elapsed(&self) -> Duration {
        Duration::ZERO
    }

    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()> {
        Box::pin(tokio::time::sleep(duration))
    }
}

/// Answers `wait` never, `long` with too much text and `half` with half as much, everything else
/// with `{}`; a notification `panic` makes it panic.
#[derive(Debug)]
struct Toy(Option<Revision>);

impl Handler for Toy {
    fn handle_request(&self, request: Request, _: Call) -> BoxFuture<'_, UncheckedResponse> {
        Box::pin(async move {
            if request.method == "wait" {
                std::future::pending::<()>().await;
            }
            let outcome = Ok(match &*request.method {
                "long" => Json::of(&"x".repeat(LIMIT)).unwrap(),
                "half" => Json::of(&"x".repeat(LIMIT / 2)).unwrap(),
                _ => Json::empty_object(),
            });
            Response { id: request.id, revision: Revision::LATEST_LEGACY, outcome }.into()
        })
    }

    fn handle_notification(
        &self,
        notification: Notification,
        _: Arc<dyn Peer>,
    ) -> BoxFuture<'_, ()> {
        assert_ne!(notification.method, "panic", "on purpose");
        Box::pin(std::future::ready(()))
    }

    fn revision(&self) -> Option<Revision> {
        self.0
    }
}

/// Rejects every message from this side.
#[derive(Debug)]
struct RejectAll(Side);

impl Gate for RejectAll {
    fn judge(&mut self, from: Side, _: &Parsed) -> Verdict {
        self.refuse(from)
    }

    fn judge_unreadable(&mut self, from: Side, _: &[u8], _: &SyntaxError) -> Verdict {
        self.refuse(from)
    }
}

impl RejectAll {
    fn refuse(&self, from: Side) -> Verdict {
        if from != self.0 {
            return Verdict::PASS;
        }
        let message = "not today".to_owned();
        let refusal = Refusal {
            index: None,
            reason: RefusalReason::Invalid,
            message,
            findings: Vec::new(),
            facts: None,
        };
        Verdict { refusals: vec![refusal] }
    }
}

/// The test's end of a conversation.
struct Remote {
    peer: JsonRpcPeer<Wire>,
    incoming: mpsc::UnboundedSender<Inbound>,
    outgoing: mpsc::UnboundedReceiver<String>,
    finished: Arc<Mutex<Vec<Ticket>>>,
    established: Arc<Mutex<Option<Revision>>>,
    running: tokio::task::JoinHandle<Result<(), TransportError>>,
}

impl Remote {
    fn new(side: Side, revision: Revision, gate: Box<dyn Gate>) -> Remote {
        Remote::with_settings(side, revision, gate, |_| ())
    }

    fn with_settings(
        side: Side,
        revision: Revision,
        gate: Box<dyn Gate>,
        change: impl FnOnce(&mut ProcessorSettings),
    ) -> Remote {
        let (incoming, receiver) = mpsc::unbounded_channel();
        let (sender, outgoing) = mpsc::unbounded_channel();
        let (finished, established) = (Arc::default(), Arc::default());
        let wire = Wire {
            incoming: AsyncMutex::new(receiver),
            outgoing: sender,
            finished: Arc::clone(&finished),
            established: Arc::clone(&established),
        };
        let transport = JsonRpcTransport::new(wire, side, gate);
        let mut settings = ProcessorSettings::new(Arc::new(TestClock));
        change(&mut settings);
        let processor =
            JsonRpcProcessor::with_handler(transport, Arc::new(Toy(Some(revision))), settings);
        let peer = processor.peer();
        let running = tokio::spawn(processor.run());
        Remote { peer, incoming, outgoing, finished, established, running }
    }

    fn send(&self, ticket: Option<u64>, text: &str) {
        let bytes = Bytes::copy_from_slice(text.as_bytes());
        let ticket = ticket.map(Ticket);
        self.incoming.send(Inbound::Message { ticket, bytes }).unwrap();
    }

    async fn receive(&mut self) -> String {
        let message = tokio::time::timeout(Duration::from_secs(30), self.outgoing.recv());
        message.await.expect("a message is sent").unwrap()
    }

    /// Makes a request of our own and waits until it is sent.
    async fn ask(&mut self) -> tokio::task::JoinHandle<Result<Json, PeerError>> {
        let peer = self.peer.clone();
        let asked =
            tokio::spawn(async move { peer.request(OutgoingRequest::new("ask", None)).await });
        assert!(self.receive().await.contains(r#""method":"ask""#));
        asked
    }

    /// Closes the peer's end and returns what was sent until then.
    async fn end(mut self) -> Vec<String> {
        drop(self.incoming);
        self.running.await.unwrap().unwrap();
        let mut sent = Vec::new();
        while let Ok(text) = self.outgoing.try_recv() {
            sent.push(text);
        }
        sent
    }
}

#[tokio::test]
async fn a_response_that_is_too_long_becomes_an_error() {
    let mut remote = Remote::new(Side::Server, Revision::LATEST, Box::new(OpenGate));
    remote.send(None, r#"{"jsonrpc":"2.0","id":1,"method":"long"}"#);
    let answer = remote.receive().await;
    assert!(answer.contains(r#""id":1,"error":{"code":-32603,"#), "{answer}");
    assert!(answer.contains("exceeds the limit of 1000"), "{answer}");
}

#[tokio::test]
async fn each_response_of_a_batch_that_is_too_long_becomes_an_error() {
    let mut remote = Remote::new(Side::Server, Revision::V2025_03_26, Box::new(OpenGate));
    let half = |id| format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"half"}}"#);
    remote.send(Some(1), &format!("[{},{}]", half(1), half(2)));
    let answer = remote.receive().await;
    for id in [1, 2] {
        let expected = format!(r#""id":{id},"error":{{"code":-32603,"#);
        assert!(answer.contains(&expected), "{answer}");
    }
}

#[tokio::test]
async fn a_request_that_is_too_long_fails() {
    let remote = Remote::new(Side::Client, Revision::LATEST, Box::new(OpenGate));
    let params = Json::of(&["x".repeat(LIMIT)]).unwrap();
    let refused = remote.peer.request(OutgoingRequest::new("ask", Some(params))).await.unwrap_err();
    assert!(matches!(refused, PeerError::NotSent { .. }), "{refused}");
    assert!(refused.to_string().contains("exceeds the limit of 1000"), "{refused}");
    assert_eq!(remote.end().await, Vec::<String>::new());
}

#[tokio::test]
async fn a_request_that_was_not_sent_is_not_cancelled() {
    let remote = Remote::new(Side::Client, Revision::LATEST, Box::new(RejectAll(Side::Client)));
    let refused = remote.peer.request(OutgoingRequest::new("ask", None)).await;
    assert!(matches!(refused, Err(PeerError::NotSent { .. })), "{refused:?}");
    assert_eq!(*remote.finished.lock().unwrap(), []);
    assert_eq!(remote.end().await, Vec::<String>::new());
}

#[tokio::test]
async fn pending_requests_fail_when_the_conversation_is_dropped() {
    let mut remote = Remote::new(Side::Client, Revision::LATEST, Box::new(OpenGate));
    let asked = remote.ask().await;
    remote.running.abort();
    assert!(matches!(asked.await.unwrap(), Err(PeerError::Closed(_))));
    let late = remote.peer.request(OutgoingRequest::new("ask", None)).await;
    assert!(matches!(late, Err(PeerError::Closed(_))), "{late:?}");
}

#[tokio::test]
async fn a_panic_in_a_notification_handler_does_not_end_the_conversation() {
    let mut remote = Remote::new(Side::Server, Revision::LATEST_LEGACY, Box::new(OpenGate));
    remote.send(None, r#"{"jsonrpc":"2.0","method":"panic"}"#);
    remote.send(None, r#"{"jsonrpc":"2.0","id":1,"method":"ask"}"#);
    assert_eq!(remote.receive().await, r#"{"jsonrpc":"2.0","id":1,"result":{}}"#);
}

#[tokio::test]
async fn a_response_in_a_rejected_batch_fails_its_request() {
    let mut remote = Remote::new(Side::Client, Revision::LATEST, Box::new(OpenGate));
    let asked = remote.ask().await;
    remote.send(Some(1), r#"[{"jsonrpc":"2.0","id":1,"result":{}}]"#);
    assert!(matches!(asked.await.unwrap(), Err(PeerError::InvalidResponse { .. })));
    assert_eq!(*remote.finished.lock().unwrap(), [Ticket(1)]);
    assert_eq!(remote.end().await, Vec::<String>::new());
}

#[tokio::test]
async fn a_response_after_a_byte_order_mark_fails_its_request_with_the_reason() {
    let mut remote = Remote::new(Side::Client, Revision::LATEST, Box::new(OpenGate));
    let asked = remote.ask().await;
    remote.send(None, "\u{feff}{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}");
    let failed = tokio::time::timeout(Duration::from_secs(30), asked).await.unwrap().unwrap();
    assert!(failed.unwrap_err().to_string().contains("byte order mark"));
    remote.send(None, "\u{feff}");
    assert_eq!(remote.end().await, Vec::<String>::new());
}

#[tokio::test]
async fn a_request_after_a_byte_order_mark_gets_an_error() {
    let mut remote = Remote::new(Side::Server, Revision::LATEST_LEGACY, Box::new(OpenGate));
    remote.send(None, "\u{feff}{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ask\"}");
    let response = remote.receive().await;
    assert!(response.starts_with(r#"{"jsonrpc":"2.0","error":{"code":-32700,"#), "{response}");
    assert!(response.contains("byte order mark"), "{response}");
}

#[tokio::test]
async fn a_rejected_response_ends_its_exchange() {
    let mut remote = Remote::new(Side::Client, Revision::LATEST, Box::new(RejectAll(Side::Server)));
    let asked = remote.ask().await;
    remote.send(Some(1), r#"{"jsonrpc":"2.0","id":1,"result":{}}"#);
    assert!(matches!(asked.await.unwrap(), Err(PeerError::InvalidResponse { .. })));
    assert_eq!(*remote.finished.lock().unwrap(), [Ticket(1)]);
}

#[tokio::test]
async fn an_invalid_response_in_a_batch_fails_its_request() {
    for side in [Side::Client, Side::Server] {
        let mut remote = Remote::new(side, Revision::V2025_03_26, Box::new(OpenGate));
        let asked = remote.ask().await;
        let both = r#"[{"jsonrpc":"2.0","id":1,"result":{},"error":{"code":1,"message":"x"}}]"#;
        remote.send(None, both);
        let failed = tokio::time::timeout(Duration::from_secs(30), asked).await.unwrap().unwrap();
        assert!(matches!(failed, Err(PeerError::InvalidResponse { .. })), "{failed:?}");
        assert_eq!(remote.end().await, Vec::<String>::new());
    }
}

#[tokio::test]
async fn an_exchange_ends_even_if_its_message_was_meant_as_a_response() {
    let mut remote = Remote::new(Side::Server, Revision::V2025_03_26, Box::new(OpenGate));
    let asked = remote.ask().await;
    remote.send(Some(7), r#"{"jsonrpc":"2.0","id":1,"metod":"ping"}"#);
    let response = tokio::time::timeout(Duration::from_secs(30), remote.receive()).await.unwrap();
    assert!(response.contains(r#""id":1,"error":{"code":-32600,"#), "{response}");
    asked.await.unwrap().unwrap_err();
    let asked = remote.ask().await;
    remote.send(Some(8), r#"[{"jsonrpc":"2.0","id":2,"metod":"ping"}]"#);
    asked.await.unwrap().unwrap_err();
    let finished = Arc::clone(&remote.finished);
    assert_eq!(remote.end().await, Vec::<String>::new());
    assert_eq!(*finished.lock().unwrap(), [Ticket(8)]);
}

#[tokio::test]
async fn a_batch_of_cancelled_requests_ends_its_exchange() {
    let remote = Remote::new(Side::Server, Revision::V2025_03_26, Box::new(OpenGate));
    remote.send(Some(7), r#"[{"jsonrpc":"2.0","id":1,"method":"wait"}]"#);
    remote.send(None, CANCEL);
    let finished = Arc::clone(&remote.finished);
    assert_eq!(remote.end().await, Vec::<String>::new());
    assert_eq!(*finished.lock().unwrap(), [Ticket(7)]);
}

const CANCEL: &str =
    r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#;

#[tokio::test]
async fn a_stateless_server_can_cancel_a_request_of_the_client() {
    let mut remote = Remote::new(Side::Client, Revision::LATEST, Box::new(OpenGate));
    let asked = remote.ask().await;
    remote.send(None, CANCEL);
    assert!(matches!(asked.await.unwrap(), Err(PeerError::Unanswered)));
}

#[tokio::test]
async fn a_server_of_the_handshake_era_cancels_only_its_own_requests() {
    let mut remote = Remote::new(Side::Client, Revision::LATEST_LEGACY, Box::new(OpenGate));
    let asked = remote.ask().await;
    remote.send(None, CANCEL);
    remote.send(None, r#"{"jsonrpc":"2.0","id":1,"result":{}}"#);
    assert_eq!(asked.await.unwrap(), Ok(Json::empty_object()));
}

#[tokio::test]
async fn the_transport_of_a_server_is_told_the_negotiated_revision() {
    let mut remote = Remote::new(Side::Server, Revision::V2025_06_18, Box::new(OpenGate));
    remote.send(None, r#"{"jsonrpc":"2.0","id":1,"method":"ask"}"#);
    remote.receive().await;
    assert_eq!(*remote.established.lock().unwrap(), None);
    remote.send(None, r#"{"jsonrpc":"2.0","id":2,"method":"initialize"}"#);
    remote.receive().await;
    assert_eq!(*remote.established.lock().unwrap(), Some(Revision::V2025_06_18));
}

/// Delivers messages without pause until something is sent.
#[derive(Debug, Default)]
struct Flood {
    sent: AtomicUsize,
    has_sent: AtomicBool,
}

/// More messages than may be received before something is sent.
const FLOOD: usize = 100_000;

impl Transport for Flood {
    fn receive(&self) -> BoxFuture<'_, Result<Option<Inbound>, TransportError>> {
        let is_over = self.has_sent.load(Ordering::Relaxed)
            || self.sent.fetch_add(1, Ordering::Relaxed) > FLOOD;
        let bytes = Bytes::from_static(br#"{"jsonrpc":"2.0","method":"more"}"#);
        let message = Inbound::Message { ticket: None, bytes };
        Box::pin(std::future::ready(Ok((!is_over).then_some(message))))
    }

    fn send(&self, _: Outbound) -> BoxFuture<'_, Result<(), TransportError>> {
        self.has_sent.store(true, Ordering::Relaxed);
        Box::pin(std::future::ready(Ok(())))
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        Box::pin(std::future::ready(()))
    }
}

/// Sends a notification as soon as it gets a turn.
#[derive(Debug)]
struct Notifier;

impl Handler for Notifier {
    fn handle_request(&self, _: Request, _: Call) -> BoxFuture<'_, UncheckedResponse> {
        Box::pin(std::future::pending())
    }

    fn handle_notification(&self, _: Notification, _: Arc<dyn Peer>) -> BoxFuture<'_, ()> {
        Box::pin(std::future::ready(()))
    }

    fn run_background(&self, peer: Arc<dyn Peer>) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            let notification = Notification { method: "news".into(), params: None };
            peer.notify(notification).await.unwrap();
        })
    }
}

fn flooded() -> (Arc<Flood>, JsonRpcProcessor<Arc<Flood>>) {
    let flood = Arc::new(Flood::default());
    let transport = JsonRpcTransport::new(Arc::clone(&flood), Side::Server, Box::new(OpenGate));
    let settings = ProcessorSettings::new(Arc::new(TestClock));
    let processor = JsonRpcProcessor::with_handler(transport, Arc::new(Notifier), settings);
    (flood, processor)
}

#[tokio::test]
async fn a_flood_does_not_starve_notifications() {
    let (flood, processor) = flooded();
    processor.run().await.unwrap();
    assert!(flood.sent.load(Ordering::Relaxed) < FLOOD, "nothing was sent meanwhile");
}

#[tokio::test]
async fn a_flood_does_not_prevent_closing() {
    let (flood, processor) = flooded();
    processor.peer().close();
    processor.run().await.unwrap();
    assert!(flood.sent.load(Ordering::Relaxed) < FLOOD, "it went on");
}
