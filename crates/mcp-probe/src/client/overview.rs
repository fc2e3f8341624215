use std::collections::{BTreeMap, BTreeSet};

use mcp_core::Revision;
use serde_json::Value;

use super::{process::Exit, scenario_run::ScenarioRun};
use crate::{Kind, WireKind};

/// What a client does normally, at every revision.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ClientOverview {
    /// The transport that it uses.
    pub wire: WireKind,
    /// Its normal behaviour at each revision that it speaks.
    pub normal: BTreeMap<Revision, NormalBehaviour>,
    /// The reasons why it does not speak the other revisions.
    pub refused: BTreeMap<Revision, String>,
}

/// What a client does with a plain server at one revision.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
#[expect(clippy::struct_excessive_bools, reason = "each is a habit of its own")]
pub struct NormalBehaviour {
    /// The revision.
    pub revision: Revision,
    /// Its `clientInfo`.
    pub client: Value,
    /// Its capabilities.
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

impl NormalBehaviour {
    /// Extracts the behaviour from a run, whether or not a conversation was opened.
    pub(crate) fn of(run: &ScenarioRun, revision: Revision, own_server: bool) -> NormalBehaviour {
        let mut normal = NormalBehaviour {
            revision,
            client: Value::Null,
            capabilities: Value::Null,
            requests: requests(run),
            exits: run.exit.is_some(),
            exit: run.exit,
            has_progress: false,
            gets: false,
            has_session: false,
            own_server,
        };
        for play in &run.plays {
            let state = play.state();
            if !state.client.is_null() {
                normal.client = state.client.clone();
            }
            if !state.capabilities.is_null() {
                normal.capabilities = state.capabilities.clone();
            }
            normal.has_progress |= state
                .heard
                .iter()
                .any(|message| message.value.pointer("/params/_meta/progressToken").is_some());
            normal.gets |= state.http.gets > 0;
            normal.has_session |= state.http.sessions > 0;
        }
        normal
    }

    /// Whether a capability is declared, given as a pointer such as `/roots`.
    pub(crate) fn declares(&self, pointer: &str) -> bool {
        self.capabilities.pointer(pointer).is_some_and(|value| !value.is_null())
    }

    /// Whether a later run with a plain server went the same way.
    pub(crate) fn is_like(&self, other: &NormalBehaviour) -> bool {
        self.requests == other.requests && self.exit == other.exit
    }
}

/// The methods of a client's requests, except those that open conversations.
pub(crate) fn requests(run: &ScenarioRun) -> BTreeSet<String> {
    let mut methods = BTreeSet::new();
    for play in &run.plays {
        let state = play.state();
        let requests = state.heard.iter().filter(|message| message.kind == Kind::Request);
        methods.extend(requests.filter_map(|request| request.method()).map(str::to_owned));
    }
    for opening in ["initialize", "server/discover"] {
        methods.remove(opening);
    }
    methods
}
