//! How a client and a server negotiate a revision.
//!
//! Without a configured revision, a client probes with `server/discover`. A server that does not
//! understand it is of the handshake era, and so, probably, is one that does not answer for a
//! while; the handshake starts then, but a late answer still counts: a server that was slow to
//! start answers both requests, and the newer era wins.

use std::{pin::pin, time::Duration};

use mcp_core::{
    DiscoverResult, Era, InitializeResult, Json, MessageHeaders, Meta, Notification,
    OutgoingRequest, Peer as _, PeerError, Revision, TransportError,
};
use mcp_jsonrpc::JsonRpcPeer;
use serde_json::{Map, Value, json};
use tokio::time::{Instant, sleep, timeout};

use super::{ClientBuilder, ClientError, ServerFacts, connect::Wire};

const DISCOVER: &str = "server/discover";
const INITIALIZE: &str = "initialize";

/// Errors that only a modern server sends.
const MODERN_ERRORS: [i64; 3] = [-32020, -32021, -32022];
const UNSUPPORTED_REVISION: i64 = -32022;

type Negotiated = (Revision, ServerFacts);

pub(super) async fn open(
    builder: &ClientBuilder,
    peer: &JsonRpcPeer<Wire>,
) -> Result<Negotiated, ClientError> {
    let limit = builder.connect_timeout.unwrap_or(builder.timeout);
    let opener = Negotiation { builder, peer, limit, deadline: Instant::now().checked_add(limit) };
    let found = match builder.revision {
        Some(revision) if revision.era() == Era::Legacy => opener.handshake(revision).await,
        Some(revision) => opener.require(revision).await,
        None => opener.negotiate().await,
    };
    if let Ok((revision, _)) = &found
        && revision.era() == Era::Modern
    {
        // The handshake has already told the transport.
        peer.established(*revision);
    }
    found
}

struct Negotiation<'b> {
    builder: &'b ClientBuilder,
    peer: &'b JsonRpcPeer<Wire>,
    limit: Duration,
    /// The deadline; `None` is never.
    deadline: Option<Instant>,
}

/// The result of the probe.
enum Probe {
    Modern(Revision, Box<ServerFacts>),
    /// It uses the handshake; `offer` is the revision to request.
    Legacy {
        offer: Revision,
        theirs: String,
    },
    /// It did not understand, so it probably uses the handshake.
    NotUnderstood(PeerError),
}

