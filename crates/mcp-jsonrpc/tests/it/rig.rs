//! A conversation whose handler waits, fails or makes requests as the method says.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use mcp_core::{
    BoxFuture, Call, Clock, Error, Handler, Inbound, Json, Notification, Outbound, OutgoingRequest,
    Peer, Request, Response, Revision, Side, Transport, TransportError, UncheckedResponse,
};
use mcp_jsonrpc::{JsonRpcPeer, JsonRpcProcessor, JsonRpcTransport, OpenGate, ProcessorSettings};
use serde_json::Value;
use tokio::{
    sync::{Mutex, mpsc},
    task::JoinHandle,
};

/// The peer of the conversation.
pub(crate) struct Rig {
    pub(crate) wire: Wire,
    pub(crate) peer: JsonRpcPeer<Pipe>,
    pub(crate) running: JoinHandle<Result<(), TransportError>>,
}

impl Rig {
    pub(crate) fn new(revision: Revision, change: impl FnOnce(&mut ProcessorSettings)) -> Rig {
        Rig::on(Side::Server, revision, change)
    }

    pub(crate) fn on(
        side: Side,
        revision: Revision,
        change: impl FnOnce(&mut ProcessorSettings),
    ) -> Rig {
        let (pipe, wire) = Pipe::new();
        let mut settings = ProcessorSettings::new(Arc::new(TestClock));
        change(&mut settings);
        let transport = JsonRpcTransport::new(pipe, side, Box::new(OpenGate));
        let handler = Arc::new(Obedient(revision));
        let processor = JsonRpcProcessor::with_handler(transport, handler, settings);
        let peer = processor.peer();
        Rig { wire, peer, running: tokio::spawn(processor.run()) }
    }

    pub(crate) fn send(&self, text: &str) {
        self.wire.send(text);
    }

    pub(crate) async fn next(&mut self) -> Value {
        self.wire.next().await
    }

    pub(crate) async fn ask(&mut self, text: &str) -> Value {
        self.wire.ask(text).await
    }
}

/// The peer's end of a pipe.
pub(crate) struct Wire {
    pub(crate) to: Option<mpsc::UnboundedSender<Bytes>>,
    pub(crate) from: mpsc::UnboundedReceiver<Bytes>,
}

impl Wire {
    pub(crate) fn send(&self, text: &str) {
        self.to.as_ref().unwrap().send(Bytes::from(text.to_owned())).unwrap();
    }

    /// The next message; null when there are no more.
    pub(crate) async fn next(&mut self) -> Value {
        self.next_bytes().await.map_or(Value::Null, |bytes| serde_json::from_slice(&bytes).unwrap())
    }

    pub(crate) async fn ask(&mut self, text: &str) -> Value {
        self.send(text);
        self.next().await
    }

    /// Like [`Wire::ask`], as text.
    pub(crate) async fn ask_text(&mut self, text: &str) -> String {
        self.send(text);
        let answer = self.next_bytes().await.unwrap();
        String::from_utf8(answer.to_vec()).unwrap()
    }

    async fn next_bytes(&mut self) -> Option<Bytes> {
        let next = tokio::time::timeout(Duration::from_secs(60), self.from.recv());
        next.await.expect("no timeout")
    }
}

#[derive(Debug)]
pub(crate) struct Pipe {
    incoming: Mutex<mpsc::UnboundedReceiver<Bytes>>,
    outgoing: mpsc::UnboundedSender<Bytes>,
}

impl Pipe {
    pub(crate) fn new() -> (Pipe, Wire) {
        let (to, incoming) = mpsc::unbounded_channel();
        let (outgoing, from) = mpsc::unbounded_channel();
        (Pipe { incoming: Mutex::new(incoming), outgoing }, Wire { to: Some(to), from })
    }
}

impl Transport for Pipe {
    fn receive(&self) -> BoxFuture<'_, Result<Option<Inbound>, TransportError>> {
        Box::pin(async {
            let next = self.incoming.lock().await.recv().await;
            Ok(next.map(|bytes| Inbound::Message { ticket: None, bytes }))
        })
    }

    fn send(&self, outbound: Outbound) -> BoxFuture<'_, Result<(), TransportError>> {
        let sent = self.outgoing.send(outbound.bytes);
        Box::pin(std::future::ready(sent.map_err(|_| TransportError::Closed)))
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

/// Does what the method says.
#[derive(Debug)]
struct Obedient(Revision);

impl Handler for Obedient {
    fn handle_request(&self, request: Request, call: Call) -> BoxFuture<'_, UncheckedResponse> {
        Box::pin(async move {
            let outcome = match &*request.method {
                "never" => std::future::pending().await,
                "second" => {
                    tokio::time::sleep(Duration::from_secs(1)).await;
                    Ok(Json::empty_object())
                }
                "panic" => panic!("on purpose"),
                "ask" => call
                    .peer
                    .request(OutgoingRequest::new("question", None))
                    .await
                    .map_err(|error| Error::internal(error.to_string())),
                _ => Ok(Json::empty_object()),
            };
            Response { id: request.id, revision: self.0, outcome }.into()
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
        Some(self.0)
    }
}
