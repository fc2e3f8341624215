//! Setting up a conversation over a transport.

use std::sync::{Arc, OnceLock, RwLock, atomic::AtomicI64};

use mcp_core::{Era, Side, Transport};
use mcp_jsonrpc::{Gate, JsonRpcPeer, JsonRpcProcessor, JsonRpcTransport, ProcessorSettings};
use serde_json::Map;

use super::{
    Client, ClientBuilder, ClientError, Inner,
    answers::ClientHandler,
    call_clock::PendingCalls,
    events::Events,
    negotiation::{modern_meta, open},
    resource_subscriptions::ResourceSubscriptions,
    roots::Roots,
};

pub(super) type Wire = Arc<dyn Transport>;

pub(super) async fn connect(
    builder: ClientBuilder,
    transport: Wire,
) -> Result<Client, ClientError> {
    connect_through(None, builder, transport).await
}

/// Connects with `gate`, if there is one that the transport also shows its HTTP traffic to.
pub(super) async fn connect_through(
    gate: Option<Box<dyn Gate>>,
    mut builder: ClientBuilder,
    transport: Wire,
) -> Result<Client, ClientError> {
    // The builder may have been cloned for other clients, which have separate roots.
    builder.answers = builder.answers.detached();
    if let Some(roots) = &builder.answers.roots {
        Roots::check(&roots.get())?;
    }
    let events = Arc::new(Events::new());
    let calls = Arc::<PendingCalls>::default();
    let spoken = Arc::new(OnceLock::new());
    let handler = ClientHandler {
        answers: builder.answers.clone(),
        events: Arc::clone(&events),
        calls: Arc::clone(&calls),
        revision: Arc::clone(&spoken),
    };
    let mut settings = ProcessorSettings::default();
    settings.timeout = builder.timeout;
    settings.max_in_flight = builder.max_questions.max(1);
    let max_bytes = builder.max_message();
    let validation = builder.validation.clone().for_messages_of(max_bytes);
    validation.allow(&mut settings);
    let framing = transport.framing();
    let gate = gate.unwrap_or_else(|| validation.gate(Side::Client, framing, None));
    let limits = validation.limits(max_bytes);
    let transport = JsonRpcTransport::new(transport, Side::Client, gate).with_limits(limits);
    let processor = JsonRpcProcessor::with_handler(transport, Arc::new(handler), settings);
    let peer = processor.peer();
    let ending = Ending(Arc::clone(&events));
    let running = tokio::spawn(async move {
        let _ending = ending;
        if let Err(error) = processor.run().await {
            tracing::debug!(%error, "the conversation ended with an error");
        }
    });
    let mut opening = Opening { peer: &peer, is_done: false };
    let (revision, server) = open(&builder, &peer).await?;
    opening.is_done = true;
    drop(opening);
    let _ = spoken.set(revision);
    let meta = match revision.era() {
        Era::Modern => modern_meta(&builder, revision),
        Era::Legacy => Map::new(),
    };
    let inner = Inner {
        builder,
        peer,
        revision,
        framing,
        meta,
        server,
        events,
        calls,
        resource_subscriptions: ResourceSubscriptions::default(),
        next_token: AtomicI64::new(1),
        log_level: RwLock::new(None),
        marked: RwLock::default(),
        running: tokio::sync::Mutex::new(Some(running)),
    };
    Ok(Client { inner: Arc::new(inner) })
}

/// Tells listeners that the conversation is over, even after a panic.
struct Ending(Arc<Events>);

impl Drop for Ending {
    fn drop(&mut self) {
        self.0.close();
    }
}

/// Closes a connection that nobody will use: opening it failed or was cancelled.
struct Opening<'p> {
    peer: &'p JsonRpcPeer<Wire>,
    is_done: bool,
}

impl Drop for Opening<'_> {
    fn drop(&mut self) {
        if !self.is_done {
            self.peer.close();
        }
    }
}
