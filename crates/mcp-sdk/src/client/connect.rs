//! How a client and a server find the revision they both speak.

use std::sync::{Arc, OnceLock};

use mcp_core::{
    Ask, DiscoverResult, Era, InitializeResult, Json, Labels, Meta, Notification, Peer as _,
    PeerError, Revision, Side, Transport,
};
use mcp_json::Limits;
use mcp_jsonrpc::{JsonRpcPeer, JsonRpcProcessor, JsonRpcTransport, ProcessorSettings};
use serde_json::{Value, json};

use super::{
    Client, ClientBuilder, ClientError, Inner, ServerFacts, answers::ClientHandler, events::Events,
};
use crate::clock::TokioClock;

pub(super) type Wire = Arc<dyn Transport>;

/// What errors of a modern server look like.
const MODERN_ERRORS: [i64; 3] = [-32020, -32021, -32022];
const UNSUPPORTED_REVISION: i64 = -32022;

pub(super) async fn connect(
    builder: ClientBuilder,
    transport: Wire,
) -> Result<Client, ClientError> {
    let events = Arc::new(Events::new());
    let spoken = Arc::new(OnceLock::new());
    let handler = ClientHandler {
        answers: builder.answers.clone(),
        events: Arc::clone(&events),
        revision: Arc::clone(&spoken),
    };
    let mut settings = ProcessorSettings::new(Arc::new(TokioClock::new()));
    settings.timeout = builder.timeout;
    let max_bytes = builder.max_message();
    let validation = builder.validation.clone().for_messages_of(max_bytes);
    let carriage = transport.carriage();
    let gate = validation.gate(Side::Client, carriage, None);
    let limits = Limits { max_bytes, ..Limits::default() };
    let transport = JsonRpcTransport::new(transport, Side::Client, gate).with_limits(limits);
    let processor = JsonRpcProcessor::new(transport, Arc::new(handler), settings);
    let peer = processor.peer();
    let listeners = Arc::clone(&events);
    let running = tokio::spawn(async move {
        if let Err(error) = processor.run().await {
            tracing::debug!(%error, "the conversation broke off");
        }
        listeners.closed();
    });
    let mut opening = Opening { peer: &peer, is_done: false };
    let (revision, server) = open(&builder, &peer).await?;
    opening.is_done = true;
    drop(opening);
    let _ = spoken.set(revision);
    peer.established(revision);
    let inner = Inner::new(builder, peer, (revision, carriage), server, events, running);
    Ok(Client { inner: Arc::new(inner) })
}

/// Ends a connection that nobody will use: opening it failed, or whoever wanted it has gone.
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

async fn open(
    builder: &ClientBuilder,
    peer: &JsonRpcPeer<Wire>,
) -> Result<(Revision, ServerFacts), ClientError> {
    match builder.revision {
        Some(revision) if revision.era() == Era::Legacy => {
            initialize(builder, peer, revision).await
        }
        Some(revision) => match discover(builder, peer, revision).await? {
            Probe::Modern(revision, server) => Ok((revision, *server)),
            Probe::Legacy { theirs, .. } => Err(ClientError::NoCommonRevision { theirs }),
        },
        None => match discover(builder, peer, Revision::LATEST).await? {
            Probe::Modern(revision, server) => Ok((revision, *server)),
            Probe::Legacy { offer, .. } => initialize(builder, peer, offer).await,
        },
    }
}

/// What the question "which revisions do you speak" has shown.
enum Probe {
    Modern(Revision, Box<ServerFacts>),
    /// It speaks the handshake; `offer` is what to ask for.
    Legacy {
        offer: Revision,
        theirs: String,
    },
}

