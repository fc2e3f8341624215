use std::{
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

use bytes::Bytes;
use mcp_core::{
    Answer, Ask, BoxFuture, Call, Clock, Handler, Inbound, Json, Notification, Outbound, Peer,
    PeerError, Refusal, RefusalReason, Request, Response, Revision, Side, Ticket, Transport,
    TransportError,
};
use mcp_json::{Parsed, SyntaxError};
use tokio::sync::{Mutex as AsyncMutex, mpsc};

mod overlong;

use super::{JsonRpcPeer, JsonRpcProcessor, ProcessorSettings};
use crate::{Gate, JsonRpcTransport, OpenGate, Verdict};

/// The longest message that is sent, in bytes.
const LIMIT: usize = 1000;

/// A transport whose other side is the test.
#[derive(Debug)]
struct Wire {
    incoming: AsyncMutex<mpsc::UnboundedReceiver<Inbound>>,
    outgoing: mpsc::UnboundedSender<String>,
    settled: Arc<Mutex<Vec<Ticket>>>,
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

    fn settle(&self, ticket: Ticket) {
        self.settled.lock().unwrap_or_else(PoisonError::into_inner).push(ticket);
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
    fn handle_request(&self, request: Request, _: Call) -> BoxFuture<'_, Answer> {
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

/// Refuses whatever this side sends.
#[derive(Debug)]
struct Shut(Side);

impl Gate for Shut {
    fn judge(&mut self, from: Side, _: &Parsed) -> Verdict {
        self.refuse(from)
    }

    fn judge_unreadable(&mut self, from: Side, _: &[u8], _: &SyntaxError) -> Verdict {
        self.refuse(from)
    }
}

impl Shut {
    fn refuse(&self, from: Side) -> Verdict {
        if from != self.0 {
            return Verdict::PASS;
        }
        let message = "not today".to_owned();
        let refusal =
            Refusal { index: None, reason: RefusalReason::Invalid, message, findings: Vec::new() };
        Verdict { refusals: vec![refusal] }
    }
}

/// What the test holds of a conversation.
struct Far {
    peer: JsonRpcPeer<Wire>,
    incoming: mpsc::UnboundedSender<Inbound>,
    outgoing: mpsc::UnboundedReceiver<String>,
    settled: Arc<Mutex<Vec<Ticket>>>,
    established: Arc<Mutex<Option<Revision>>>,
    running: tokio::task::JoinHandle<Result<(), TransportError>>,
}

impl Far {
    fn new(side: Side, revision: Revision, gate: Box<dyn Gate>) -> Far {
        let (incoming, receiver) = mpsc::unbounded_channel();
        let (sender, outgoing) = mpsc::unbounded_channel();
        let (settled, established) = (Arc::default(), Arc::default());
        let wire = Wire {
            incoming: AsyncMutex::new(receiver),
            outgoing: sender,
            settled: Arc::clone(&settled),
            established: Arc::clone(&established),
        };
        let transport = JsonRpcTransport::new(wire, side, gate);
        let settings = ProcessorSettings::new(Arc::new(TestClock));
        let processor =
            JsonRpcProcessor::with_handler(transport, Arc::new(Toy(Some(revision))), settings);
        let peer = processor.peer();
        let running = tokio::spawn(processor.run());
        Far { peer, incoming, outgoing, settled, established, running }
    }

    fn say(&self, ticket: Option<u64>, text: &str) {
        let bytes = Bytes::copy_from_slice(text.as_bytes());
        let ticket = ticket.map(Ticket);
        self.incoming.send(Inbound::Message { ticket, bytes }).unwrap();
    }

    async fn hear(&mut self) -> String {
        let heard = tokio::time::timeout(Duration::from_secs(30), self.outgoing.recv());
        heard.await.expect("something is said").unwrap()
    }

    /// Asks something of our own and waits until it is sent.
    async fn ask(&mut self) -> tokio::task::JoinHandle<Result<Json, PeerError>> {
        let peer = self.peer.clone();
        let asked = tokio::spawn(async move { peer.request(Ask::new("ask", None)).await });
        assert!(self.hear().await.contains(r#""method":"ask""#));
        asked
    }

    /// Lets the other side end, and gives what was sent until then.
    async fn end(mut self) -> Vec<String> {
        drop(self.incoming);
        self.running.await.unwrap().unwrap();
        let mut said = Vec::new();
        while let Ok(text) = self.outgoing.try_recv() {
            said.push(text);
        }
        said
    }
}

#[tokio::test]
async fn who_waits_for_an_answer_that_is_too_long_is_told() {
    let mut far = Far::new(Side::Server, Revision::LATEST, Box::new(OpenGate));
    far.say(None, r#"{"jsonrpc":"2.0","id":1,"method":"long"}"#);
    let answer = far.hear().await;
    assert!(answer.contains(r#""id":1,"error":{"code":-32603,"#), "{answer}");
    assert!(answer.contains("exceeds the limit of 1000"), "{answer}");
}

#[tokio::test]
async fn who_waits_for_a_batch_of_answers_that_is_too_long_is_told_about_each() {
    let mut far = Far::new(Side::Server, Revision::V2025_03_26, Box::new(OpenGate));
    let half = |id| format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"half"}}"#);
    far.say(Some(1), &format!("[{},{}]", half(1), half(2)));
    let answer = far.hear().await;
    for id in [1, 2] {
        let told = format!(r#""id":{id},"error":{{"code":-32603,"#);
        assert!(answer.contains(&told), "{answer}");
    }
}

#[tokio::test]
async fn who_asks_something_that_is_too_long_is_told() {
    let far = Far::new(Side::Client, Revision::LATEST, Box::new(OpenGate));
    let params = Json::of(&["x".repeat(LIMIT)]).unwrap();
    let refused = far.peer.request(Ask::new("ask", Some(params))).await.unwrap_err();
    assert!(matches!(refused, PeerError::NotSent { .. }), "{refused}");
    assert!(refused.to_string().contains("exceeds the limit of 1000"), "{refused}");
    assert_eq!(far.end().await, Vec::<String>::new());
}

#[tokio::test]
async fn a_request_that_was_not_sent_is_not_cancelled() {
    let far = Far::new(Side::Client, Revision::LATEST, Box::new(Shut(Side::Client)));
    let refused = far.peer.request(Ask::new("ask", None)).await;
    assert!(matches!(refused, Err(PeerError::NotSent { .. })), "{refused:?}");
    assert_eq!(*far.settled.lock().unwrap(), []);
    assert_eq!(far.end().await, Vec::<String>::new());
}

#[tokio::test]
async fn who_waits_hears_that_the_conversation_was_broken_off() {
    let mut far = Far::new(Side::Client, Revision::LATEST, Box::new(OpenGate));
    let asked = far.ask().await;
    far.running.abort();
    assert!(matches!(asked.await.unwrap(), Err(PeerError::Gone(_))));
    let late = far.peer.request(Ask::new("ask", None)).await;
    assert!(matches!(late, Err(PeerError::Gone(_))), "{late:?}");
}

#[tokio::test]
async fn a_notification_that_makes_its_handler_panic_ends_nothing() {
    let mut far = Far::new(Side::Server, Revision::LATEST_LEGACY, Box::new(OpenGate));
    far.say(None, r#"{"jsonrpc":"2.0","method":"panic"}"#);
    far.say(None, r#"{"jsonrpc":"2.0","id":1,"method":"ask"}"#);
    assert_eq!(far.hear().await, r#"{"jsonrpc":"2.0","id":1,"result":{}}"#);
}

#[tokio::test]
async fn an_answer_in_a_batch_that_is_not_taken_fails_its_call_and_is_not_answered() {
    let mut far = Far::new(Side::Client, Revision::LATEST, Box::new(OpenGate));
    let asked = far.ask().await;
    far.say(Some(1), r#"[{"jsonrpc":"2.0","id":1,"result":{}}]"#);
    assert!(matches!(asked.await.unwrap(), Err(PeerError::InvalidAnswer { .. })));
    assert_eq!(*far.settled.lock().unwrap(), [Ticket(1)]);
    assert_eq!(far.end().await, Vec::<String>::new());
}

#[tokio::test]
async fn an_answer_behind_a_byte_order_mark_fails_its_call_and_says_so() {
    let mut far = Far::new(Side::Client, Revision::LATEST, Box::new(OpenGate));
    let asked = far.ask().await;
    far.say(None, "\u{feff}{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}");
    let failed = tokio::time::timeout(Duration::from_secs(30), asked).await.unwrap().unwrap();
    assert!(failed.unwrap_err().to_string().contains("byte order mark"));
    far.say(None, "\u{feff}");
    assert_eq!(far.end().await, Vec::<String>::new());
}

#[tokio::test]
async fn a_request_behind_a_byte_order_mark_is_told_so() {
    let mut far = Far::new(Side::Server, Revision::LATEST_LEGACY, Box::new(OpenGate));
    far.say(None, "\u{feff}{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ask\"}");
    let said = far.hear().await;
    assert!(said.starts_with(r#"{"jsonrpc":"2.0","error":{"code":-32700,"#), "{said}");
    assert!(said.contains("byte order mark"), "{said}");
}

#[tokio::test]
async fn a_refused_answer_ends_its_exchange() {
    let mut far = Far::new(Side::Client, Revision::LATEST, Box::new(Shut(Side::Server)));
    let asked = far.ask().await;
    far.say(Some(1), r#"{"jsonrpc":"2.0","id":1,"result":{}}"#);
    assert!(matches!(asked.await.unwrap(), Err(PeerError::InvalidAnswer { .. })));
    assert_eq!(*far.settled.lock().unwrap(), [Ticket(1)]);
}

#[tokio::test]
async fn what_was_meant_as_an_answer_in_a_batch_fails_its_call_and_is_not_answered() {
    for side in [Side::Client, Side::Server] {
        let mut far = Far::new(side, Revision::V2025_03_26, Box::new(OpenGate));
        let asked = far.ask().await;
        let both = r#"[{"jsonrpc":"2.0","id":1,"result":{},"error":{"code":1,"message":"x"}}]"#;
        far.say(None, both);
        let failed = tokio::time::timeout(Duration::from_secs(30), asked).await.unwrap().unwrap();
        assert!(matches!(failed, Err(PeerError::InvalidAnswer { .. })), "{failed:?}");
        assert_eq!(far.end().await, Vec::<String>::new());
    }
}

#[tokio::test]
async fn an_exchange_never_waits_for_what_was_meant_as_an_answer() {
    let mut far = Far::new(Side::Server, Revision::V2025_03_26, Box::new(OpenGate));
    let asked = far.ask().await;
    far.say(Some(7), r#"{"jsonrpc":"2.0","id":1,"metod":"ping"}"#);
    let said = tokio::time::timeout(Duration::from_secs(30), far.hear()).await.unwrap();
    assert!(said.contains(r#""id":1,"error":{"code":-32600,"#), "{said}");
    asked.await.unwrap().unwrap_err();
    let asked = far.ask().await;
    far.say(Some(8), r#"[{"jsonrpc":"2.0","id":2,"metod":"ping"}]"#);
    asked.await.unwrap().unwrap_err();
    let settled = Arc::clone(&far.settled);
    assert_eq!(far.end().await, Vec::<String>::new());
    assert_eq!(*settled.lock().unwrap(), [Ticket(8)]);
}

#[tokio::test]
async fn a_batch_of_cancelled_requests_ends_its_exchange() {
    let far = Far::new(Side::Server, Revision::V2025_03_26, Box::new(OpenGate));
    far.say(Some(7), r#"[{"jsonrpc":"2.0","id":1,"method":"wait"}]"#);
    far.say(None, CANCEL);
    let settled = Arc::clone(&far.settled);
    assert_eq!(far.end().await, Vec::<String>::new());
    assert_eq!(*settled.lock().unwrap(), [Ticket(7)]);
}

const CANCEL: &str =
    r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#;

#[tokio::test]
async fn a_stateless_server_can_end_a_request_of_the_client() {
    let mut far = Far::new(Side::Client, Revision::LATEST, Box::new(OpenGate));
    let asked = far.ask().await;
    far.say(None, CANCEL);
    assert!(matches!(asked.await.unwrap(), Err(PeerError::Unanswered)));
}

#[tokio::test]
async fn a_server_of_the_handshake_era_cancels_requests_of_its_own_only() {
    let mut far = Far::new(Side::Client, Revision::LATEST_LEGACY, Box::new(OpenGate));
    let asked = far.ask().await;
    far.say(None, CANCEL);
    far.say(None, r#"{"jsonrpc":"2.0","id":1,"result":{}}"#);
    assert_eq!(asked.await.unwrap(), Ok(Json::empty_object()));
}

#[tokio::test]
async fn the_transport_of_a_server_hears_which_revision_was_agreed_on() {
    let mut far = Far::new(Side::Server, Revision::V2025_06_18, Box::new(OpenGate));
    far.say(None, r#"{"jsonrpc":"2.0","id":1,"method":"ask"}"#);
    far.hear().await;
    assert_eq!(*far.established.lock().unwrap(), None);
    far.say(None, r#"{"jsonrpc":"2.0","id":2,"method":"initialize"}"#);
    far.hear().await;
    assert_eq!(*far.established.lock().unwrap(), Some(Revision::V2025_06_18));
}

/// Messages without a pause, until the other side says something.
#[derive(Debug, Default)]
struct Flood {
    sent: AtomicUsize,
    heard: AtomicBool,
}

/// More than anybody has to take in before it may speak.
const FLOOD: usize = 100_000;

impl Transport for Flood {
    fn receive(&self) -> BoxFuture<'_, Result<Option<Inbound>, TransportError>> {
        let is_over =
            self.heard.load(Ordering::Relaxed) || self.sent.fetch_add(1, Ordering::Relaxed) > FLOOD;
        let bytes = Bytes::from_static(br#"{"jsonrpc":"2.0","method":"more"}"#);
        let message = Inbound::Message { ticket: None, bytes };
        Box::pin(std::future::ready(Ok((!is_over).then_some(message))))
    }

    fn send(&self, _: Outbound) -> BoxFuture<'_, Result<(), TransportError>> {
        self.heard.store(true, Ordering::Relaxed);
        Box::pin(std::future::ready(Ok(())))
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        Box::pin(std::future::ready(()))
    }
}

/// Has news as soon as it may tell them.
#[derive(Debug)]
struct Messenger;

impl Handler for Messenger {
    fn handle_request(&self, _: Request, _: Call) -> BoxFuture<'_, Answer> {
        Box::pin(std::future::pending())
    }

    fn handle_notification(&self, _: Notification, _: Arc<dyn Peer>) -> BoxFuture<'_, ()> {
        Box::pin(std::future::ready(()))
    }

    fn attend(&self, peer: Arc<dyn Peer>) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            let news = Notification { method: "news".into(), params: None };
            peer.notify(news).await.unwrap();
        })
    }
}

fn flooded() -> (Arc<Flood>, JsonRpcProcessor<Arc<Flood>>) {
    let flood = Arc::new(Flood::default());
    let transport = JsonRpcTransport::new(Arc::clone(&flood), Side::Server, Box::new(OpenGate));
    let settings = ProcessorSettings::new(Arc::new(TestClock));
    let processor = JsonRpcProcessor::with_handler(transport, Arc::new(Messenger), settings);
    (flood, processor)
}

#[tokio::test]
async fn a_flood_holds_up_no_news() {
    let (flood, processor) = flooded();
    processor.run().await.unwrap();
    assert!(flood.sent.load(Ordering::Relaxed) < FLOOD, "nothing was said meanwhile");
}

#[tokio::test]
async fn a_flood_keeps_nobody_from_closing() {
    let (flood, processor) = flooded();
    processor.peer().close();
    processor.run().await.unwrap();
    assert!(flood.sent.load(Ordering::Relaxed) < FLOOD, "it went on");
}
