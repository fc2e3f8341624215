//! How a revision is found.
//!
//! Without a wish, a conversation opens with `initialize`, as those of most clients do; only a server
//! that refuses it is asked what it knows with `server/discover`. For the best revision, the order is
//! the other way round.

use std::{borrow::Cow, str::FromStr as _, time::Duration};

use bytes::Bytes;
use mcp_core::{Era, Meta, Revision};
use mcp_json::Node;
use serde_json::{json, value::RawValue};

use super::{Speaker, conversation::Facts, text};

/// How long a server may take to answer whether it is of the stateless era.
const PROBE: Duration = Duration::from_secs(3);
/// How long a server may take to answer at all.
const PATIENCE: Duration = Duration::from_secs(60);

/// What revision a conversation is to have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Wish {
    /// Whatever an `initialize` leads to.
    #[default]
    Any,
    /// The best that the server knows.
    Best,
    /// This one.
    Exactly(Revision),
}

/// Opens a conversation. An error says why there is none.
pub(super) async fn open(speaker: &Speaker, generation: u64, wish: Wish) -> Result<(), String> {
    let offer = match wish {
        Wish::Any => return open_any(speaker, generation).await,
        Wish::Exactly(revision) if revision.era() == Era::Legacy => revision,
        Wish::Exactly(revision) => {
            return discover(speaker, generation, revision, PATIENCE).await.map(drop);
        }
        Wish::Best => match discover(speaker, generation, Revision::LATEST, PROBE).await {
            Ok(Discovered::Stateless) => return Ok(()),
            Ok(Discovered::Handshake(revision)) => revision,
            Err(reason) if !speaker.is_current(generation) => return Err(reason),
            // It did not understand, so it opens with a handshake.
            Err(_) => Revision::LATEST_LEGACY,
        },
    };
    shake_hands(speaker, generation, offer).await.map_err(Unshaken::into_reason)
}

async fn open_any(speaker: &Speaker, generation: u64) -> Result<(), String> {
    let refused = match shake_hands(speaker, generation, Revision::LATEST_LEGACY).await {
        Ok(()) => return Ok(()),
        Err(Unshaken::Refused(reason)) if speaker.is_current(generation) => reason,
        Err(unshaken) => return Err(unshaken.into_reason()),
    };
    match discover(speaker, generation, Revision::LATEST, PATIENCE).await {
        Ok(Discovered::Stateless) => Ok(()),
        Ok(Discovered::Handshake(_)) | Err(_) => Err(refused),
    }
}

/// Why a handshake came to nothing.
enum Unshaken {
    /// The server has answered, but not so that it could begin.
    Refused(String),
    /// It has not answered.
    Silent(String),
}

impl Unshaken {
    fn into_reason(self) -> String {
        match self {
            Unshaken::Refused(reason) | Unshaken::Silent(reason) => reason,
        }
    }
}

enum Discovered {
    Stateless,
    Handshake(Revision),
}

async fn discover(
    speaker: &Speaker,
    generation: u64,
    revision: Revision,
    patience: Duration,
) -> Result<Discovered, String> {
    // The request is of the revision that it asks about.
    speaker.set_revision(generation, Some(revision));
    let answer = ask(speaker, generation, "server/discover", None, patience).await;
    let chosen = answer.and_then(|answer| chosen(&answer, revision));
    match chosen {
        Ok((found, facts)) if found.era() == Era::Modern => {
            speaker.establish(generation, found, facts);
            Ok(Discovered::Stateless)
        }
        Ok((found, _)) => {
            speaker.set_revision(generation, None);
            Ok(Discovered::Handshake(found))
        }
        Err(reason) => {
            speaker.set_revision(generation, None);
            Err(reason)
        }
    }
}

/// The best revision of both, from the answer to `server/discover`.
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
            return Err(format!("the server does not speak {asked}: {said}"));
        };
        let known = listed.elements().filter_map(|it| Revision::from_str(&it.as_str()?).ok());
        let known: Vec<Revision> = known.collect();
        let best = known.iter().copied().filter(|it| it.era() == Era::Modern).max();
        let best = if known.contains(&asked) { Some(asked) } else { best };
        let best = best.or_else(|| known.into_iter().max());
        let best = best.ok_or("the server speaks no revision that is known here")?;
        Ok((best, result.map(facts).unwrap_or_default()))
    })
    .unwrap_or_else(|| Err("the answer to `server/discover` is not JSON".to_owned()))
}

async fn shake_hands(speaker: &Speaker, generation: u64, offer: Revision) -> Result<(), Unshaken> {
    let params = json!({
        "protocolVersion": offer,
        "capabilities": text::capabilities(),
        "clientInfo": text::client_info(),
    });
    let params = params.to_string();
    let answer = ask(speaker, generation, "initialize", Some(&params), PATIENCE).await;
    let answer = answer.map_err(Unshaken::Silent)?;
    let answer = String::from_utf8_lossy(&answer).into_owned();
    let (revision, facts) = text::read(&answer, |message| {
        if let Some(error) = message.get("error") {
            let said = error.get("message").and_then(Node::as_str).unwrap_or_default();
            return Err(format!("the server refused to begin: {said}"));
        }
        let result = message.get("result").ok_or("the answer to `initialize` has no result")?;
        let named = result.get("protocolVersion").and_then(Node::as_str).unwrap_or_default();
        let revision = Revision::from_str(&named).ok().filter(|it| it.era() == Era::Legacy);
        let revision = revision.ok_or_else(|| {
            let named = crate::text::excerpt(named.as_bytes(), 40);
            format!("the server speaks revision `{named}`, which is not known here")
        })?;
        Ok((revision, facts(result)))
    })
    .unwrap_or_else(|| Err("the answer to `initialize` is not JSON".to_owned()))
    .map_err(Unshaken::Refused)?;
    speaker.establish(generation, revision, facts);
    speaker.notify(generation, "notifications/initialized").map_err(Unshaken::Silent)
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

/// Asks, and waits for a while. An error says why there is no answer.
pub(super) async fn ask(
    speaker: &Speaker,
    generation: u64,
    method: &str,
    params: Option<&str>,
    patience: Duration,
) -> Result<Bytes, String> {
    let (_, answer) = speaker.ask(generation, method, params)?;
    match tokio::time::timeout(patience, answer).await {
        Ok(Ok(answer)) => Ok(answer),
        Ok(Err(_)) => Err(format!("there will be no answer to `{method}`")),
        Err(_) => {
            let seconds = patience.as_secs();
            Err(format!("the server did not answer `{method}` within {seconds} seconds"))
        }
    }
}
