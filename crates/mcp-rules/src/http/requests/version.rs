//! The `MCP-Protocol-Version` header.

use mcp_core::{Era, Revision};
use mcp_json::Node;
use mcp_jsonrpc::Envelope;
use serde::{Deserialize, Serialize};

use super::{
    Exchange, HeaderName, Headers, Observation, VERSION_MISMATCH, VERSION_MISSING,
    VERSION_NOT_REJECTED, WITH_VERSION, is_other_refusal,
};
use crate::{
    conversation::{Bounded, Known, META_VERSION, Notes, Phase, request_id},
    findings::Fault,
};

const NAME: HeaderName = HeaderName::McpProtocolVersion;
/// Maximum versions kept of a server's list; more than anyone needs.
const MAX_LISTED: usize = 64;

/// What is known of the versions a server supports.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct Versions {
    /// The version in the last `initialize` result.
    agreed: Option<Box<str>>,
    /// Versions that were requested and answered with another one.
    refused: Bounded<Box<str>, ()>,
    /// Its own list, from `server/discover` or an error.
    supported: Option<Vec<Box<str>>>,
}

/// A version, named in a request, that the server does not support.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Unsupported(Box<str>);

impl Versions {
    pub(super) fn judge(
        &self,
        event: &Observation<'_>,
        headers: &Headers<'_>,
        exchange: &mut Exchange,
        known: &Known<'_>,
        notes: &mut Notes,
    ) {
        if !event.settled || exchange.initializes() {
            return;
        }
        match event.revision.era() {
            Era::Legacy => self.judge_legacy(headers, exchange, known, notes),
            Era::Modern => self.judge_modern(event, headers, exchange, notes),
        }
    }

    fn judge_legacy(
        &self,
        headers: &Headers<'_>,
        exchange: &mut Exchange,
        known: &Known<'_>,
        notes: &mut Notes,
    ) {
        let initialised = matches!(known.lifecycle.phase(), Phase::Answered | Phase::Ready);
        let Some(agreed) = self.agreed.as_deref().filter(|_| initialised) else { return };
        if exchange.session.is_of_another {
            return;
        }
        let Some(header) = headers.value(NAME) else {
            let message = format!("{} names no protocol version", exchange.method);
            notes.always(missing(message, agreed));
            return;
        };
        let other = headers.values(NAME).find(|value| value.trim() != agreed);
        let Some(other) = other else { return };
        notes.always(
            Fault::new(
                &VERSION_MISMATCH,
                format!("the header says {}, but {agreed} was agreed on", header.trim()),
            )
            .help(format!("send `MCP-Protocol-Version: {agreed}`, the version of the result")),
        );
        let other = other.trim();
        if other.parse::<Revision>().is_err() || self.refused.contains(other) {
            exchange.request.version = Some(Unsupported(other.into()));
        }
    }

    fn judge_modern(
        &self,
        event: &Observation<'_>,
        headers: &Headers<'_>,
        exchange: &mut Exchange,
        notes: &mut Notes,
    ) {
        if exchange.requests().next().is_none() {
            return;
        }
        let declared = event
            .single
            .and_then(|message| message.envelope.params)
            .and_then(|params| params.get("_meta"))
            .and_then(|meta| meta.get(META_VERSION))
            .and_then(Node::as_str);
        let Some(header) = headers.value(NAME) else {
            let version = declared.as_deref().unwrap_or(event.revision.as_str());
            notes.always(missing(
                "the request names no protocol version in a header".to_owned(),
                version,
            ));
            // Servers that also support older clients may take it for one of theirs.
            exchange.headers.broken |= self.always_needs_header();
            return;
        };
        let header = header.trim();
        match declared {
            Some(declared) if declared != header => {
                exchange.headers.broken = true;
                notes.always(
                    Fault::new(
                        &VERSION_MISMATCH,
                        format!("the header says {header}, the body {declared}"),
                    )
                    .help("fill the header and `_meta` from the same value"),
                );
            }
            _ => {
                let listed = |list: &Vec<Box<str>>| list.iter().any(|version| **version == *header);
                if self.supported.as_ref().is_some_and(|list| !listed(list)) {
                    exchange.request.version = Some(Unsupported(header.into()));
                }
            }
        }
    }

    /// Whether all versions the server supports require the header.
    fn always_needs_header(&self) -> bool {
        let demands = |version: &str| {
            version.parse::<Revision>().map_or(true, |revision| WITH_VERSION.contains(revision))
        };
        self.supported.as_ref().is_some_and(|list| list.iter().all(|version| demands(version)))
    }

    /// Records what a server says about the versions it supports.
    pub(super) fn note_answer(&mut self, envelope: &Envelope<'_>, known: &Known<'_>) {
        let Some(id) = envelope.id.and_then(request_id) else { return };
        let Some(request) = known.awaiting(&id) else { return };
        match (request.name(), envelope.result) {
            ("initialize", Some(result)) => {
                let answered = result.get("protocolVersion").and_then(Node::as_str);
                let requested = request.asked.requested_version.as_deref();
                self.agreed = answered.as_deref().map(Into::into);
                if let (Some(answered), Some(requested)) = (answered, requested) {
                    self.refused.remove(&*answered);
                    if requested != answered {
                        self.refused.insert(requested.into(), (), MAX_LISTED);
                    }
                }
            }
            ("server/discover", Some(result)) => self.note_list(result.get("supportedVersions")),
            (_, None) if envelope.error_code() == Some(-32022) => {
                let data = envelope.error.and_then(|error| error.get("data"));
                self.note_list(data.and_then(|data| data.get("supported")));
            }
            _ => {}
        }
    }

    fn note_list(&mut self, list: Option<Node<'_>>) {
        let Some(list) = list.filter(|list| list.is_array()) else { return };
        if list.len() <= MAX_LISTED {
            let versions = list.elements().filter_map(Node::as_str);
            self.supported = Some(versions.map(Into::into).collect());
        }
    }
}

/// Judges the answer to a request with a version that should have been refused.
pub(super) fn judge_answer(
    status: u16,
    event: &Observation<'_>,
    exchange: &mut Exchange,
    notes: &mut Notes,
) {
    let Some(Unsupported(version)) = exchange.request.version.take() else { return };
    let code = event.error_code();
    // Such an error with a wrong status has its own rule.
    let refused_by_code = matches!(code, Some(-32022..=-32020));
    if status == 400 || is_other_refusal(status) || refused_by_code {
        return;
    }
    notes.always(
        Fault::new(
            &VERSION_NOT_REJECTED,
            format!("a request for version `{version}` is answered with status {status}"),
        )
        .related(exchange.at.line(), "the request was here")
        .help("answer 400 to versions the server does not speak"),
    );
}

fn missing(message: String, version: &str) -> Fault {
    Fault::new(&VERSION_MISSING, message).help(format!("send `MCP-Protocol-Version: {version}`"))
}
