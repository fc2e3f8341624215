//! Turns findings into refusals.

use std::collections::BTreeMap;

use mcp_core::{Json, Refusal, RefusalReason};
use mcp_json::Node;
use mcp_jsonrpc::{Envelope, MessageKind, Verdict};

use crate::{Finding, Severity, findings::Unjudged};

/// The kind of each entry, to tell which need no answer.
#[derive(Default)]
pub(crate) struct Kinds(Vec<Option<MessageKind>>);

impl Kinds {
    pub(crate) fn of(root: Node<'_>) -> Kinds {
        if root.is_array() {
            return Kinds(root.elements().map(|entry| Envelope::of(entry).kind()).collect());
        }
        Kinds(vec![Envelope::of(root).kind()])
    }

    fn is_response(&self, index: Option<usize>) -> bool {
        self.0.get(index.unwrap_or(0)) == Some(&Some(MessageKind::Response))
    }
}

/// One refusal for each entry that has a blocking finding or could not be judged.
pub(crate) fn refuse<'a>(
    blocking: impl Iterator<Item = &'a mut Finding>,
    unjudged: impl Iterator<Item = &'a Unjudged>,
    kinds: &Kinds,
) -> Verdict {
    let mut refusals: BTreeMap<Option<usize>, Refusal> = BTreeMap::new();
    for finding in blocking {
        finding.severity = Severity::Error;
        // Line numbers mean nothing to the other side.
        let shown = Finding { line: None, related: None, ..finding.clone() };
        let Ok(shown) = Json::of(&shown) else { continue };
        let refusal = refusals.entry(finding.index).or_insert_with(|| Refusal {
            index: finding.index,
            reason: reason_of(finding.code, kinds.is_response(finding.index)),
            message: sentence(finding),
            findings: Vec::new(),
            facts: None,
        });
        refusal.findings.push(shown);
    }
    for Unjudged { index, code, message, facts, .. } in unjudged {
        refusals.entry(*index).or_insert_with(|| Refusal {
            index: *index,
            reason: reason_of(*code, kinds.is_response(*index)),
            message: format!("it could not be checked: {message}"),
            findings: Vec::new(),
            facts: facts.as_ref().and_then(|facts| Json::of(facts).ok()),
        });
    }
    Verdict { refusals: refusals.into_values().collect() }
}

/// The message of a finding, with its place.
fn sentence(finding: &Finding) -> String {
    match finding.pointer.as_deref() {
        Some(place) if finding.schema.is_some() && !place.is_empty() => {
            format!("{place}: {}", finding.message)
        }
        _ => finding.message.clone(),
    }
}

fn reason_of(code: Option<i64>, is_response: bool) -> RefusalReason {
    match code {
        Some(-32700) => RefusalReason::NotJson,
        _ if is_response => RefusalReason::Invalid,
        Some(-32601) => RefusalReason::UnknownMethod,
        Some(-32602) => RefusalReason::InvalidParams,
        Some(-32020) => RefusalReason::HeaderMismatch,
        Some(-32021) => RefusalReason::MissingCapability,
        Some(-32022) => RefusalReason::UnsupportedRevision,
        _ => RefusalReason::NotAMessage,
    }
}
