//! How findings become refusals.

use mcp_core::{Json, Refusal, RefusalReason};
use mcp_json::Node;
use mcp_jsonrpc::{Envelope, MessageKind, Verdict};

use crate::{Finding, Severity};

/// Which entries of a message want no answer.
#[derive(Default)]
pub(super) struct Kinds(Vec<Option<MessageKind>>);

impl Kinds {
    pub(super) fn of(root: Node<'_>) -> Kinds {
        if root.is_array() {
            return Kinds(root.elements().map(|entry| Envelope::of(entry).kind()).collect());
        }
        Kinds(vec![Envelope::of(root).kind()])
    }

    fn is_response(&self, index: Option<usize>) -> bool {
        self.0.get(index.unwrap_or(0)) == Some(&Some(MessageKind::Response))
    }
}

/// One refusal for each entry that has a blocking finding.
pub(super) fn refuse<'a>(
    blocking: impl Iterator<Item = &'a mut Finding>,
    kinds: &Kinds,
) -> Verdict {
    let mut refusals: Vec<Refusal> = Vec::new();
    for finding in blocking {
        finding.severity = Severity::Error;
        // The other side does not count messages as we do.
        let shown = Finding { line: None, related: None, ..finding.clone() };
        let Ok(shown) = Json::of(&shown) else { continue };
        match refusals.iter_mut().find(|refusal| refusal.index == finding.index) {
            Some(refusal) => refusal.findings.push(shown),
            None => refusals.push(Refusal {
                index: finding.index,
                reason: reason_of(finding, kinds.is_response(finding.index)),
                message: sentence(finding),
                findings: vec![shown],
            }),
        }
    }
    Verdict { refusals }
}

/// What is wrong, and where.
fn sentence(finding: &Finding) -> String {
    match finding.pointer.as_deref() {
        Some(place) if finding.schema.is_some() && !place.is_empty() => {
            format!("{place}: {}", finding.message)
        }
        _ => finding.message.clone(),
    }
}

fn reason_of(finding: &Finding, is_response: bool) -> RefusalReason {
    match finding.code {
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