impl Negotiation<'_> {
    /// Negotiates the newest revision that both support.
    async fn negotiate(&self) -> Result<Negotiated, ClientError> {
        let mut probing = pin!(self.discover(Revision::LATEST));
        let clock = self.builder.probe_timeout.min(self.limit / 2);
        tokio::select! {
            biased;
            probe = &mut probing => return match probe? {
                Probe::Modern(revision, server) => Ok((revision, *server)),
                Probe::Legacy { offer, .. } => self.handshake(offer).await,
                Probe::NotUnderstood(_) => self.handshake(Revision::LATEST_LEGACY).await,
            },
            () = sleep(clock) => {}
        }
        let mut shaking = pin!(self.initialize(Revision::LATEST_LEGACY));
        // Both requests are open now. If one is rejected, the other decides.
        tokio::select! {
            biased;
            probe = &mut probing => match probe? {
                Probe::Modern(revision, server) => Ok((revision, *server)),
                Probe::Legacy { .. } | Probe::NotUnderstood(_) => {
                    self.complete(shaking.await?).await
                }
            },
            shaken = &mut shaking => match shaken {
                Ok(found) => self.complete(found).await,
                Err(refused) => match probing.await? {
                    Probe::Modern(revision, server) => Ok((revision, *server)),
                    Probe::Legacy { .. } | Probe::NotUnderstood(_) => Err(refused),
                },
            },
        }
    }

    /// Requires this revision of the stateless era.
    async fn require(&self, asked: Revision) -> Result<Negotiated, ClientError> {
        let cause = match self.discover(asked).await? {
            Probe::Modern(revision, server) => return Ok((revision, *server)),
            Probe::Legacy { theirs, .. } => {
                return Err(ClientError::NoCommonRevision { theirs, asked: Some(asked) });
            }
            Probe::NotUnderstood(cause @ PeerError::TimedOut { .. }) => {
                return Err(ClientError::call(DISCOVER, cause));
            }
            Probe::NotUnderstood(cause) => cause,
        };
        // The handshake only serves to find out what the server supports instead.
        match self.initialize(Revision::LATEST_LEGACY).await {
            Ok(found) => {
                let theirs = found.protocol_version;
                Err(ClientError::NoCommonRevision { theirs, asked: Some(asked) })
            }
            Err(_) => Err(ClientError::call(DISCOVER, cause)),
        }
    }

    async fn discover(&self, revision: Revision) -> Result<Probe, ClientError> {
        let params = json!({ "_meta": modern_meta(self.builder, revision) });
        let headers = MessageHeaders {
            revision: Some(revision),
            method: Some(DISCOVER.to_owned()),
            ..MessageHeaders::default()
        };
        match self.ask(DISCOVER, &params, Some(headers)).await? {
            Ok(result) => {
                let found: DiscoverResult = read(DISCOVER, &result)?;
                self.choose(&found.supported_versions.clone(), Some(found))
            }
            Err(PeerError::ErrorResponse { code: UNSUPPORTED_REVISION, data, .. }) => {
                self.choose(&supported(data.as_ref()), None)
            }
            Err(cause @ PeerError::ErrorResponse { code, .. }) if MODERN_ERRORS.contains(&code) => {
                Err(ClientError::call(DISCOVER, cause))
            }
            Err(cause) if is_unreachable(&cause) => Err(ClientError::call(DISCOVER, cause)),
            Err(cause) => Ok(Probe::NotUnderstood(cause)),
        }
    }

    /// The newest revision both sides support.
    fn choose(
        &self,
        theirs: &[String],
        found: Option<DiscoverResult>,
    ) -> Result<Probe, ClientError> {
        let spoken = |era: Era| {
            let known = theirs.iter().filter_map(|version| version.parse::<Revision>().ok());
            known.filter(|revision| revision.era() == era).max()
        };
        let listed = match theirs {
            [] => "no revision that it names".to_owned(),
            theirs => theirs.join(", "),
        };
        match (spoken(Era::Modern), found) {
            (Some(revision), Some(found)) => {
                Ok(Probe::Modern(revision, Box::new(ServerFacts::discovered(found))))
            }
            // It named the revision; its capabilities are not known yet.
            (Some(revision), None) => Ok(Probe::Modern(revision, Box::default())),
            (None, _) => match spoken(Era::Legacy) {
                Some(offer) => Ok(Probe::Legacy { offer, theirs: listed }),
                None => Err(self.no_common_revision(listed)),
            },
        }
    }

    async fn handshake(&self, offer: Revision) -> Result<Negotiated, ClientError> {
        let found = self.initialize(offer).await?;
        self.complete(found).await
    }

    /// The first half of the handshake.
    async fn initialize(&self, offer: Revision) -> Result<InitializeResult, ClientError> {
        let params = json!({
            "protocolVersion": offer,
            "capabilities": self.builder.answers.capabilities(Era::Legacy),
            "clientInfo": self.builder.info,
        });
        let answer = self.ask(INITIALIZE, &params, None).await?;
        read(INITIALIZE, &answer.map_err(|cause| ClientError::call(INITIALIZE, cause))?)
    }

    /// The second half.
    async fn complete(&self, found: InitializeResult) -> Result<Negotiated, ClientError> {
        let theirs = &found.protocol_version;
        let known = theirs.parse().ok().filter(|revision: &Revision| revision.era() == Era::Legacy);
        let revision = known.ok_or_else(|| self.no_common_revision(theirs.clone()))?;
        self.peer.established(revision);
        let method = "notifications/initialized";
        let told = self.peer.notify(Notification { method: method.into(), params: None });
        let told = match timeout(self.remaining(), told).await {
            Ok(told) => told,
            Err(_) => Err(PeerError::TimedOut { after: self.limit, last_error: None }),
        };
        told.map_err(|cause| ClientError::call(method, cause))?;
        Ok((revision, ServerFacts::initialized(found)))
    }

    async fn ask(
        &self,
        method: &'static str,
        params: &Value,
        headers: Option<MessageHeaders>,
    ) -> Result<Result<Json, PeerError>, ClientError> {
        let params = Json::of(params)
            .map_err(|cause| ClientError::Unwritable { method: method.to_owned(), cause })?;
        let mut ask = OutgoingRequest::new(method, Some(params));
        ask.timeout = Some(self.remaining());
        ask.headers = headers.map(Box::new);
        // Report the configured limit, not the time that happened to be left.
        Ok(self.peer.request(ask).await.map_err(|cause| match cause {
            PeerError::TimedOut { last_error, .. } => {
                PeerError::TimedOut { after: self.limit, last_error }
            }
            cause => cause,
        }))
    }

    fn remaining(&self) -> Duration {
        let now = Instant::now();
        self.deadline.map_or(Duration::MAX, |deadline| deadline.saturating_duration_since(now))
    }

    fn no_common_revision(&self, theirs: String) -> ClientError {
        ClientError::NoCommonRevision { theirs, asked: self.builder.revision }
    }
}

/// Whether another attempt is useless: the server is unreachable, or denies access. Any other
/// rejection counts as an answer.
fn is_unreachable(error: &PeerError) -> bool {
    use TransportError::{Closed, Connect, Status};
    matches!(
        error,
        PeerError::Closed(_)
            | PeerError::Transport(Connect(_) | Closed | Status { status: 401 | 403, .. })
    )
}

fn supported(data: Option<&Json>) -> Vec<String> {
    #[derive(serde::Deserialize)]
    struct Supported {
        supported: Vec<String>,
    }
    data.and_then(|data| data.read::<Supported>().ok()).map_or_else(Vec::new, |data| data.supported)
}

fn read<T: serde::de::DeserializeOwned>(method: &str, answer: &Json) -> Result<T, ClientError> {
    answer.read().map_err(|cause| ClientError::Unreadable { method: method.to_owned(), cause })
}

/// The metadata of every request in a stateless revision.
pub(super) fn modern_meta(builder: &ClientBuilder, revision: Revision) -> Map<String, Value> {
    let capabilities = builder.answers.capabilities(Era::Modern);
    [
        (Meta::PROTOCOL_VERSION, json!(revision)),
        (Meta::CLIENT_CAPABILITIES, json!(capabilities)),
        (Meta::CLIENT_INFO, json!(builder.info)),
    ]
    .into_iter()
    .map(|(key, value)| (key.to_owned(), value))
    .collect()
}
