//! The revision in use.

use mcp_core::{Era, Revision, UnknownRevision};
use mcp_json::Node;
use mcp_jsonrpc::Envelope;
use serde::{Deserialize, Serialize};

/// The revisions that the peers have named, and those that were negotiated.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Versions {
    /// Overrides whatever the peers say.
    forced: Option<Revision>,
    /// From the `initialize` request, until its result names the final one.
    requested: Option<Revision>,
    negotiated: Option<Negotiated>,
    /// The revision before a second handshake.
    previous: Option<Negotiated>,
    /// The last revision a modern request declared.
    modern: Option<Revision>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
enum Negotiated {
    Published(Revision),
    /// Unknown: the newest revision with a handshake is used as the closest.
    Foreign,
}

impl Versions {
    pub(super) fn new(forced: Option<Revision>) -> Versions {
        Versions { forced, ..Versions::default() }
    }

    /// The current revision, and whether it is certain.
    pub(crate) fn current(&self) -> (Revision, bool) {
        if let Some(forced) = self.forced {
            return (forced, true);
        }
        match (self.negotiated, self.requested, self.modern) {
            (Some(Negotiated::Published(negotiated)), _, _) => (negotiated, true),
            (None, Some(requested), _) => match self.previous {
                // Until a second handshake is accepted, the first one applies.
                Some(Negotiated::Published(previous)) => (previous, false),
                _ => (requested, false),
            },
            (None, None, Some(modern)) => (modern, true),
            (Some(Negotiated::Foreign), _, _) | (None, None, None) => {
                (Revision::LATEST_LEGACY, false)
            }
        }
    }

    /// Whether an unpublished revision was negotiated, so that payloads cannot be judged.
    pub(crate) fn is_foreign(&self) -> bool {
        self.forced.is_none() && self.negotiated == Some(Negotiated::Foreign)
    }

    /// Whether nothing is known yet.
    pub(super) fn is_unknown(&self) -> bool {
        self.forced.is_none()
            && self.negotiated.is_none()
            && self.requested.or(self.modern).is_none()
    }

    /// The revision to judge a request or notification by. `declared` is the version in the `_meta`
    /// of a modern request.
    pub(super) fn of_call(
        &mut self,
        name: &[u8],
        declared: Option<Node<'_>>,
        envelope: &Envelope<'_>,
    ) -> (Revision, bool) {
        if let Some(forced) = self.forced {
            return (forced, true);
        }
        if name == b"initialize" {
            let version = envelope.params.and_then(|params| params.get("protocolVersion"));
            return (legacy(version).unwrap_or(Revision::LATEST_LEGACY), false);
        }
        let (revision, settled) = self.current();
        match declared.and_then(declaration) {
            // The request repeats the negotiated version.
            Some(Ok(declared)) if settled && declared == revision => return (revision, settled),
            Some(declared) => {
                let modern = declared.ok().filter(|declared| declared.era() == Era::Modern);
                let modern = modern.unwrap_or(Revision::LATEST);
                self.modern = Some(modern);
                return (modern, true);
            }
            None => {}
        }
        if self.is_unknown() && mcp_schema::method(revision, name).is_none() {
            // A name that only modern revisions have is better evidence than our guess.
            let modern = mcp_schema::method(Revision::LATEST, name).is_some();
            return (if modern { Revision::LATEST } else { revision }, false);
        }
        // Both eras on one connection: a method that only the other one has belongs to that.
        if let Some(other) = self.modern.filter(|_| mcp_schema::method(revision, name).is_none())
            && mcp_schema::method(other, name).is_some()
        {
            return (other, true);
        }
        (revision, settled)
    }

    /// Whether a request declares an unknown revision, or one without stateless requests.
    pub(super) fn is_unknown_to(&self, declared: Option<Node<'_>>) -> bool {
        let (current, settled) = self.current();
        self.forced.is_none()
            && declared.and_then(declaration).is_some_and(|declared| match declared {
                Ok(declared) => declared.era() == Era::Legacy && !(settled && declared == current),
                Err(_) => true,
            })
    }

    /// Whether the revision was forced, whatever the peers say.
    pub(super) fn is_forced(&self) -> bool {
        self.forced.is_some()
    }

    /// Called when a handshake begins, perhaps before the last one was answered.
    pub(super) fn request(&mut self, revision: Revision) {
        self.requested = Some(revision);
        self.previous = self.negotiated.take().or(self.previous);
    }

    /// Records the revision in the `initialize` result, which governs everything after it.
    pub(super) fn settle(&mut self, result: Node<'_>) {
        self.previous = None;
        let version = result.get("protocolVersion");
        self.negotiated = Some(match (legacy(version), version) {
            (Some(revision), _) => Negotiated::Published(revision),
            // A missing version, or one without a handshake, is reported elsewhere.
            (None, None) => {
                Negotiated::Published(self.requested.unwrap_or(Revision::LATEST_LEGACY))
            }
            (None, Some(version)) if is_modern(version) => {
                Negotiated::Published(Revision::LATEST_LEGACY)
            }
            (None, Some(_)) => Negotiated::Foreign,
        });
    }

    /// Called when the handshake failed: the requested revision is not used.
    pub(super) fn give_up(&mut self) {
        self.requested = None;
        self.negotiated = self.previous.take().or(self.negotiated);
    }

    /// Records the revision that an HTTP request names in its header. What the message itself says
    /// takes precedence, and so does a handshake.
    pub(super) fn note_header(&mut self, revision: Revision) {
        if self.is_unknown() {
            match revision.era() {
                Era::Modern => self.modern = Some(revision),
                Era::Legacy => self.negotiated = Some(Negotiated::Published(revision)),
            }
        }
    }
}

/// The revision that the metadata of a request declares.
fn declaration(version: Node<'_>) -> Option<Result<Revision, UnknownRevision>> {
    Some(version.as_str()?.parse())
}

fn legacy(version: Option<Node<'_>>) -> Option<Revision> {
    let revision = version.and_then(Node::as_str)?.parse::<Revision>().ok()?;
    (revision.era() == Era::Legacy).then_some(revision)
}

fn is_modern(version: Node<'_>) -> bool {
    let revision = version.as_str().and_then(|version| version.parse::<Revision>().ok());
    revision.is_some_and(|revision| revision.era() == Era::Modern)
}

#[cfg(test)]
mod tests {
    use mcp_json::{Limits, Tape};

    use super::*;

    #[test]
    fn what_was_agreed_on_outlives_any_number_of_refused_handshakes() {
        let mut tape = Tape::new();
        let result = br#"{"protocolVersion":"2024-11-05"}"#;
        let document = tape.parse(result, Limits::default()).unwrap();
        let mut versions = Versions::default();
        versions.request(Revision::V2024_11_05);
        versions.settle(document.root());
        // Both are sent before the first is refused.
        versions.request(Revision::V2025_06_18);
        versions.request(Revision::V2025_06_18);
        assert_eq!(versions.current(), (Revision::V2024_11_05, false));
        versions.give_up();
        assert_eq!(versions.current(), (Revision::V2024_11_05, true));
        versions.give_up();
        assert_eq!(versions.current(), (Revision::V2024_11_05, true));
    }
}
