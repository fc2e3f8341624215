//! Extracts what the HTTP service needs to know about a message.

use std::borrow::Cow;

use http::{HeaderMap, StatusCode, request::Parts};
use mcp_core::{Era, Meta, RefusalReason, Revision, excerpt};
use mcp_json::{Node, Parsed};
use mcp_jsonrpc::{Envelope, JsonRpcError, JsonRpcResponse, MessageKind};
use mcp_rules::{HeaderParams, header_mismatches};
use mcp_transport::http::{
    headers::PROTOCOL_VERSION,
    server::{RejectionResponse, RequestInfo},
};

use crate::bridge::{outline::Outline, text::refusal};

/// The revision in the header of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum HeaderVersion {
    Nothing,
    Known(Revision),
    /// An unknown or unreadable revision.
    Unknown,
}

impl HeaderVersion {
    pub(super) fn of(headers: &HeaderMap) -> HeaderVersion {
        let Some(value) = headers.get(PROTOCOL_VERSION) else { return HeaderVersion::Nothing };
        let revision = value.to_str().ok().and_then(|text| text.trim().parse().ok());
        revision.map_or(HeaderVersion::Unknown, HeaderVersion::Known)
    }

    /// Whether it belongs to the stateless era; unknown revisions count as new.
    fn is_modern(self) -> bool {
        match self {
            HeaderVersion::Nothing => false,
            HeaderVersion::Known(revision) => revision.era() == Era::Modern,
            HeaderVersion::Unknown => true,
        }
    }

    /// Whether a message with this header is a conversation of its own.
    pub(super) fn is_stateless(self, outline: &Outline) -> bool {
        let states_revision =
            outline.single().is_some_and(|message| message.has_revision && !is_handshake(outline));
        self.is_modern() || states_revision
    }
}

fn is_handshake(outline: &Outline) -> bool {
    outline.single().is_some_and(|message| message.is(MessageKind::Request, "initialize"))
}

/// Decides how to treat a message.
pub(super) fn inspect(
    head: &Parts,
    parsed: Option<&Parsed>,
) -> Result<RequestInfo, RejectionResponse> {
    let version = HeaderVersion::of(&head.headers);
    let Some(parsed) = parsed else {
        // Regardless of its headers, it is not a message of a session.
        return Ok(RequestInfo {
            expects_response: true,
            stateless: true,
            ..RequestInfo::default()
        });
    };
    let document = parsed.document();
    let outline = Outline::of(document.root());
    let stateless = version.is_stateless(&outline);
    let single = outline.single();
    if stateless
        && single.is_some_and(|message| message.kind == Some(MessageKind::Request))
        && !is_handshake(&outline)
    {
        compare(&Envelope::of(document.root()), &head.headers)?;
    }
    let long_lived = single.is_some_and(|message| {
        stateless && message.is(MessageKind::Request, "subscriptions/listen")
    });
    Ok(RequestInfo {
        expects_response: outline.expects_response(),
        opens_session: !stateless && is_handshake(&outline),
        stateless,
        long_lived,
        revision: match version {
            HeaderVersion::Known(revision) => Some(revision),
            HeaderVersion::Nothing | HeaderVersion::Unknown => asked(document.root()),
        },
    })
}

/// The revision requested by `initialize`.
fn asked(root: Node<'_>) -> Option<Revision> {
    root.get("params")?.get("protocolVersion")?.as_str()?.parse().ok()
}

/// Maximum length of a version in errors.
const SHOWN: usize = 200;

/// Checks that the headers match the body; the server behind a bridge does not see them.
fn compare(envelope: &Envelope<'_>, headers: &HeaderMap) -> Result<(), RejectionResponse> {
    let refused = |message: String| {
        let error = JsonRpcError::of_refusal(&refusal(RefusalReason::HeaderMismatch, message));
        let body = JsonRpcResponse { id: envelope.readable_id(), outcome: Err(error) }.to_bytes();
        RejectionResponse { status: StatusCode::BAD_REQUEST, body }
    };
    let meta = envelope.params.and_then(|params| params.get("_meta"));
    let stated = meta.and_then(|meta| meta.get(Meta::PROTOCOL_VERSION)).and_then(Node::as_str);
    if let Some(stated) = stated {
        let mut values = headers.get_all(PROTOCOL_VERSION).iter();
        let value = values.next().map(|value| String::from_utf8_lossy(value.as_bytes()));
        match (value, values.next()) {
            (None, _) => {
                return Err(refused(format!("the header `{PROTOCOL_VERSION}` is missing")));
            }
            (_, Some(_)) => {
                return Err(refused(format!("the header `{PROTOCOL_VERSION}` is repeated")));
            }
            (Some(value), None) if value.trim() != stated => {
                let (value, stated) = (excerpt(&value, SHOWN), excerpt(&stated, SHOWN));
                return Err(refused(format!(
                    "`{PROTOCOL_VERSION}` is {value:?}, but `_meta` in the body has {stated:?}"
                )));
            }
            (Some(_), None) => {}
        }
    }
    let headers = headers
        .iter()
        .map(|(name, value)| (name.as_str(), String::from_utf8_lossy(value.as_bytes())))
        .collect();
    // The schemas of the server's tools are unknown here.
    let mismatches = header_mismatches(envelope, &headers, |_| None::<Cow<'_, HeaderParams>>);
    match mismatches.into_iter().find(|mismatch| mismatch.must_refuse) {
        Some(mismatch) => Err(refused(mismatch.message)),
        None => Ok(()),
    }
}
