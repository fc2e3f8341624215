//! The versions the two sides name, and how a server responds to the requested one.

use mcp_core::{Era, Revision, excerpt};
use mcp_json::Node;
use mcp_jsonrpc::{Envelope, ErrorCode};
use serde_json::json;

use super::{MODERN_VERSION, VERSION_INCONSISTENT, VERSION_UNKNOWN};
use crate::{
    Severity,
    conversation::{Event, META_VERSION, Negotiation, Notes, What},
    findings::Fault,
};

pub(crate) const UNSUPPORTED_VERSION: i64 = -32022;
/// How much of a version is quoted; published ones have ten characters.
const LONGEST_VERSION: usize = 64;

/// Checks every version named in the message.
pub(super) fn check_versions(event: &Event<'_>, notes: &mut Notes) {
    match (event.what, event.name) {
        (What::Request(_), "initialize") => {
            let version = event.params().and_then(|params| params.get("protocolVersion"));
            check_handshake_version(version, Severity::Warning, notes);
        }
        (What::Answer(_), "initialize") => {
            let version = event.result().and_then(|result| result.get("protocolVersion"));
            check_handshake_version(version, Severity::Error, notes);
        }
        (What::Answer(_), "server/discover") => {
            let versions = event.result().and_then(|result| result.get("supportedVersions"));
            for version in versions.into_iter().flat_map(Node::elements) {
                check_published(version, notes);
            }
        }
        (What::Request(_), _) if event.is_modern() => {
            if let Some(version) = event.meta().and_then(|meta| meta.get(META_VERSION)) {
                check_published(version, notes);
            }
        }
        _ => {}
    }
}

fn check_handshake_version(version: Option<Node<'_>>, severity: Severity, notes: &mut Notes) {
    let Some(version) = version else { return };
    let revision = version.as_str().and_then(|text| text.parse::<Revision>().ok());
    match revision {
        Some(Revision::V2026_07_28) => notes.note(
            Fault::new(
                &MODERN_VERSION,
                "2026-07-28 has no handshake, so `initialize` cannot negotiate it",
            )
            .at(version.span())
            .severity(severity)
            .help(format!(
                "request {} or older; from 2026-07-28 on, each request carries its version",
                Revision::LATEST_LEGACY
            )),
        ),
        Some(_) => {}
        None => check_published(version, notes),
    }
}

fn check_published(version: Node<'_>, notes: &mut Notes) {
    let Some(text) = version.as_str() else { return };
    if text.parse::<Revision>().is_err() {
        notes.note(
            Fault::new(&VERSION_UNKNOWN, format!("`{text}` is not a published revision"))
                .at(version.span())
                .help(
                    "the published revisions are 2024-11-05, 2025-03-26, 2025-06-18, 2025-11-25 and 2026-07-28",
                ),
        );
    }
}

/// For a message of a session that has agreed on an unknown revision.
pub(crate) fn unknown_revision() -> Fault {
    let message = "client and server negotiated an unknown revision";
    Fault::unjudged(&VERSION_UNKNOWN, message).code(ErrorCode::InvalidRequest.code())
}

/// For a request that declares a revision which is unknown, or has no such requests, and for the
/// result that it is answered with.
pub(crate) fn unknown_declaration(envelope: &Envelope<'_>) -> Fault {
    let meta = envelope.params.and_then(|params| params.get("_meta"));
    let declared = meta.and_then(|meta| meta.get(META_VERSION)).and_then(Node::as_str);
    let Some(declared) = declared else {
        return Fault::unjudged(&VERSION_UNKNOWN, "the request declares an unknown revision");
    };
    let requested = excerpt(&declared, LONGEST_VERSION);
    let modern = Revision::ALL.into_iter().filter(|revision| revision.era() == Era::Modern);
    let supported: Vec<&str> = modern.map(Revision::as_str).collect();
    let message = format!(
        "the request declares `{requested}`, which is not a known revision with stateless requests"
    );
    Fault::unjudged(&VERSION_UNKNOWN, message)
        .code(UNSUPPORTED_VERSION)
        .facts(json!({"supported": supported, "requested": requested}))
}

impl Negotiation {
    /// Returns the fault of a server that accepted the requested version before.
    pub(crate) fn inconsistent(&self, accepted: Option<u64>) -> Fault {
        Fault::new(
            &VERSION_INCONSISTENT,
            format!(
                "the server answers with {}, although it has accepted the requested {} before",
                self.answered, self.requested
            ),
        )
        .related(accepted, "it accepted the version here")
        .help("answer with the requested version whenever it is supported")
    }
}
