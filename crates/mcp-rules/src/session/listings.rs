//! What the server has listed: tools, prompts, resource templates.

use mcp_json::Node;
use serde::{Deserialize, Serialize};

use super::{Bounded, Event, Moment};
use crate::Limits;

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
    entries: Bounded<Box<str>, T>,
    state: ListingState,
}

impl<T> Default for Listing<T> {
    fn default() -> Self {
        Listing { entries: Bounded::default(), state: ListingState::default() }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) enum ListingState {
    /// Nothing of it was seen.
    #[default]
    Unknown,
    /// Some pages were seen.
    Partial,
    /// All pages were seen, and nothing has changed since.
    Complete,
    /// It has changed since.
    Stale,
}

impl<T> Listing<T> {
    /// The entry of this name, if it was listed and the list is not stale.
    pub(crate) fn get(&self, name: &str) -> Option<&T> {
        if self.state == ListingState::Stale {
            return None;
        }
        self.entries.get(name)
    }

    pub(crate) fn is_complete(&self) -> bool {
        self.state == ListingState::Complete && !self.entries.forgot()
    }
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Tool {
    pub(crate) at: Moment,
    pub(crate) task_support: TaskSupport,
    /// The properties that are repeated in headers (2026-07-28).
    pub(crate) headers: Vec<HeaderParam>,
}

/// A tool's word on tasks (2025-11-25); saying nothing means forbidden.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) enum TaskSupport {
    #[default]
    Forbidden,
    Optional,
    Required,
}

/// A property of a tool's arguments that a header repeats.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct HeaderParam {
    /// The property names that lead to it from the root.
    pub(crate) path: Vec<Box<str>>,
    /// The part of the header name after `Mcp-Param-`.
    pub(crate) name: Box<str>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Prompt {
    pub(crate) at: Moment,
    pub(crate) required: Vec<Box<str>>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Template {
    pub(crate) at: Moment,
}

impl Listings {
    /// Takes the message in, after it was judged.
    pub(super) fn take_in(&mut self, event: &Event<'_>, limits: &Limits) {}
}
