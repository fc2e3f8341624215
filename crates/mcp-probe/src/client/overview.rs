use std::collections::{BTreeMap, BTreeSet};

use mcp_core::Revision;
use serde_json::Value;

use super::{process::Exit, visit::Visit};
use crate::{Kind, WireKind};

/// What a client does with a plain server, at every revision.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Acquaintance {
    /// How it comes to the server.
    pub wire: WireKind,
    /// What it does at each revision that it speaks.
    pub met: BTreeMap<Revision, Met>,
    /// Why the others are not among them.
    pub refused: BTreeMap<Revision, String>,
}

/// What a client does at one revision when nothing is unusual.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
#[expect(clippy::struct_excessive_bools, reason = "each is a habit of its own")]
pub struct Met {
    /// The revision.
    pub revision: Revision,
    /// What it calls itself.
    pub client: Value,
    /// What it declares.
    pub capabilities: Value,
    /// The methods of its requests after the opening.
    pub requests: BTreeSet<String>,
    /// Whether it exits by itself.
    pub exits: bool,
    pub(crate) exit: Option<Exit>,
    pub(crate) has_progress: bool,
    pub(crate) gets: bool,
    pub(crate) has_session: bool,
    pub(crate) own_server: bool,
}

impl Met {
    /// What was seen in a visit, whether or not a conversation was opened.
    pub(crate) fn of(visit: &Visit, revision: Revision, own_server: bool) -> Met {
        let mut met = Met {
            revision,
            client: Value::Null,
            capabilities: Value::Null,
            requests: requests(visit),
            exits: visit.exit.is_some(),
            exit: visit.exit,
            has_progress: false,
            gets: false,
            has_session: false,
            own_server,
        };
        for play in &visit.plays {
            let state = play.state();
            if !state.client.is_null() {
                met.client = state.client.clone();
            }
            if !state.capabilities.is_null() {
                met.capabilities = state.capabilities.clone();
            }
            met.has_progress |= state
                .heard
                .iter()
                .any(|message| message.value.pointer("/params/_meta/progressToken").is_some());
            met.gets |= state.http.gets > 0;
            met.has_session |= state.http.sessions > 0;
        }
        met
    }

    /// Whether a capability is declared, by a pointer such as `/roots`.
    pub(crate) fn declares(&self, pointer: &str) -> bool {
        self.capabilities.pointer(pointer).is_some_and(|value| !value.is_null())
    }

    /// Whether a later plain visit went in the same way.
    pub(crate) fn is_like(&self, other: &Met) -> bool {
        self.requests == other.requests && self.exit == other.exit
    }
}

/// The methods of a client's requests, without those that open conversations.
pub(crate) fn requests(visit: &Visit) -> BTreeSet<String> {
    let mut methods = BTreeSet::new();
    for play in &visit.plays {
        let state = play.state();
        let requests = state.heard.iter().filter(|message| message.kind == Kind::Request);
        methods.extend(requests.filter_map(|request| request.method()).map(str::to_owned));
    }
    for opening in ["initialize", "server/discover"] {
        methods.remove(opening);
    }
    methods
}
