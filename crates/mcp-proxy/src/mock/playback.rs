//! Chooses the next recorded answer.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use mcp_core::{MemoryBudget, excerpt};
use mcp_json::Node;
use mcp_jsonrpc::Envelope;

use super::{
    client_budget,
    script::{Script, Take},
};

/// Number of methods to list in an error.
const SHOWN_METHODS: usize = 20;
/// Bytes of a method to show in an error.
const SHOWN_METHOD: usize = 100;

/// A script and the state of playing it: a repeated request gets the recorded answers in order,
/// then the last one again.
#[derive(Debug)]
pub struct Playback {
    script: Arc<Script>,
    /// How often each request has been made.
    made: Mutex<HashMap<u64, usize>>,
    waiting: MemoryBudget,
}

/// A take of a script.
#[derive(Debug, Clone)]
pub(super) struct TakeRef {
    script: Arc<Script>,
    index: usize,
}

impl TakeRef {
    pub(super) fn get(&self) -> &Take {
        &self.script.takes[self.index]
    }
}

impl Playback {
    /// Starts at the beginning.
    pub fn new(script: Arc<Script>) -> Playback {
        Playback::within(MemoryBudget::new(client_budget::FOR_ALL), script)
    }

    /// Starts at the beginning, with `waiting` as budget for messages queued for slow clients.
    pub(super) fn within(waiting: MemoryBudget, script: Arc<Script>) -> Playback {
        Playback { script, made: Mutex::default(), waiting }
    }

    /// A new playback for another client. Both share the budget for queued messages.
    #[must_use]
    pub fn afresh(&self) -> Playback {
        Playback::within(self.waiting.clone(), Arc::clone(&self.script))
    }

    /// The budget for messages queued for slow clients.
    pub(super) fn waiting(&self) -> &MemoryBudget {
        &self.waiting
    }

    /// The script that is played.
    pub fn script(&self) -> &Arc<Script> {
        &self.script
    }

    /// The answer to a request, or why there is none.
    pub(super) fn next(&self, request: &Envelope<'_>) -> Result<TakeRef, String> {
        let script = &self.script;
        let key = script.keyer.request(request);
        let exact = script.exact.get(&key.exact).map(|takes| (key.exact, takes));
        let found = exact.or_else(|| Some((key.alike, script.alike.get(&key.alike)?)));
        let Some((key, takes)) = found else { return Err(self.explain(request, key.alike)) };
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        let count = made.entry(key).or_default();
        let index = takes[(*count).min(takes.len() - 1)];
        *count = count.saturating_add(1);
        Ok(TakeRef { script: Arc::clone(script), index })
    }

    fn explain(&self, request: &Envelope<'_>, alike: u64) -> String {
        let script = &self.script;
        let method = request.method.and_then(Node::as_str).unwrap_or_default();
        let shown = excerpt(&method, SHOWN_METHOD);
        if script.unanswered.contains(&alike) {
            return format!("the recording has this `{shown}`, but no answer to it");
        }
        let Some(takes) = script.methods.get(&*method) else {
            let names: Vec<&str> =
                script.methods.keys().take(SHOWN_METHODS).map(String::as_str).collect();
            let more = if script.methods.len() > SHOWN_METHODS { ", …" } else { "" };
            let names = names.join(", ");
            return format!("the recording has no `{shown}`, only {names}{more}");
        };
        let asked = script.keyer.members(request);
        let shared = |index: &usize| {
            let members = &script.takes[*index].sketch.members;
            members.iter().filter(|member| asked.contains(member)).count()
        };
        // Of equally close ones, the first.
        let nearest = takes.iter().rev().max_by_key(|index| shared(index));
        let params = nearest.map_or("", |index| &script.takes[*index].sketch.params);
        match params {
            "" => format!("the recording has `{shown}` only without params"),
            params => format!(
                "the recording has no `{shown}` with these params; the closest has {params}"
            ),
        }
    }
}
