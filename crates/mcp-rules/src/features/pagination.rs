//! Cursors: which ones the server issued, and where they lead.

use mcp_core::{Revision, Revisions, Side};
use mcp_json::Node;
use mcp_jsonrpc::ErrorCode;
use serde::{Deserialize, Serialize};

use super::Family;
use crate::{
    Level,
    conversation::{
        Bounded, Event, Known, Moment, Notes, Remembered,
        asked::AskedPage,
        digest::{digest, digest_of},
    },
    findings::Fault,
};

rules! {
    CURSOR_UNKNOWN: "cursor-unknown", Session, Level::ErrorIn(Revisions::LEGACY), Revisions::ALL, "server/utilities/pagination#implementation-guidelines";
    CURSOR_LOOP: "cursor-loop", Session, Level::Warning, Revisions::ALL, "server/utilities/pagination#implementation-guidelines";
    CACHE_SCOPE_PAGE_MISMATCH: "cache-scope-page-mismatch", Session, Level::Error, Revisions::only(Revision::V2026_07_28), "server/utilities/caching#interaction-with-pagination";
}

/// The cursors issued so far.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Pagination {
    /// Keyed by a digest of asker, method and cursor.
    issued: Bounded<u64, Issued>,
}

#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
struct Issued {
    at: Moment,
    /// The cache scope of the page that issued it, unless several pages did with different scopes.
    scope: Option<Scope>,
}

impl Family for Pagination {
    fn concerns(event: &Event<'_>) -> bool {
        event.name.ends_with("/list") && is_list(event.name)
    }

    fn follow(
        &mut self,
        event: &Event<'_>,
        asked: &mut Remembered,
        known: &Known<'_>,
        notes: &mut Notes,
    ) {
        if event.request().is_some() {
            self.follow_request(event, asked, known, notes);
        } else if let (Some(request), Some(result)) = (event.answered(), event.result())
            && let Some(page) = &request.asked.page
        {
            self.check_scope(event, page, result, notes);
            self.follow_next(event, page, result, known, notes);
        }
    }
}

impl Pagination {
    fn follow_request(
        &self,
        event: &Event<'_>,
        asked: &mut Remembered,
        known: &Known<'_>,
        notes: &mut Notes,
    ) {
        let cursor = event.params().and_then(|params| params.get("cursor"));
        // `null` is a fault of its own, and every implementation reads it as absent.
        let cursor = cursor.filter(|cursor| !cursor.is_null());
        let text = cursor.and_then(Node::str_bytes);
        if cursor.is_some() && text.is_none() {
            return;
        }
        let page = AskedPage {
            cursor: text.as_deref().map(digest),
            changes: known.listings.changes(event.name),
        };
        asked.remember().page = Some(Box::new(page));
        let Some(cursor) = cursor else { return };
        if self.may_be_issued(event, &page, known) {
            return;
        }
        notes.note(
            Fault::new(
                &CURSOR_UNKNOWN,
                format!("the cursor was never a `nextCursor` of `{}` in this session", event.name),
            )
            .at(cursor.span())
            .code(ErrorCode::InvalidParams.code())
            .help("send `nextCursor` back unchanged, or omit `cursor` to start over"),
        );
    }

    fn may_be_issued(&self, event: &Event<'_>, page: &AskedPage, known: &Known<'_>) -> bool {
        let issued = page
            .cursor
            .is_some_and(|cursor| self.issued.contains(&key(event.from, event.name, cursor)));
        // An unreadable answer leaves its request open, and may have carried the cursor.
        let answer_lost =
            || known.requests.iter_open(event.from).any(|(_, open)| open.name() == event.name);
        issued || !known.from_start || self.issued.forgot() || answer_lost()
    }

    fn check_scope(
        &self,
        event: &Event<'_>,
        page: &AskedPage,
        result: Node<'_>,
        notes: &mut Notes,
    ) {
        let asker = event.from.other();
        let Some(scope) = result.get("cacheScope").filter(|_| event.is_modern()) else { return };
        let before =
            page.cursor.and_then(|cursor| self.issued.get(&key(asker, event.name, cursor)));
        let Some(before) = before else { return };
        let (Some(this), Some(that)) = (Scope::of(scope), before.scope) else { return };
        if this == that {
            return;
        }
        notes.note(
            Fault::new(
                &CACHE_SCOPE_PAGE_MISMATCH,
                format!("this page is {}, but the previous page is {}", this.name(), that.name()),
            )
            .at(scope.span())
            .related(before.at.line(), "the previous page was here")
            .help("give all pages of a list the same `cacheScope`"),
        );
    }

    fn follow_next(
        &mut self,
        event: &Event<'_>,
        page: &AskedPage,
        result: Node<'_>,
        known: &Known<'_>,
        notes: &mut Notes,
    ) {
        let Some(next) = result.get("nextCursor") else { return };
        let Some(cursor) = next.str_bytes().map(|cursor| digest(&cursor)) else { return };
        if page.cursor == Some(cursor) {
            notes.note(
                Fault::new(&CURSOR_LOOP, "the `nextCursor` of the page leads back to itself")
                    .at(next.span())
                    .related(event.answered().and_then(|request| request.at.line()), ASKED_HERE)
                    .help(
                        "send the cursor of the next page, and omit `nextCursor` on the last page",
                    ),
            );
        }
        let key = key(event.from.other(), event.name, cursor);
        let scope = result.get("cacheScope").and_then(Scope::of);
        let differs = self.issued.get(&key).is_some_and(|earlier| earlier.scope != scope);
        let scope = scope.filter(|_| !differs);
        self.issued.insert(key, Issued { at: event.at, scope }, known.limits.remembered);
    }
}

const ASKED_HERE: &str = "it was requested here";

fn is_list(method: &str) -> bool {
    matches!(
        method,
        "tools/list"
            | "prompts/list"
            | "resources/list"
            | "resources/templates/list"
            | "tasks/list"
    )
}

/// Digest of a cursor of one list. Either side may list tasks.
fn key(asker: Side, method: &str, cursor: u64) -> u64 {
    digest_of([asker.as_str().as_bytes(), method.as_bytes(), &cursor.to_le_bytes()])
}

/// A value of `cacheScope`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
enum Scope {
    Public,
    Private,
}

impl Scope {
    fn of(scope: Node<'_>) -> Option<Scope> {
        match scope.as_str().as_deref() {
            Some("public") => Some(Scope::Public),
            Some("private") => Some(Scope::Private),
            _ => None,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Scope::Public => "public",
            Scope::Private => "private",
        }
    }
}