async fn discover(
    builder: &ClientBuilder,
    peer: &JsonRpcPeer<Wire>,
    revision: Revision,
) -> Result<Probe, ClientError> {
    let method = "server/discover";
    let params = json!({ "_meta": modern_meta(builder, revision) });
    let mut ask = Ask::new(method, write(method, &params)?);
    ask.timeout = Some(builder.probe_timeout.min(builder.timeout));
    ask.labels = Some(Box::new(Labels {
        revision: Some(revision),
        method: Some(method.to_owned()),
        ..Labels::default()
    }));
    match peer.request(ask).await {
        Ok(result) => {
            let found: DiscoverResult = result
                .read()
                .map_err(|source| ClientError::Unreadable { method: method.into(), source })?;
            choose(&found.supported_versions.clone(), Some(found))
        }
        Err(PeerError::Answered { code: UNSUPPORTED_REVISION, data, .. }) => {
            choose(&supported(data.as_ref()), None)
        }
        Err(source @ PeerError::Answered { code, .. }) if MODERN_ERRORS.contains(&code) => {
            Err(ClientError::Call { method: method.into(), source })
        }
        Err(source @ PeerError::Gone(_)) if is_lost(&source) => {
            Err(ClientError::Call { method: method.into(), source })
        }
        Err(_) => {
            let theirs = "an older revision".to_owned();
            Ok(Probe::Legacy { offer: Revision::LATEST_LEGACY, theirs })
        }
    }
}

/// Whether nobody is there at all; a refused exchange, on the other hand, is an answer.
fn is_lost(error: &PeerError) -> bool {
    matches!(error, PeerError::Gone(reason) if reason.contains("could not connect"))
}

/// The newest revision both sides speak.
fn choose(theirs: &[String], found: Option<DiscoverResult>) -> Result<Probe, ClientError> {
    let spoken = |era: Era| {
        let known = theirs.iter().filter_map(|version| version.parse::<Revision>().ok());
        known.filter(|revision| revision.era() == era).max()
    };
    let listed = theirs.join(", ");
    match (spoken(Era::Modern), found) {
        (Some(revision), Some(found)) => {
            Ok(Probe::Modern(revision, Box::new(ServerFacts::discovered(found))))
        }
        // It named the revision; what it offers is found out when it is used.
        (Some(revision), None) => Ok(Probe::Modern(revision, Box::default())),
        (None, _) => match spoken(Era::Legacy) {
            Some(offer) => Ok(Probe::Legacy { offer, theirs: listed }),
            None => Err(ClientError::NoCommonRevision { theirs: listed }),
        },
    }
}

fn supported(data: Option<&Json>) -> Vec<String> {
    #[derive(serde::Deserialize)]
    struct Supported {
        supported: Vec<String>,
    }
    data.and_then(|data| data.read::<Supported>().ok()).map_or_else(Vec::new, |data| data.supported)
}

async fn initialize(
    builder: &ClientBuilder,
    peer: &JsonRpcPeer<Wire>,
    offer: Revision,
) -> Result<(Revision, ServerFacts), ClientError> {
    let method = "initialize";
    let params = json!({
        "protocolVersion": offer,
        "capabilities": builder.answers.capabilities(),
        "clientInfo": builder.info,
    });
    let call = |source| ClientError::Call { method: method.into(), source };
    let result = peer.request(Ask::new(method, write(method, &params)?)).await.map_err(call)?;
    let found: InitializeResult = result
        .read()
        .map_err(|source| ClientError::Unreadable { method: method.into(), source })?;
    let theirs = &found.protocol_version;
    let revision: Revision =
        theirs.parse().map_err(|_| ClientError::NoCommonRevision { theirs: theirs.clone() })?;
    if revision.era() == Era::Modern {
        return Err(ClientError::NoCommonRevision { theirs: theirs.clone() });
    }
    peer.established(revision);
    let initialized = Notification { method: "notifications/initialized".into(), params: None };
    peer.notify(initialized).await.map_err(call)?;
    Ok((revision, ServerFacts::initialized(found)))
}

/// What every request of a stateless revision says about its sender.
pub(super) fn modern_meta(builder: &ClientBuilder, revision: Revision) -> Value {
    json!({
        (Meta::PROTOCOL_VERSION): revision,
        (Meta::CLIENT_CAPABILITIES): builder.answers.capabilities(),
        (Meta::CLIENT_INFO): builder.info,
    })
}

fn write(method: &str, params: &Value) -> Result<Option<Json>, ClientError> {
    let written = Json::of(params);
    written
        .map(Some)
        .map_err(|source| ClientError::Unwritable { method: method.to_owned(), source })
}
