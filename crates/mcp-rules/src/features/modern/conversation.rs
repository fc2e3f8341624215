//! Rules of 2026-07-28 that relate requests and answers: without a handshake every request declares
//! version and capabilities, and every answer must agree with them.

use mcp_core::{Revision, Revisions};
use mcp_json::Node;
use serde::{Deserialize, Serialize};

use super::{deprecated::Deprecated, negotiation::Negotiations};
use crate::{
    Level,
    conversation::{
        Capabilities, Event, Known, META_CAPABILITIES, META_VERSION, Moment, Notes, Remembered,
        Topic, What, asked::AskedUnusually,
    },
    features::Family,
    findings::Fault,
};

const MODERN: Revisions = Revisions::only(Revision::V2026_07_28);

rules! {
    META_NOT_REJECTED: "request-meta-not-rejected", Session, Level::Error, MODERN, "basic#_meta";
    VERSION_INCONSISTENT: "unsupported-version-inconsistent", Session, Level::Warning, MODERN, "basic/versioning#protocol-version-negotiation";
    VERSION_RETRIED: "unsupported-version-retried", Session, Level::Warning, MODERN, "basic/versioning#protocol-version-negotiation";
    VERSION_NOT_LISTED: "discover-version-not-listed", Session, Level::Error, MODERN, "basic/versioning#protocol-version-negotiation";
    NO_DISCOVERY: "discover-not-implemented", Session, Level::Error, MODERN, "server/discover";
    CAPABILITY_INCONSISTENT: "missing-capability-inconsistent", Session, Level::Warning, MODERN, "basic#_meta";
    NO_VERSIONS: "initialize-error-no-versions", Session, Level::Warning, MODERN, "basic/versioning#backward-compatibility-with-initialization-based-versions";
    DEPRECATED: "deprecated-feature-used", Session, Level::OptIn, MODERN, "deprecated";
}

/// The longest version that is remembered; published ones have ten characters.
const LONGEST_VERSION: usize = 64;

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Modern {
    negotiations: Negotiations,
    deprecated: Deprecated,
}

impl Family for Modern {
    fn concerns(event: &Event<'_>) -> bool {
        event.topic == Topic::Handshake || event.is_modern()
    }

    fn follow(
        &mut self,
        event: &Event<'_>,
        asked: &mut Remembered,
        known: &Known<'_>,
        notes: &mut Notes,
    ) {
        // Only clients ask here, and only servers answer.
        if event.is_modern() {
            match event.what {
                What::Request(_) => {
                    if let Some(unusual) = AskedUnusually::of(event) {
                        asked.remember().modern = Some(Box::new(unusual));
                    }
                }
                What::Answer(_) => {
                    check_metadata_refused(event, known, notes);
                    check_missing_capability(event, notes);
                }
                What::Notification => {}
            }
        }
        self.negotiations.follow(event, known, notes);
        self.deprecated.follow(event, known, notes);
    }

    fn restart(&mut self) {}
}

impl AskedUnusually {
    fn of(event: &Event<'_>) -> Option<AskedUnusually> {
        let meta = event.meta();
        let version = meta.and_then(|meta| meta.get(META_VERSION));
        let capabilities = meta.and_then(|meta| meta.get(META_CAPABILITIES));
        // If `params` is not an object, there is no metadata to look for, and another code fits as
        // well.
        let is_readable = event.envelope.params.is_none_or(Node::is_object);
        let lacks_metadata = is_readable
            && (!version.is_some_and(Node::is_string)
                || !capabilities.is_some_and(Node::is_object));
        let usual = version.is_some_and(|version| version.str_eq(event.revision.as_str()));
        if usual && !lacks_metadata {
            return None;
        }
        let version = version.and_then(Node::as_str);
        let version = version.filter(|version| version.len() <= LONGEST_VERSION);
        Some(AskedUnusually { version: version.map(Into::into), lacks_metadata })
    }
}

/// The version declared by the request that this answers, if known.
pub(super) fn declared_version<'a>(event: &Event<'a>) -> Option<&'a str> {
    let request = event.answered().filter(|_| event.is_modern())?;
    match &request.asked.modern {
        Some(asked) => asked.version.as_deref(),
        None => Some(request.revision.as_str()),
    }
}

/// A request without the required metadata must be refused with one specific code.
fn check_metadata_refused(event: &Event<'_>, known: &Known<'_>, notes: &mut Notes) {
    let Some(request) = event.answered() else { return };
    let Some(asked) = request.asked.modern.as_deref().filter(|asked| asked.lacks_metadata) else {
        return;
    };
    let certain = event.is_from_modern_server() || request.settled && known.modern_server.is_some();
    if !certain || event.method.is_none_or(|method| method.input_request_only) {
        return;
    }
    // A request rejected by status (authorization, rate limit…) was never looked at.
    let status = known.http.and_then(|http| http.status(event.at.stream()));
    if status.is_some_and(|status| matches!(status, 401 | 403 | 407 | 429 | 500..)) {
        return;
    }
    let (message, at) = match (event.error_code(), event.error()) {
        (Some(-32602), _) => return,
        (Some(-32020), _) if event.at.stream().is_some() => return,
        (Some(-32022), _) if asked.version.is_some() => return,
        (Some(code), Some(error)) => (
            format!("the request lacks required metadata, so the error must be -32602, not {code}"),
            error.get("code").unwrap_or(error),
        ),
        _ => {
            let Some(result) = event.result() else { return };
            let message = "the server accepts a request that lacks required metadata".to_owned();
            (message, result.get("resultType").unwrap_or(result))
        }
    };
    notes.note(
        Fault::new(&META_NOT_REJECTED, message)
            .at(at.span())
            .related(request.at.line(), "the request was here")
            .help(
                "refuse it with -32602: without the metadata, version and capabilities are unknown",
            ),
    );
}

/// Checks that a missing-capability error names a capability that is indeed missing.
fn check_missing_capability(event: &Event<'_>, notes: &mut Notes) {
    let (Some(request), Some(-32021)) = (event.answered(), event.error_code()) else { return };
    let Some(declared) = request.declared.as_ref() else { return };
    let required = event.error().and_then(|error| error.get("data"));
    let Some(required) = required.and_then(|data| data.get("requiredCapabilities")) else { return };
    if !required.is_object() || required.is_empty() || !required.members().all(is_comparable) {
        return;
    }
    if declared.covers(&Capabilities::of(required, Moment::default())) {
        notes.note(
            Fault::new(
                &CAPABILITY_INCONSISTENT,
                "the client declared every capability that the error calls missing",
            )
            .at(required.span())
            .related(request.at.line(), "they were declared here")
            .help(
                "name exactly what is missing, including the sub-capability: `{\"sampling\":{\"tools\":{}}}`",
            ),
        );
    }
}

/// Whether it is known when a required capability counts as declared.
fn is_comparable((name, value): (Node<'_>, Node<'_>)) -> bool {
    let parts: &[&str] = match name.str_bytes().as_deref() {
        Some(b"roots") => &[],
        Some(b"sampling") => &["tools", "context"],
        Some(b"elicitation") => &["form", "url"],
        // Only the extension knows what its settings mean.
        Some(b"extensions") => return value.members().all(|(_, settings)| settings.is_empty()),
        _ => return false,
    };
    value
        .members()
        .all(|(name, value)| value.is_empty() && parts.iter().any(|part| name.str_eq(part)))
}
