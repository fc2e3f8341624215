//! The server's listings: tools, prompts, resource templates.
//!
//! Pages accumulate from the first, each continuing where the previous one ended. A change
//! notification clears the state, and so does reading from the start again. What remains is current
//! as far as known.

use mcp_core::{Revision, Side};
use mcp_json::Node;
use serde::{Deserialize, Serialize};

use super::{
    Bounded, Event, Moment,
    asked::AskedPage,
    digest::{digest, kept},
    stated_schema::StatedSchema,
};
use crate::{HeaderParams, criteria::Criteria};

/// Maximum bytes of schemas kept for the tools of a server.
const SCHEMA_BYTES: usize = 16 << 20;
/// Maximum required arguments kept per prompt; each is looked up in every request.
const MAX_REQUIRED: usize = 256;

/// The listings of a session (2026-07-28: of a server).
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Listings {
    pub(crate) tools: Listing<Tool>,
    pub(crate) prompts: Listing<Prompt>,
    pub(crate) templates: Listing<Template>,
}

/// What is known of one list, by name.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Listing<T> {
    /// `None` for a name that was listed twice with different contents.
    entries: Bounded<Box<str>, Option<T>>,
    state: ListingState,
    /// Digest of the cursor that continues the pages read so far.
    next: Option<u64>,
    /// How many times the server announced a change of the list.
    changes: u64,
    /// Bytes that may still be kept of it.
    room: usize,
}

