//! Versions without a handshake: each request declares one, the server accepts or refuses it.

use mcp_core::{Era, Revision, Side};
use mcp_json::Node;
use serde::{Deserialize, Serialize};

use super::conversation::{
    NO_DISCOVERY, NO_VERSIONS, VERSION_INCONSISTENT, VERSION_NOT_LISTED, VERSION_RETRIED,
    declared_version,
};
use crate::{
    conversation::{Answer, Bounded, Event, Known, META_VERSION, Moment, Notes, What},
    findings::Fault,
};

/// Maximum remembered refused versions; nobody tries many.
const MAX_REFUSED: usize = 16;

/// The versions that a server has accepted, refused and listed.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct Negotiations {
    refused: Bounded<Box<str>, Refusal>,
    /// A `server/discover` the server did not recognise before it was known to be modern.
    undiscovered: Option<Box<Moment>>,
    /// Where the server listed its versions, none of which has a handshake.
    modern_only: Option<Box<Moment>>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct Refusal {
    at: Moment,
    /// The URL of the request, over HTTP.
    url: Option<Box<str>>,
}

impl Negotiations {
    pub(super) fn follow(&mut self, event: &Event<'_>, known: &Known<'_>, notes: &mut Notes) {
        match (event.what, event.from) {
            (What::Request(_), Side::Client) => self.follow_request(event, known, notes),
            (What::Answer(Answer { request: Some(_), .. }), Side::Server) => {
                self.follow_answer(event, known, notes);
            }
            _ => {}
        }
    }

    fn follow_request(&mut self, event: &Event<'_>, known: &Known<'_>, notes: &mut Notes) {
        if event.name == "initialize" {
            // The client treats the server as a legacy one, and from now on it may be.
            self.undiscovered = None;
            return;
        }
        if self.refused.is_empty() {
            return;
        }
        let Some(version) = event.meta().and_then(|meta| meta.get(META_VERSION)) else { return };
        let Some(text) = version.as_str() else { return };
        let Some(refusal) = self.refused.get(&*text) else { return };
        // A client that does not wait for answers may not have seen the refusal.
        let waits = known
            .requests
            .iter_open(Side::Client)
            .all(|(_, request)| request.name() == "subscriptions/listen");
        if waits && refusal.url.as_deref() == url_of(event, known) {
            notes.note(
                Fault::new(
                    &VERSION_RETRIED,
                    format!("the client uses version {text} again after it was refused"),
                )
                .at(version.span())
                .related(refusal.at.line(), "the version was refused here")
                .help("use a version that the refusal lists as supported"),
            );
        }
    }

    fn follow_answer(&mut self, event: &Event<'_>, known: &Known<'_>, notes: &mut Notes) {
        if event.name == "initialize" {
            self.check_initialize(event, notes);
        }
        if !event.is_modern() {
            return;
        }
        if event.error_code() == Some(-32022) {
            self.follow_refusal(event, known, notes);
        } else if event.result().is_some()
            && let Some(version) = declared_version(event)
        {
            self.refused.remove(version);
        }
        if event.name == "server/discover" {
            self.follow_discovery(event, known, notes);
        }
        if event.is_from_modern_server()
            && let Some(at) = self.undiscovered.take()
        {
            notes.always(
                no_discovery().earlier(at.line(), Side::Server).related(
                    event.at.line(),
                    "this answer shows that the server needs no handshake",
                ),
            );
        }
    }

    fn follow_refusal(&mut self, event: &Event<'_>, known: &Known<'_>, notes: &mut Notes) {
        let Some(data) = event.error().and_then(|error| error.get("data")) else { return };
        let supported = data.get("supported");
        self.note_listed(supported, event);
        let Some(version) = declared_version(event) else { return };
        let asked_at = event.answered().and_then(|request| request.at.line());
        let listed = listed(supported).find(|entry| entry.str_eq(version));
        let requested = data.get("requested").filter(|node| node.is_string());
        if let Some(entry) = listed {
            notes.note(
                Fault::new(
                    &VERSION_INCONSISTENT,
                    format!("the refused version {version} is listed as supported"),
                )
                .at(entry.span())
                .related(asked_at, "the version was declared here")
                .help("list exactly the versions that the server accepts"),
            );
            return;
        }
        if let Some(requested) = requested.filter(|requested| !requested.str_eq(version)) {
            let message =
                format!("`requested` is not the version that the request declared, {version}");
            notes.note(
                Fault::new(&VERSION_INCONSISTENT, message)
                    .at(requested.span())
                    .related(asked_at, "the version was declared here")
                    .help("repeat the version of the request's `_meta`"),
            );
        }
        let url = url_of(event, known).map(Into::into);
        self.refused.insert(version.into(), Refusal { at: event.at, url }, MAX_REFUSED);
    }

