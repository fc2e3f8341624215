//! The `MCP-Protocol-Version` header.

use std::borrow::Cow;

use mcp_core::{Era, Revision, excerpt};
use mcp_json::Node;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{
    Exchange, HeaderName, Headers, Observation, VERSION_MISMATCH, VERSION_MISSING,
    VERSION_NOT_REJECTED, WITH_VERSION, is_other_refusal,
};
use crate::{
    Layer,
    conversation::{Bounded, Known, META_VERSION, Notes, Phase},
    findings::Fault,
    http::CarriedMessage,
};

const NAME: HeaderName = HeaderName::McpProtocolVersion;
const UNSUPPORTED_VERSION: i64 = -32022;
/// Maximum versions kept of a server's list; more than anyone needs.
const MAX_LISTED: usize = 64;
/// How much of a version is quoted; published ones have ten characters.
const LONGEST_VERSION: usize = 64;

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

/// An unpublished version, named in a request, if nothing else determines by which revision to judge
/// the exchange.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Unpublished(Box<str>);

impl Versions {
    /// Judges whether the revision of a request is published. Other rules compare the header with the
    /// handshake and with the message itself.
    pub(super) fn judge_unpublished(
        &self,
        event: &Observation<'_>,
        headers: &Headers<'_>,
        exchange: &mut Exchange,
        known: &Known<'_>,
        notes: &mut Notes,
    ) {
        let is_mcp = exchange.is_post() || exchange.is_get() || exchange.is_delete();
        let is_guessed = !known.is_revision_given
            && !exchange.initializes()
            && declared(event).is_none()
            && self.agreed(exchange, known).is_none();
        if !is_mcp || !is_guessed || known.criteria.settings().stops_before(Layer::Schema) {
            return;
        }
        let is_unpublished = |version: &str| version.trim().parse::<Revision>().is_err();
        if let Some(version) = headers.values(NAME).find(|version| is_unpublished(version)) {
            let unpublished = Unpublished(excerpt(version.trim(), LONGEST_VERSION).into());
            notes.leave_unjudged(unpublished.fault());
            exchange.request.unpublished = Some(unpublished);
        }
    }

    /// The version of the handshake, if that was seen and the exchange belongs to its session.
    fn agreed(&self, exchange: &Exchange, known: &Known<'_>) -> Option<&str> {
        let initialised = matches!(known.lifecycle.phase(), Phase::Answered | Phase::Ready);
        let applies = initialised && !exchange.session.is_of_another;
        self.agreed.as_deref().filter(|_| applies)
    }

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
        let Some(agreed) = self.agreed(exchange, known) else { return };
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
                format!("the header says {}, but {agreed} was negotiated", header.trim()),
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
        let declared = declared(event);
        let Some(header) = headers.value(NAME) else {
            let version = declared.as_deref().unwrap_or(event.revision.as_str());
            notes.always(missing(
                "the request has no `MCP-Protocol-Version` header".to_owned(),
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
                        format!("the header says {header}, but the body says {declared}"),
                    )
                    .help("set the header and `_meta` from the same value"),
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
    pub(super) fn note_answer(&mut self, message: &CarriedMessage<'_>, known: &Known<'_>) {
        let CarriedMessage { envelope, id: Some(id), .. } = message else { return };
        let Some(request) = known.awaiting(id) else { return };
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
            (_, None) if envelope.error_code() == Some(UNSUPPORTED_VERSION) => {
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

impl Unpublished {
    fn fault(&self) -> Fault {
        let Unpublished(requested) = self;
        let supported: Vec<&str> = Revision::ALL.into_iter().map(Revision::as_str).collect();
        let message = format!("the header names an unknown revision, `{requested}`");
        Fault::unjudged(&VERSION_MISMATCH, message)
            .code(UNSUPPORTED_VERSION)
            .facts(json!({"supported": supported, "requested": requested}))
    }
}

/// Marks a server's messages in an unknown revision as not judged, except errors, which are the
/// right answer.
pub(super) fn leave_unjudged(event: &Observation<'_>, exchange: &Exchange, notes: &mut Notes) {
    let Some(unpublished) = &exchange.request.unpublished else { return };
    if event.any_message(|message| message.envelope.error.is_none()) {
        notes.leave_unjudged(unpublished.fault());
    }
}

/// The version that the message of a request declares itself.
fn declared<'a>(event: &Observation<'a>) -> Option<Cow<'a, str>> {
    let params = event.single.and_then(|message| message.envelope.params);
    params?.get("_meta")?.get(META_VERSION).and_then(Node::as_str)
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
        .help("answer 400 to versions that the server does not support"),
    );
}

fn missing(message: String, version: &str) -> Fault {
    Fault::new(&VERSION_MISSING, message).help(format!("send `MCP-Protocol-Version: {version}`"))
}
