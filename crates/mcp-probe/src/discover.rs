//! Finds out which revisions a server speaks, and what it offers at each.

use std::{collections::HashSet, sync::Arc};

use futures_util::future::join_all;
use mcp_core::{Era, Revision};
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::{Conversation, Found, Limits, Offer, Opening, Reply, Trouble, stage::Scene};

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
    /// Those that could not be opened, ended.
    pub(crate) failed: Vec<(Revision, Conversation)>,
    /// What went wrong when what is offered was listed.
    pub(crate) troubles: Vec<(Revision, Trouble)>,
    /// Whether it could be started or reached at all.
    pub(crate) reached: bool,
    /// What it said on standard error, if it could not be opened.
    pub(crate) stderr: String,
}

pub(crate) async fn discover(scene: &Arc<Scene>, deadline: Instant) -> Discovered {
    let mut discovered = Discovered {
        found: Found::default(),
        conversations: Vec::new(),
        failed: Vec::new(),
        troubles: Vec::new(),
        reached: false,
        stderr: String::new(),
    };
    // The first start may be slow, and the others are quicker for it.
    let mut candidates = candidates(&scene.settings.revisions);
    let others = candidates.split_off(candidates.len().min(1));
    let mut limits = scene.settings.limits;
    for revisions in [candidates, others] {
        let met = revisions.into_iter().map(|revision| {
            let met = tokio::time::timeout_at(deadline, meet(scene, revision, limits));
            async move { (revision, met.await) }
        });
        for (revision, met) in join_all(met).await {
            if matches!(&met, Ok(Met::Refused { trouble: Trouble::Unanswered { .. }, .. })) {
                // What was silent for so long has started by now, or never will.
                limits.start = scene.settings.limits.start / 2;
            }
            if let Ok(met) = met {
                discovered.add(revision, met);
            } else {
                let reason = "the time was up before it had answered".to_owned();
                discovered.found.refused.insert(revision, reason);
            }
        }
    }
    discovered
}

/// What became of a revision.
enum Met {
    Nobody(Trouble),
    Open { conversation: Conversation, offer: Box<Offer>, trouble: Option<Trouble> },
    Refused { conversation: Conversation, trouble: Trouble, is_judged: bool },
}

impl Discovered {
    /// Whether every attempt to open a conversation was refused for want of credentials.
    pub(crate) fn wants_credentials(&self) -> bool {
        let refused = &self.found.refused;
        self.found.offers.is_empty()
            && !refused.is_empty()
            && refused.values().all(|reason| reason.ends_with("status 401"))
    }

    fn add(&mut self, revision: Revision, met: Met) {
        match met {
            Met::Nobody(trouble) => {
                self.found.refused.insert(revision, trouble.to_string());
            }
            Met::Open { conversation, offer, trouble } => {
                self.reached = true;
                self.found.offers.insert(revision, *offer);
                self.troubles.extend(trouble.map(|trouble| (revision, trouble)));
                self.conversations.push((revision, conversation));
            }
            Met::Refused { conversation, trouble, is_judged } => {
                self.reached |= matches!(trouble, Trouble::Refused(_));
                self.found.refused.insert(revision, trouble.to_string());
                if self.stderr.is_empty() {
                    self.stderr = conversation.stderr();
                }
                if is_judged {
                    self.failed.push((revision, conversation));
                }
            }
        }
    }
}

async fn meet(scene: &Arc<Scene>, revision: Revision, limits: Limits) -> Met {
    let opening = Opening::at(revision);
    let conversation = match scene.connect("discover", &opening, limits).await {
        Ok(conversation) => conversation,
        Err(trouble) => return Met::Nobody(trouble),
    };
    match conversation.open(&opening).await {
        Ok(()) => {
            let (offer, trouble) = list(&conversation).await;
            Met::Open { conversation, offer: Box::new(offer), trouble }
        }
        Err(trouble) => {
            // A server of the other era may answer in its own way, and is not judged for it.
            let is_judged = revision.era() == Era::Legacy
                || matches!(trouble, Trouble::Refused(_))
                    && (!conversation.opened().is_null() || speaks(&conversation).await);
            conversation.close_soon().await;
            Met::Refused { conversation, trouble, is_judged }
        }
    }
}

/// Whether a server that refuses `server/discover` speaks the revision all the same. It is asked
/// again once that is known, for the rule `discover-not-implemented`.
async fn speaks(conversation: &Conversation) -> bool {
    let mut is_modern = false;
    for method in ["tools/list", "server/discover"] {
        let within = conversation.limits().quiet * 4;
        let id = conversation.next_id();
        let message = conversation.request_message(&json!(id), method, Value::Null).to_string();
        let reply = conversation.exchange(&message, &id.to_string(), method, within).await;
        is_modern |= reply.is_ok_and(|reply| {
            reply.result().is_some_and(|result| result.get("resultType").is_some())
        });
        if !is_modern {
            break;
        }
    }
    is_modern
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
    let listing = read_pages(conversation, method, member).await?;
    Ok((listing.entries, listing.pages))
}

/// How many pages in a row may bring nothing new.
const IDLE_PAGES: usize = 10;

/// A list, read to its end.
#[derive(Debug, Default)]
pub(crate) struct Listing {
    pub(crate) entries: Vec<Value>,
    pub(crate) pages: usize,
    /// The error that a cursor of the server's own was answered with.
    pub(crate) refused: Option<Reply>,
    /// Names or URIs that stand on more than one page.
    pub(crate) repeated: Vec<String>,
    /// Whether the pages went on without anything new.
    pub(crate) is_endless: bool,
    /// The line of the last page.
    pub(crate) line: u64,
}

/// Reads a list page by page.
pub(crate) async fn read_pages(
    conversation: &Conversation,
    method: &str,
    member: &str,
) -> Result<Listing, Trouble> {
    let (mut listing, mut cursor, mut idle) = (Listing::default(), None::<Value>, 0);
    let mut seen = HashSet::new();
    while listing.pages < conversation.limits().pages {
        let params = match &cursor {
            Some(cursor) => json!({ "cursor": cursor }),
            None => Value::Null,
        };
        let reply = conversation.request(method, params).await?;
        listing.pages += 1;
        listing.line = reply.line();
        let Some(result) = reply.result() else {
            listing.refused = cursor.is_some().then_some(reply);
            return Ok(listing);
        };
        let page = result[member].as_array().map(Vec::as_slice).unwrap_or_default();
        let names: Vec<String> = page.iter().map(identity).collect();
        listing.repeated.extend(names.iter().filter(|name| seen.contains(*name)).cloned());
        let known = seen.len();
        seen.extend(names);
        idle = if seen.len() > known { 0 } else { idle + 1 };
        listing.entries.extend_from_slice(page);
        match &result["nextCursor"] {
            next @ Value::String(_) if cursor.as_ref() != Some(next) => cursor = Some(next.clone()),
            _ => return Ok(listing),
        }
        if idle >= IDLE_PAGES {
            listing.is_endless = true;
            return Ok(listing);
        }
    }
    Ok(listing)
}

/// What tells an entry of a list from the others.
fn identity(entry: &Value) -> String {
    let name = ["uri", "uriTemplate", "name"].into_iter().find_map(|key| entry[key].as_str());
    name.map_or_else(|| entry.to_string(), str::to_owned)
}
