//! Finds out which revisions a server speaks, and what it offers at each.

use std::sync::Arc;

use mcp_core::{Era, Revision};
use serde_json::{Value, json};

use crate::{Conversation, Found, Offer, Opening, Trouble, stage::Scene};

/// The lists, with the capability that promises them and the member that holds the entries.
pub(crate) const LISTS: [(&str, &str, &str); 4] = [
    ("tools/list", "/tools", "tools"),
    ("resources/list", "/resources", "resources"),
    ("resources/templates/list", "/resources", "resourceTemplates"),
    ("prompts/list", "/prompts", "prompts"),
];

/// A conversation that was opened to find out, to go on with.
pub(crate) struct Discovered {
    pub(crate) found: Found,
    pub(crate) conversations: Vec<(Revision, Conversation)>,
    /// What went wrong when what is offered was listed.
    pub(crate) troubles: Vec<(Revision, Trouble)>,
    /// Whether it could be started or reached at all.
    pub(crate) reached: bool,
    /// What it said on standard error, if it could not be opened.
    pub(crate) stderr: String,
}

pub(crate) async fn discover(scene: &Arc<Scene>) -> Discovered {
    let mut discovered = Discovered {
        found: Found::default(),
        conversations: Vec::new(),
        troubles: Vec::new(),
        reached: false,
        stderr: String::new(),
    };
    for revision in candidates(&scene.settings.revisions) {
        let opening = Opening::at(revision);
        let conversation = match scene.connect("discover", &opening, scene.settings.limits).await {
            Ok(conversation) => conversation,
            Err(trouble) => {
                discovered.found.refused.insert(revision, trouble.to_string());
                continue;
            }
        };
        match conversation.open(&opening).await {
            Ok(()) => {
                discovered.reached = true;
                let (offer, trouble) = list(&conversation).await;
                discovered.found.offers.insert(revision, offer);
                discovered.troubles.extend(trouble.map(|trouble| (revision, trouble)));
                discovered.conversations.push((revision, conversation));
            }
            Err(trouble) => {
                discovered.reached |= matches!(trouble, Trouble::Refused(_));
                discovered.found.refused.insert(revision, trouble.to_string());
                if discovered.stderr.is_empty() {
                    discovered.stderr = conversation.stderr();
                }
                conversation.close_soon().await;
            }
        }
    }
    discovered
}

/// The revisions to try: first the one that most servers speak, since the first start may be slow.
fn candidates(chosen: &[Revision]) -> Vec<Revision> {
    let mut all: Vec<Revision> = Revision::ALL.to_vec();
    all.sort_by_key(|revision| *revision != Revision::LATEST_LEGACY);
    all.retain(|revision| chosen.is_empty() || chosen.contains(revision));
    all
}

/// Lists everything that is offered.
async fn list(conversation: &Conversation) -> (Offer, Option<Trouble>) {
    let opened = conversation.opened();
    let mut offer = Offer {
        server: match conversation.revision().era() {
            Era::Legacy => opened["serverInfo"].clone(),
            Era::Modern => opened
                .pointer("/_meta/io.modelcontextprotocol~1serverInfo")
                .cloned()
                .unwrap_or_else(|| opened["serverInfo"].clone()),
        },
        capabilities: opened["capabilities"].clone(),
        instructions: opened["instructions"].as_str().map(str::to_owned),
        ..Offer::default()
    };
    for (method, capability, member) in LISTS {
        if !offer.has(capability) {
            continue;
        }
        match all_pages(conversation, method, member).await {
            Ok((entries, pages)) => {
                offer.pages.insert(method, pages);
                match method {
                    "tools/list" => offer.tools = entries,
                    "resources/list" => offer.resources = entries,
                    "resources/templates/list" => offer.templates = entries,
                    _ => offer.prompts = entries,
                }
            }
            Err(trouble) => return (offer, Some(trouble)),
        }
    }
    (offer, None)
}

/// The entries of all pages, and how many pages there were. An error counts as no entries: whether
/// it is one is up to the probes.
pub(crate) async fn all_pages(
    conversation: &Conversation,
    method: &str,
    member: &str,
) -> Result<(Vec<Value>, usize), Trouble> {
    let (mut entries, mut cursor) = (Vec::new(), None::<Value>);
    for page in 1..=conversation.limits().pages {
        let params = match &cursor {
            Some(cursor) => json!({ "cursor": cursor }),
            None => Value::Null,
        };
        let reply = conversation.request(method, params).await?;
        let Some(result) = reply.result() else { return Ok((entries, page)) };
        entries.extend(result[member].as_array().into_iter().flatten().cloned());
        match &result["nextCursor"] {
            next @ Value::String(_) if cursor.as_ref() != Some(next) => cursor = Some(next.clone()),
            _ => return Ok((entries, page)),
        }
    }
    Ok((entries, conversation.limits().pages))
}
