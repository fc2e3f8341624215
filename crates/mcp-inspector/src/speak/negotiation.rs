//! Negotiates the revision of a conversation.
//!
//! By default a conversation opens with `initialize`, as most clients do; only if the server
//! refuses is it asked with `server/discover`. To get the newest revision, the order is reversed.

use std::{borrow::Cow, str::FromStr as _, time::Duration};

use bytes::Bytes;
use mcp_core::{Era, Meta, Revision};
use mcp_json::Node;
use serde_json::{json, value::RawValue};

use super::{InspectorClient, conversation::Facts, text};

/// Time limit for the first `server/discover`.
const PROBE: Duration = Duration::from_secs(3);
/// Time limit for any other answer.
const PATIENCE: Duration = Duration::from_secs(60);

/// The revision to request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum RequestedRevision {
    /// Whatever `initialize` negotiates.
    #[default]
    Any,
    /// The newest that the server supports.
    Best,
    /// This one.
    Exactly(Revision),
}

/// Opens a conversation. An error says why there is none.
pub(super) async fn open(
    client: &InspectorClient,
    generation: u64,
    requested: RequestedRevision,
) -> Result<(), String> {
    let offer = match requested {
        RequestedRevision::Any => return open_any(client, generation).await,
        RequestedRevision::Exactly(revision) if revision.era() == Era::Legacy => revision,
        RequestedRevision::Exactly(revision) => {
            return discover(client, generation, revision, PATIENCE).await.map(drop);
        }
        RequestedRevision::Best => {
            match discover(client, generation, Revision::LATEST, PROBE).await {
                Ok(Discovered::Stateless) => return Ok(()),
                Ok(Discovered::Handshake(revision)) => revision,
                Err(reason) if !client.is_current(generation) => return Err(reason),
                // It did not understand, so fall back to a handshake.
                Err(_) => Revision::LATEST_LEGACY,
            }
        }
    };
    shake_hands(client, generation, offer).await.map_err(HandshakeError::into_reason)
}

async fn open_any(client: &InspectorClient, generation: u64) -> Result<(), String> {
    let refused = match shake_hands(client, generation, Revision::LATEST_LEGACY).await {
        Ok(()) => return Ok(()),
        Err(HandshakeError::Refused(reason)) if client.is_current(generation) => reason,
        Err(unshaken) => return Err(unshaken.into_reason()),
    };
    match discover(client, generation, Revision::LATEST, PATIENCE).await {
        Ok(Discovered::Stateless) => Ok(()),
        Ok(Discovered::Handshake(_)) | Err(_) => Err(refused),
    }
}

/// Why a handshake failed.
enum HandshakeError {
    /// The server answered, but refused or sent an invalid result.
    Refused(String),
    /// The server did not answer.
    Silent(String),
}

impl HandshakeError {
    fn into_reason(self) -> String {
        match self {
            HandshakeError::Refused(reason) | HandshakeError::Silent(reason) => reason,
        }
    }
}

enum Discovered {
    Stateless,
    Handshake(Revision),
}

async fn discover(
    client: &InspectorClient,
    generation: u64,
    revision: Revision,
    patience: Duration,
) -> Result<Discovered, String> {
    // The request itself uses the revision it asks for.
    client.set_revision(generation, Some(revision));
    let answer = ask(client, generation, "server/discover", None, patience).await;
    let chosen = answer.and_then(|answer| chosen(&answer, revision));
    match chosen {
        Ok((found, facts)) if found.era() == Era::Modern => {
            client.establish(generation, found, facts);
            Ok(Discovered::Stateless)
        }
        Ok((found, _)) => {
            client.set_revision(generation, None);
            Ok(Discovered::Handshake(found))
        }
        Err(reason) => {
            client.set_revision(generation, None);
            Err(reason)
        }
    }
}