    fn follow_discovery(&mut self, event: &Event<'_>, known: &Known<'_>, notes: &mut Notes) {
        if let Some(result) = event.result() {
            let versions = result.get("supportedVersions").filter(|list| list.is_array());
            self.note_listed(versions, event);
            if let (Some(versions), Some(version)) = (versions, declared_version(event))
                && !listed(Some(versions)).any(|entry| entry.str_eq(version))
            {
                notes.note(
                    Fault::new(
                        &VERSION_NOT_LISTED,
                        format!(
                            "the server answers a request of version {version}, which it does not list"
                        ),
                    )
                    .at(versions.span())
                    .related(
                        event.answered().and_then(|request| request.at.line()),
                        "the version was declared here",
                    )
                    .help("list the version, or refuse it with -32022"),
                );
            }
            return;
        }
        if event.error_code() != Some(-32601) {
            return;
        }
        let Some(shown) = known.modern_server else {
            self.undiscovered.get_or_insert_with(|| Box::new(event.at));
            return;
        };
        let code = event.error().and_then(|error| error.get("code")).unwrap_or(event.node());
        notes.note(
            no_discovery()
                .at(code.span())
                .related(shown.line(), "this answer shows that the server needs no handshake"),
        );
    }

    fn note_listed(&mut self, versions: Option<Node<'_>>, event: &Event<'_>) {
        let mut versions = listed(versions).peekable();
        let any = versions.peek().is_some();
        self.modern_only = (any && versions.all(is_modern)).then(|| Box::new(event.at));
    }

    /// A server without a handshake should say so to clients that try one.
    fn check_initialize(&self, event: &Event<'_>, notes: &mut Notes) {
        let (Some(shown), Some(error)) = (&self.modern_only, event.error()) else { return };
        if names_version(error.raw()) {
            return;
        }
        notes.note(
            Fault::new(&NO_VERSIONS, "the error does not say which versions the server supports")
                .under(Revision::V2026_07_28)
                .at(error.get("message").unwrap_or(error).span())
                .related(shown.line(), "it listed only versions without a handshake here")
                .help("list them: older clients have nothing else to show to their users"),
        );
    }
}

fn no_discovery() -> Fault {
    Fault::new(&NO_DISCOVERY, "the server has no handshake and does not know `server/discover`")
        .help("implement it: without it, clients that also support older revisions take the server for an older one")
}

fn listed(versions: Option<Node<'_>>) -> impl Iterator<Item = Node<'_>> {
    versions.into_iter().flat_map(Node::elements)
}

/// Whether a version is published and has no handshake.
fn is_modern(version: Node<'_>) -> bool {
    let revision = version.as_str().and_then(|version| version.parse::<Revision>().ok());
    revision.is_some_and(|revision| revision.era() == Era::Modern)
}

/// Whether the text contains anything that looks like a version, such as `2026-07-28`.
fn names_version(text: &[u8]) -> bool {
    const SHAPE: &[u8] = b"dddd-dd-dd";
    text.windows(SHAPE.len()).any(|window| {
        window.iter().zip(SHAPE).all(|(byte, shape)| match shape {
            b'd' => byte.is_ascii_digit(),
            other => byte == other,
        })
    })
}

/// The URL of a message's HTTP exchange, without its query.
fn url_of<'a>(event: &Event<'_>, known: &Known<'a>) -> Option<&'a str> {
    known.http?.path(event.at.stream())
}

#[cfg(test)]
mod tests {
    use super::names_version;

    #[test]
    fn versions_are_found_by_their_shape() {
        assert!(names_version(br#"{"supported":["2026-07-28"]}"#));
        assert!(names_version(b"2026-07-28"));
        assert!(!names_version(b"2026/07/28, 2026-7-28, -32601"));
        assert!(!names_version(b""));
    }
}
