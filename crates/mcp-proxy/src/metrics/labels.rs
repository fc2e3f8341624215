use std::{fmt, sync::Arc};

use mcp_core::{Revision, Side};
use mcp_jsonrpc::MessageKind;
use mcp_rules::{Finding, Identity};
use prometheus_client::encoding::{EncodeLabel as _, EncodeLabelSet, LabelSetEncoder};

/// Labels with the name of the server, if there are several.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct ByUpstream<L> {
    pub(super) upstream: Option<Arc<str>>,
    pub(super) labels: L,
}

impl<L: EncodeLabelSet> EncodeLabelSet for ByUpstream<L> {
    fn encode(&self, encoder: &mut LabelSetEncoder<'_>) -> fmt::Result {
        if let Some(upstream) = &self.upstream {
            ("upstream", &**upstream).encode(encoder.encode_label())?;
        }
        self.labels.encode(encoder)
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(super) struct NoLabels {}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(super) struct SideLabels {
    from: &'static str,
}

impl SideLabels {
    pub(super) fn of(from: Side) -> SideLabels {
        SideLabels { from: from.as_str() }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(super) struct MessageLabels {
    pub(super) from: &'static str,
    pub(super) kind: &'static str,
    pub(super) method: &'static str,
}

impl MessageLabels {
    pub(super) fn of(from: Side, message: &Identity) -> MessageLabels {
        let kind = match message.kind {
            Some(MessageKind::Request) => "request",
            Some(MessageKind::Notification) => "notification",
            Some(MessageKind::Response) => "response",
            None => "other",
        };
        MessageLabels { from: from.as_str(), kind, method: method_of(message) }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(super) struct MethodLabels {
    pub(super) method: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(super) struct FindingLabels {
    pub(super) rule: &'static str,
    pub(super) severity: &'static str,
    pub(super) side: &'static str,
}

impl FindingLabels {
    pub(super) fn of(finding: &Finding) -> FindingLabels {
        FindingLabels {
            rule: finding.rule.name,
            severity: finding.severity.as_str(),
            side: finding.at_fault.map_or("unknown", Side::as_str),
        }
    }
}

/// The method of a message, or of the request that it answers, if a revision defines it. Other
/// methods are not used as labels, since a peer chooses them.
pub(super) fn method_of(message: &Identity) -> &'static str {
    let Some(name) = message.method.as_deref() else { return "other" };
    let defined = |revision| mcp_schema::method(revision, name.as_bytes());
    Revision::ALL.into_iter().rev().find_map(defined).map_or("other", |method| method.name)
}