/// The newest revision that both sides support, from the answer to `server/discover`.
fn chosen(answer: &Bytes, asked: Revision) -> Result<(Revision, Facts), String> {
    let answer = String::from_utf8_lossy(answer);
    text::read(&answer, |message| {
        let result = message.get("result");
        let error = message.get("error");
        let listed = result.and_then(|result| result.get("supportedVersions"));
        let listed = listed.or_else(|| error?.get("data")?.get("supported"));
        let Some(listed) = listed else {
            let said = error.and_then(|error| error.get("message")).and_then(Node::as_str);
            let said = said.unwrap_or("the answer to `server/discover` lists no revisions".into());
            return Err(format!("the server does not support {asked}: {said}"));
        };
        let known = listed.elements().filter_map(|it| Revision::from_str(&it.as_str()?).ok());
        let known: Vec<Revision> = known.collect();
        let best = known.iter().copied().filter(|it| it.era() == Era::Modern).max();
        let best = if known.contains(&asked) { Some(asked) } else { best };
        let best = best.or_else(|| known.into_iter().max());
        let best = best.ok_or("the server supports no revision that plumb knows")?;
        Ok((best, result.map(facts).unwrap_or_default()))
    })
    .unwrap_or_else(|| Err("the answer to `server/discover` is not JSON".to_owned()))
}

async fn shake_hands(
    client: &InspectorClient,
    generation: u64,
    offer: Revision,
) -> Result<(), HandshakeError> {
    let params = json!({
        "protocolVersion": offer,
        "capabilities": text::capabilities(),
        "clientInfo": text::client_info(),
    });
    let params = params.to_string();
    let answer = ask(client, generation, "initialize", Some(&params), PATIENCE).await;
    let answer = answer.map_err(HandshakeError::Silent)?;
    let answer = String::from_utf8_lossy(&answer).into_owned();
    let (revision, facts) = text::read(&answer, |message| {
        if let Some(error) = message.get("error") {
            let said = error.get("message").and_then(Node::as_str).unwrap_or_default();
            return Err(format!("the server refused `initialize`: {said}"));
        }
        let result = message.get("result").ok_or("the answer to `initialize` has no result")?;
        let named = result.get("protocolVersion").and_then(Node::as_str).unwrap_or_default();
        let revision = Revision::from_str(&named).ok().filter(|it| it.era() == Era::Legacy);
        let revision = revision.ok_or_else(|| {
            let named = crate::text::excerpt(named.as_bytes(), 40);
            format!("the server chose revision `{named}`, which plumb does not know")
        })?;
        Ok((revision, facts(result)))
    })
    .unwrap_or_else(|| Err("the answer to `initialize` is not JSON".to_owned()))
    .map_err(HandshakeError::Refused)?;
    client.establish(generation, revision, facts);
    client.notify(generation, "notifications/initialized").map_err(HandshakeError::Silent)
}

fn facts(result: Node<'_>) -> Facts {
    let raw =
        |node: Node<'_>| RawValue::from_string(String::from_utf8(node.raw().to_vec()).ok()?).ok();
    let info = result.get("serverInfo").or_else(|| result.get("_meta")?.get(Meta::SERVER_INFO));
    Facts {
        server_info: info.and_then(raw),
        capabilities: result.get("capabilities").and_then(raw),
        instructions: result.get("instructions").and_then(Node::as_str).map(Cow::into_owned),
    }
}

/// Sends a request and waits for the answer. The error says why there is none.
pub(super) async fn ask(
    client: &InspectorClient,
    generation: u64,
    method: &str,
    params: Option<&str>,
    patience: Duration,
) -> Result<Bytes, String> {
    let (_, answer) = client.ask(generation, method, params)?;
    match tokio::time::timeout(patience, answer).await {
        Ok(Ok(answer)) => Ok(answer),
        Ok(Err(_)) => Err(format!("the conversation ended before `{method}` was answered")),
        Err(_) => {
            let seconds = patience.as_secs();
            Err(format!("the server did not answer `{method}` within {seconds} seconds"))
        }
    }
}
