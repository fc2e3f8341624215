//! Discovers the revisions that a server speaks, and what it offers at each.

use std::{collections::HashSet, sync::Arc};

use futures_util::future::join_all;
use mcp_core::{Era, Revision};
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::{
    Conversation, ConversationError, Discovery, Limits, Offer, Opening, Reply, stage::RunContext,
};

/// The list methods, with the capability that declares each and the result member that holds its
/// entries.
pub(crate) const LISTS: [(&str, &str, &str); 4] = [
    ("tools/list", "/tools", "tools"),
    ("resources/list", "/resources", "resources"),
    ("resources/templates/list", "/resources", "resourceTemplates"),
    ("prompts/list", "/prompts", "prompts"),
];

/// The result of discovery, with the conversations that were opened for it.
pub(crate) struct Discovered {
    pub(crate) found: Discovery,
    pub(crate) conversations: Vec<(Revision, Conversation)>,
    /// Conversations that could not be opened, and have ended.
    pub(crate) failed: Vec<(Revision, Conversation)>,
    /// Errors while listing.
    pub(crate) errors: Vec<(Revision, ConversationError)>,
    /// Whether the server could be started or reached at all.
    pub(crate) reached: bool,
    /// The standard error of the server, if no conversation could be opened.
    pub(crate) stderr: String,
}

pub(crate) async fn discover(context: &Arc<RunContext>, deadline: Instant) -> Discovered {
    let mut discovered = Discovered {
        found: Discovery::default(),
        conversations: Vec::new(),
        failed: Vec::new(),
        errors: Vec::new(),
        reached: false,
        stderr: String::new(),
    };
    // Open the first one alone: the first start may be slow, and warms caches for the others.
    let mut candidates = candidates(&context.settings.revisions);
    let others = candidates.split_off(candidates.len().min(1));
    let mut limits = context.settings.limits;
    for revisions in [candidates, others] {
        let results = revisions.into_iter().map(|revision| {
            let result = tokio::time::timeout_at(deadline, open_at(context, revision, limits));
            async move { (revision, result.await) }
        });
        for (revision, result) in join_all(results).await {
            if matches!(
                &result,
                Ok(OpenResult::Refused { error: ConversationError::Unanswered { .. }, .. })
            ) {
                // A server that was silent for so long has started by now, or never will.
                limits.start = context.settings.limits.start / 2;
            }
            if let Ok(result) = result {
                discovered.add(revision, result);
            } else {
                let reason = "the time limit was reached before it answered".to_owned();
                discovered.found.refused.insert(revision, reason);
            }
        }
    }
    discovered
}

/// The result of trying a revision.
enum OpenResult {
    Unreachable(ConversationError),
    Open { conversation: Conversation, offer: Box<Offer>, error: Option<ConversationError> },
    Refused { conversation: Conversation, error: ConversationError, is_judged: bool },
}

impl Discovered {
    /// Whether every attempt to open a conversation was refused because credentials were missing.
    pub(crate) fn wants_credentials(&self) -> bool {
        let refused = &self.found.refused;
        self.found.offers.is_empty()
            && !refused.is_empty()
            && refused.values().all(|reason| reason.ends_with("status 401"))
    }

    fn add(&mut self, revision: Revision, met: OpenResult) {
        match met {
            OpenResult::Unreachable(error) => {
                self.found.refused.insert(revision, error.to_string());
            }
            OpenResult::Open { conversation, offer, error } => {
                self.reached = true;
                self.found.offers.insert(revision, *offer);
                self.errors.extend(error.map(|error| (revision, error)));
                self.conversations.push((revision, conversation));
            }
            OpenResult::Refused { conversation, error, is_judged } => {
                self.reached |= matches!(error, ConversationError::Refused(_));
                self.found.refused.insert(revision, error.to_string());
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

async fn open_at(context: &Arc<RunContext>, revision: Revision, limits: Limits) -> OpenResult {
    let opening = Opening::at(revision);
    let conversation = match context.connect("discover", &opening, limits).await {
        Ok(conversation) => conversation,
        Err(error) => return OpenResult::Unreachable(error),
    };
    match conversation.open(&opening).await {
        Ok(()) => {
            let (offer, error) = list(&conversation).await;
            OpenResult::Open { conversation, offer: Box::new(offer), error }
        }
        Err(error) => {
            // A server of the other era may answer in its own way, which is not judged.
            let is_judged = revision.era() == Era::Legacy
                || matches!(error, ConversationError::Refused(_))
                    && (!conversation.opened().is_null() || speaks(&conversation).await);
            conversation.close_soon().await;
            OpenResult::Refused { conversation, error, is_judged }
        }
    }
}

/// Whether a server that refuses `server/discover` speaks the revision nevertheless. If so,
/// `server/discover` is sent again, for the rule `discover-not-implemented`.
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

/// The revisions to try, starting with the one that most servers speak.
fn candidates(chosen: &[Revision]) -> Vec<Revision> {
    let mut all: Vec<Revision> = Revision::ALL.to_vec();
    all.sort_by_key(|revision| *revision != Revision::LATEST_LEGACY);
    all.retain(|revision| chosen.is_empty() || chosen.contains(revision));
    all
}

/// Lists everything that is offered.
async fn list(conversation: &Conversation) -> (Offer, Option<ConversationError>) {
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
            Err(error) => return (offer, Some(error)),
        }
    }
    (offer, None)
}

/// The entries of all pages, and the number of pages. An error counts as no entries; probes judge
/// errors.
pub(crate) async fn all_pages(
    conversation: &Conversation,
    method: &str,
    member: &str,
) -> Result<(Vec<Value>, usize), ConversationError> {
    let listing = read_pages(conversation, method, member).await?;
    Ok((listing.entries, listing.pages))
}

/// Maximum number of consecutive pages without new entries.
const IDLE_PAGES: usize = 10;

/// A list, read to its end.
#[derive(Debug, Default)]
pub(crate) struct Listing {
    pub(crate) entries: Vec<Value>,
    pub(crate) pages: usize,
    /// The error with which the server answered its own cursor.
    pub(crate) refused: Option<Reply>,
    /// Names or URIs that occur on more than one page.
    pub(crate) repeated: Vec<String>,
    /// Whether pages kept coming without new entries.
    pub(crate) is_endless: bool,
    /// The line of the last page.
    pub(crate) line: u64,
}

/// Reads a list page by page.
pub(crate) async fn read_pages(
    conversation: &Conversation,
    method: &str,
    member: &str,
) -> Result<Listing, ConversationError> {
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

/// The member that identifies an entry of a list.
fn identity(entry: &Value) -> String {
    let name = ["uri", "uriTemplate", "name"].into_iter().find_map(|key| entry[key].as_str());
    name.map_or_else(|| entry.to_string(), str::to_owned)
}
