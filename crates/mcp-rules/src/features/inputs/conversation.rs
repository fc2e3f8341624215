//! Results that ask for more input, and the retries that bring it (2026-07-28).
//!
//! A retry is a separate request and may come late, on another connection, or never. Pending
//! questions are therefore remembered by their `requestState` and by the request's target, and a
//! request is treated as a retry only where that is unambiguous.

use mcp_core::{Revision, Revisions, Side};
use mcp_json::Node;
use serde::{Deserialize, Serialize};

use super::{pending::Pending, retry::Retry};
use crate::{
    Level,
    conversation::{
        Bounded, Capabilities, Event, Flag, Known, Notes, Remembered, What, asked::Target,
    },
    features::Family,
    findings::Fault,
};

pub(super) const MODERN: Revisions = Revisions::only(Revision::V2026_07_28);

rules! {
    UNDECLARED: "input-request-undeclared", Session, Level::Error, MODERN, "basic/patterns/mrtr#server-requirements-basic-workflow";
    SAME_ID: "mrtr-retry-same-id", Session, Level::Error, MODERN, "basic/patterns/mrtr#client-requirements-basic-workflow";
    STATE_MISMATCH: "mrtr-request-state-mismatch", Session, Level::Error, MODERN, "basic/patterns/mrtr#client-requirements-basic-workflow";
    WRONG_REQUEST: "mrtr-state-wrong-request", Session, Level::Error, MODERN, "basic/patterns/mrtr#client-requirements-basic-workflow";
    RESPONSE_MISSING: "mrtr-input-response-missing", Session, Level::Error, MODERN, "basic/patterns/mrtr#client-requirements-basic-workflow";
    RESPONSE_UNKNOWN: "mrtr-input-response-unknown", Session, Level::Warning, MODERN, "basic/patterns/mrtr#inputresponses";
    RESPONSE_TYPE: "mrtr-input-response-type", Session, Level::Error, MODERN, "basic/patterns/mrtr#inputresponses";
}

/// The methods whose results may ask for input.
pub(crate) const RETRIED: &[&str] = &["tools/call", "prompts/get", "resources/read"];

/// Maximum remembered results that asked for input. Every retry is compared with all of them.
const MAX_PENDING: usize = 1000;

/// How many of them, newest first, are remembered in full detail.
const MAX_DETAILED: u64 = 32;

/// Maximum entries reported per result.
pub(super) const MAX_REPORTED: usize = 16;

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Inputs {
    /// By number, in order of arrival. Answered ones stay: a retry may be repeated.
    pending: Bounded<u64, Pending>,
    count: u64,
}

impl Family for Inputs {
    fn concerns(event: &Event<'_>) -> bool {
        event.is_modern()
    }

    fn follow(
        &mut self,
        event: &Event<'_>,
        asked: &mut Remembered,
        known: &Known<'_>,
        notes: &mut Notes,
    ) {
        match (event.what, event.from) {
            (What::Request(id), Side::Client) => {
                let target = Target::of(event);
                if let Some(retry) = Retry::of(id, target, event) {
                    self.follow_retry(&retry, known, notes);
                }
                if let Some(target) = target {
                    asked.remember().input = Some(Box::new(target));
                }
            }
            (What::Answer(_), Side::Server) => self.follow_answer(event, known, notes),
            _ => {}
        }
    }
}

impl Inputs {
    fn follow_answer(&mut self, event: &Event<'_>, known: &Known<'_>, notes: &mut Notes) {
        let (What::Answer(answer), Some(result)) = (event.what, event.result()) else { return };
        let (Some(id), Some(request)) = (answer.id, answer.request) else { return };
        if !result.get("resultType").is_some_and(|kind| kind.str_eq("input_required")) {
            return;
        }
        if let Some(declared) = request.declared.as_ref() {
            check_declared(result, declared, notes);
        }
        let Some(target) = request.asked.input.as_deref() else { return };
        let Some(pending) = Pending::of(result, id, *target, event, known) else { return };
        self.count += 1;
        if let Some(old) = self.pending.get_mut(&self.count.saturating_sub(MAX_DETAILED)) {
            old.forget_details();
        }
        self.pending.insert(self.count, pending, MAX_PENDING.min(known.limits.remembered));
    }

    fn follow_retry(&mut self, retry: &Retry<'_>, known: &Known<'_>, notes: &mut Notes) {
        let all: Vec<&Pending> = self.pending.iter().map(|(_, pending)| pending).collect();
        if all.is_empty() {
            return;
        }
        let complete = known.from_start && !self.pending.forgot();
        retry.judge(&all, complete, known, notes);
    }
}

/// Checks that the client declared, in this very request, that it can answer the questions.
fn check_declared(result: Node<'_>, declared: &Capabilities, notes: &mut Notes) {
    let entries = result.get("inputRequests").into_iter().flat_map(Node::members);
    let undeclared = entries.filter_map(|(key, entry)| {
        let (flag, at) = needed(entry)?.into_iter().find(|(flag, _)| !declared.has(*flag))?;
        Some((key, flag, at))
    });
    for (key, flag, at) in undeclared.take(MAX_REPORTED) {
        let key = key.as_str().unwrap_or_default();
        notes.note(
            Fault::new(
                &UNDECLARED,
                format!(
                    "`{key}` needs a capability that the client did not declare: `{}`",
                    flag.path()
                ),
            )
            .at(at.span())
            .related(declared.at().line(), "its capabilities were declared here")
            .help("go on without it, or answer with error -32021, which names the capability"),
        );
    }
}

/// The capabilities a client needs to answer an input request, and the nodes that show it.
fn needed(entry: Node<'_>) -> Option<Vec<(Flag, Node<'_>)>> {
    let method = entry.get("method")?;
    let params = entry.get("params");
    let member = |name| params.and_then(|params| params.get(name));
    Some(match method.str_bytes()?.as_ref() {
        b"roots/list" => vec![(Flag::Roots, method)],
        b"sampling/createMessage" => {
            let tools = member("tools").or_else(|| member("toolChoice"));
            let tools = tools.map(|tools| (Flag::SamplingTools, tools));
            [(Flag::Sampling, method)].into_iter().chain(tools).collect()
        }
        b"elicitation/create" => {
            let mode = member("mode");
            let url = mode.is_some_and(|mode| mode.str_eq("url"));
            let flag = if url { Flag::ElicitationUrl } else { Flag::ElicitationForm };
            vec![(Flag::Elicitation, method), (flag, mode.unwrap_or(method))]
        }
        _ => return None,
    })
}