impl<T> Default for Listing<T> {
    fn default() -> Self {
        Listing {
            entries: Bounded::default(),
            state: ListingState::default(),
            next: None,
            changes: 0,
            room: SCHEMA_BYTES,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) enum ListingState {
    /// Nothing of it was observed.
    #[default]
    Unknown,
    /// Some pages were observed.
    Partial,
    /// All pages were observed, and nothing has changed since.
    Complete,
    /// It has changed since.
    Stale,
}

impl<T> Listing<T> {
    /// The entry with this name, if it is current and unambiguous.
    pub(crate) fn get(&self, name: &str) -> Option<&T> {
        self.entries.get(&*kept(name.into()))?.as_ref()
    }

    /// Whether the list is fully known and has no entry with this name.
    pub(crate) fn lacks(&self, name: &str) -> bool {
        self.is_complete() && !self.entries.contains(&*kept(name.into()))
    }

    pub(crate) fn is_complete(&self) -> bool {
        self.state == ListingState::Complete && !self.entries.forgot()
    }

    /// How many times the list has changed. Answers to requests made before a change are outdated.
    pub(crate) fn changes(&self) -> u64 {
        self.changes
    }

    /// Returns what to do about a name that is not listed.
    pub(crate) fn suggestion(&self, name: &str) -> String {
        const TRIED: usize = 1_000;
        let names = self.entries.iter().map(|(name, _)| &**name).take(TRIED);
        match mcp_schema::nearest(name, names) {
            Some(near) => format!("did you mean `{near}`?"),
            None => "use a name from the list, and read it again after it has changed".to_owned(),
        }
    }

    fn empty(&mut self, state: ListingState) {
        self.entries.clear();
        self.state = state;
        self.next = None;
        self.room = SCHEMA_BYTES;
    }

    fn change(&mut self) {
        self.changes += 1;
        self.empty(ListingState::Stale);
    }
}

impl<T: Listed> Listing<T> {
    /// Records a page. A page requested before the last change may be outdated.
    fn read(&mut self, page: &AskedPage, event: &Event<'_>, result: Node<'_>, criteria: &Criteria) {
        if page.changes != self.changes {
            return;
        }
        // A list that is read again is usually unchanged.
        let mut before = Bounded::default();
        let in_order = match page.cursor {
            None => {
                before = std::mem::take(&mut self.entries);
                self.empty(ListingState::Partial);
                true
            }
            Some(cursor) => self.next == Some(cursor),
        };
        let mut all_named = true;
        for node in result.get(T::MEMBER).into_iter().flat_map(Node::elements) {
            let Some(name) = node.get(T::NAME).and_then(Node::as_str).map(kept) else {
                all_named = false;
                continue;
            };
            let entry =
                T::of(node, event, before.remove(&*name).flatten(), &mut self.room, criteria);
            let said_before = self.entries.get(&*name).filter(|_| in_order);
            let entry = match said_before {
                Some(Some(before)) if !before.agrees(&entry) => None,
                Some(None) => None,
                _ => Some(entry),
            };
            self.entries.insert(name.into(), entry, criteria.settings().limits.remembered);
        }
        let next = result.get("nextCursor");
        self.next = next.and_then(Node::str_bytes).map(|cursor| digest(&cursor));
        // A page out of order may have shifted entries, and an unnamed entry may be anything.
        let in_order = in_order && all_named;
        let ended = next.is_none() && result.get(T::MEMBER).is_some_and(Node::is_array);
        self.state = match (in_order, ended) {
            (true, true) => ListingState::Complete,
            (true, false) => ListingState::Partial,
            (false, _) => {
                self.next = None;
                ListingState::Partial
            }
        };
    }
}

/// An object that a server lists.
pub(crate) trait Listed: Sized {
    /// The member of a result that holds a page.
    const MEMBER: &'static str;
    /// The member of an entry that identifies it.
    const NAME: &'static str;

    /// Reads an entry; `before` is the previous entry with that name, which may save work.
    fn of(
        node: Node<'_>,
        event: &Event<'_>,
        before: Option<Self>,
        room: &mut usize,
        criteria: &Criteria,
    ) -> Self;

    /// Whether another entry with the same name has the same contents.
    fn agrees(&self, other: &Self) -> bool;
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Tool {
    pub(crate) at: Moment,
    pub(crate) task_support: TaskSupport,
    /// The properties mirrored in headers (2026-07-28).
    pub(crate) headers: HeaderParams,
    /// The schema of arguments, if it is an object.
    pub(crate) input: Option<StatedSchema>,
    /// The schema of structured content, if it is an object.
    pub(crate) output: Option<StatedSchema>,
}

impl Listed for Tool {
    const MEMBER: &'static str = "tools";
    const NAME: &'static str = "name";

    fn of(
        node: Node<'_>,
        event: &Event<'_>,
        before: Option<Tool>,
        room: &mut usize,
        criteria: &Criteria,
    ) -> Tool {
        let schema = |member: &str| node.get(member).filter(|schema| schema.is_object());
        let (input, output) = (schema("inputSchema"), schema("outputSchema"));
        let before = before.map_or((None, None), |before| (before.input, before.output));
        let mut kept =
            |before, schema| StatedSchema::renewed(before, schema, event.revision, room, criteria);
        Tool {
            at: event.at,
            task_support: TaskSupport::of(node),
            headers: input.map(|schema| header_params(schema, event.revision)).unwrap_or_default(),
            input: input.map(|schema| kept(before.0, schema)),
            output: output.map(|schema| kept(before.1, schema)),
        }
    }

    fn agrees(&self, other: &Tool) -> bool {
        let same = |own: &Option<StatedSchema>, others: &Option<StatedSchema>| match (own, others) {
            (Some(own), Some(others)) => own.equals(others),
            (None, None) => true,
            _ => false,
        };
        same(&self.input, &other.input)
            && same(&self.output, &other.output)
            && self.task_support == other.task_support
    }
}

/// A tool's task support (2025-11-25); forbidden by default.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) enum TaskSupport {
    #[default]
    Forbidden,
    Optional,
    Required,
}

impl TaskSupport {
    fn of(tool: Node<'_>) -> TaskSupport {
        let said = tool.get("execution").and_then(|execution| execution.get("taskSupport"));
        match said.and_then(Node::as_str).as_deref() {
            Some("optional") => TaskSupport::Optional,
            Some("required") => TaskSupport::Required,
            _ => TaskSupport::Forbidden,
        }
    }
}

/// The arguments that an `inputSchema` wants mirrored in headers; none if that is impossible, as
/// clients must then skip the tool.
fn header_params(schema: Node<'_>, revision: Revision) -> HeaderParams {
    if revision < Revision::V2026_07_28 {
        return HeaderParams::default();
    }
    HeaderParams::of(schema).unwrap_or_default()
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Prompt {
    pub(crate) at: Moment,
    /// The required arguments.
    pub(crate) required: Vec<Box<str>>,
}

impl Listed for Prompt {
    const MEMBER: &'static str = "prompts";
    const NAME: &'static str = "name";

    fn of(
        node: Node<'_>,
        event: &Event<'_>,
        _: Option<Prompt>,
        room: &mut usize,
        _: &Criteria,
    ) -> Prompt {
        let mut required = Vec::new();
        for argument in node.get("arguments").into_iter().flat_map(Node::elements) {
            let is_required = argument.get("required").and_then(Node::as_bool) == Some(true);
            let Some(name) = argument.get("name").and_then(Node::as_str) else { continue };
            if required.len() == MAX_REQUIRED {
                break;
            }
            if is_required && let Some(left) = room.checked_sub(name.len().max(16)) {
                *room = left;
                required.push(name.into());
            }
        }
        Prompt { at: event.at, required }
    }

    fn agrees(&self, other: &Prompt) -> bool {
        self.required == other.required
    }
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Template {
    pub(crate) at: Moment,
}

impl Listed for Template {
    const MEMBER: &'static str = "resourceTemplates";
    const NAME: &'static str = "uriTemplate";

    fn of(
        _: Node<'_>,
        event: &Event<'_>,
        _: Option<Template>,
        _: &mut usize,
        _: &Criteria,
    ) -> Template {
        Template { at: event.at }
    }

    fn agrees(&self, _: &Template) -> bool {
        true
    }
}

impl Listings {
    /// How many times the list that `method` reads has changed.
    pub(crate) fn changes(&self, method: &str) -> u64 {
        match method {
            "tools/list" => self.tools.changes(),
            "prompts/list" => self.prompts.changes(),
            // They have no notification of their own.
            "resources/list" | "resources/templates/list" => self.templates.changes(),
            _ => 0,
        }
    }

    /// Records the message after it was judged.
    pub(crate) fn take_in(&mut self, event: &Event<'_>, criteria: &Criteria) {
        if event.from != Side::Server {
            return;
        }
        match event.call() {
            Some("notifications/tools/list_changed") => self.tools.change(),
            Some("notifications/prompts/list_changed") => self.prompts.change(),
            // Templates have no notification of their own.
            Some("notifications/resources/list_changed") => self.templates.change(),
            Some(_) => {}
            None => self.take_in_answer(event, criteria),
        }
    }

    fn take_in_answer(&mut self, event: &Event<'_>, criteria: &Criteria) {
        let (Some(request), Some(result)) = (event.answered(), event.result()) else {
            return;
        };
        let Some(page) = &request.asked.page else { return };
        match event.name {
            "tools/list" => self.tools.read(page, event, result, criteria),
            "prompts/list" => self.prompts.read(page, event, result, criteria),
            "resources/templates/list" => self.templates.read(page, event, result, criteria),
            _ => {}
        }
    }
}
