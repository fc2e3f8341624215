//! The headers of 2026-07-28 that repeat parts of the body.

mod params;
mod value;

use std::borrow::Cow;

use mcp_core::{Era, Revision, Revisions, Side};
use mcp_json::Node;
use mcp_jsonrpc::{Envelope, MessageKind};
use serde::{Deserialize, Serialize};

use self::value::Value;
use super::{Exchange, HeaderName, Headers, HttpPart, Observation};
use crate::{
    Level,
    findings::Fault,
    session::{Known, META_CAPABILITIES, META_VERSION, Moment, Notes},
};

const MODERN: Revisions = Revisions::only(Revision::V2026_07_28);

rules! {
    METHOD_MISSING: "mcp-method-header-missing", Http, Level::Error, MODERN, "basic/transports/streamable-http#standard-request-headers";
    METHOD_MISMATCH: "mcp-method-header-mismatch", Http, Level::Error, MODERN, "basic/transports/streamable-http#server-validation";
    NAME_MISSING: "mcp-name-header-missing", Http, Level::Error, MODERN, "basic/transports/streamable-http#standard-request-headers";
    NAME_MISMATCH: "mcp-name-header-mismatch", Http, Level::Error, MODERN, "basic/transports/streamable-http#server-validation";
    ENCODING: "mcp-header-encoding", Http, Level::Error, MODERN, "basic/transports/streamable-http#value-encoding";
    PARAM_MISSING: "mcp-param-header-missing", Http, Level::Error, MODERN, "basic/transports/streamable-http#custom-headers-from-tool-parameters";
    PARAM_MISMATCH: "mcp-param-header-mismatch", Http, Level::Error, MODERN, "basic/transports/streamable-http#server-behavior-for-custom-headers";
    PARAM_UNEXPECTED: "mcp-param-header-unexpected", Http, Level::Error, MODERN, "basic/transports/streamable-http#server-behavior-for-custom-headers";
    PARAM_UNSAFE: "mcp-param-unsafe-integer", Http, Level::Error, MODERN, "basic/transports/streamable-http#schema-extension";
    NOT_REJECTED: "header-mismatch-not-rejected", Http, Level::Error, MODERN, "basic/transports/streamable-http#server-validation";
}

/// What is remembered of one exchange.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Seen {
    /// Whether the headers contradict the body, or lack what is required: the server has to refuse
    /// the request.
    pub(crate) broken: bool,
    /// Whether `_meta` lacks something, which is another reason to refuse it.
    meta_incomplete: bool,
    /// Where the server accepted it, or refused it in a wrong way.
    accepted: Option<(Moment, Reply)>,
}

/// What a server made of a request it had to refuse.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
enum Reply {
    Status(u16),
    /// The right status, another error.
    Code(i64),
}

/// Compares headers and body, and looks at what the server makes of it.
pub(super) fn follow(
    event: &Observation<'_>,
    exchange: &mut Exchange,
    known: &Known<'_>,
    notes: &mut Notes,
) {
    let modern = exchange.revision.unwrap_or(event.revision).era() == Era::Modern;
    if !modern || !exchange.is_post() || !exchange.request.at_endpoint() {
        return;
    }
    match event.part {
        HttpPart::Request { headers, .. }
            if event.settled && headers.are_recorded() && !exchange.initializes() =>
        {
            if let Some(request) = event.message.and_then(Request::read) {
                exchange.headers.meta_incomplete = request.lacks_meta();
                let sound = request.check(headers, known, notes);
                exchange.headers.broken |= !sound;
            }
        }
        HttpPart::Response { status, .. } if exchange.headers.broken => {
            let reply = wrong_reply(status, event.message, exchange.headers.meta_incomplete);
            exchange.headers.accepted = reply.map(|reply| (event.at, reply));
            judge_accepted(exchange, notes);
        }
        HttpPart::Event(_) => judge_accepted(exchange, notes),
        HttpPart::Request { .. } | HttpPart::Response { .. } | HttpPart::End => {}
    }
}

/// A request in the body of a POST.
struct Request<'a> {
    method: Cow<'a, str>,
    params: Option<Node<'a>>,
}

impl<'a> Request<'a> {
    fn read(message: Node<'a>) -> Option<Request<'a>> {
        let envelope = Envelope::of(message);
        if envelope.kind() != Some(MessageKind::Request) {
            return None;
        }
        Some(Request { method: envelope.method?.as_str()?, params: envelope.params })
    }

    fn param(&self, name: &str) -> Option<Node<'a>> {
        self.params?.get(name)
    }

    fn lacks_meta(&self) -> bool {
        let meta = self.param("_meta");
        let has = |name| meta.is_some_and(|meta| meta.get(name).is_some());
        !has(META_VERSION) || !has(META_CAPABILITIES)
    }

    /// Compares all headers with the body; says whether a server has to be content.
    fn check(&self, headers: &Headers<'_>, known: &Known<'_>, notes: &mut Notes) -> bool {
        let method = self.check_method(headers, notes);
        let name = self.check_name(headers, notes);
        let params = params::check(self, headers, known, notes);
        method && name && params
    }

    fn check_method(&self, headers: &Headers<'_>, notes: &mut Notes) -> bool {
        let method = &self.method;
        let fault = match headers.value(HeaderName::McpMethod) {
            Some(header) if header.trim() == method => return true,
            Some(header) => Fault::new(
                &METHOD_MISMATCH,
                format!("`Mcp-Method` is `{}`, the method `{method}`", header.trim()),
            ),
            None => Fault::new(&METHOD_MISSING, "the request has no `Mcp-Method`"),
        };
        notes.always(fault.help(format!("send `Mcp-Method: {method}`")));
        false
    }

    /// Where the body has what `Mcp-Name` repeats.
    fn named(&self) -> Option<(&'static str, Cow<'a, str>)> {
        let member = match &*self.method {
            "tools/call" | "prompts/get" => "name",
            "resources/read" => "uri",
            _ => return None,
        };
        Some((member, self.param(member)?.as_str()?))
    }

    fn check_name(&self, headers: &Headers<'_>, notes: &mut Notes) -> bool {
        let Some((member, name)) = self.named() else {
            check_unneeded_name(headers, notes);
            return true;
        };
        let help = || format!("send `Mcp-Name: {}`", value::encode(&name));
        let fault = match headers.value(HeaderName::McpName) {
            None => Fault::new(&NAME_MISSING, "the request has no `Mcp-Name`"),
            Some(header) => match value::read(&header, Some(&name)) {
                Value::Text(text) if text == name => return true,
                Value::Text(text) => Fault::new(
                    &NAME_MISMATCH,
                    format!("`Mcp-Name` is `{text}`, `params.{member}` is `{name}`"),
                ),
                Value::Broken(reason) => Fault::new(&ENCODING, format!("`Mcp-Name` {reason}")),
            },
        };
        notes.always(fault.help(help()));
        false
    }
}

/// Servers have nothing to compare it with, but even so it must be readable.
fn check_unneeded_name(headers: &Headers<'_>, notes: &mut Notes) {
    let name = headers.value(HeaderName::McpName);
    if let Some(Value::Broken(reason)) = name.as_deref().map(|name| value::read(name, None)) {
        notes.always(
            Fault::new(&ENCODING, format!("`Mcp-Name` {reason}"))
                .help("leave the header out where it is not needed"),
        );
    }
}

/// What is wrong with the answer to a request that had to be refused for its headers. Another
/// reason to refuse it may have been found first.
fn wrong_reply(status: u16, message: Option<Node<'_>>, meta_incomplete: bool) -> Option<Reply> {
    let code = message.and_then(|message| Envelope::of(message).error_code());
    match (status, code) {
        // Such an error with a wrong status has a rule of its own.
        (_, Some(-32022..=-32020)) => None,
        (200..=299, _) => Some(Reply::Status(status)),
        (400, Some(-32602)) if meta_incomplete => None,
        (400, Some(code)) => Some(Reply::Code(code)),
        _ => None,
    }
}

/// A legacy server may answer anything to a request it does not understand.
fn judge_accepted(exchange: &mut Exchange, notes: &mut Notes) {
    if !exchange.request.server_is_modern {
        return;
    }
    let Some((at, reply)) = exchange.headers.accepted.take() else { return };
    let message = match reply {
        Reply::Status(status) => {
            format!("a request whose headers are wrong is answered with status {status}")
        }
        Reply::Code(code) => {
            format!("a request whose headers are wrong is answered with error {code}")
        }
    };
    let fault = Fault::new(&NOT_REJECTED, message)
        .earlier(at.line, Side::Server)
        .related(exchange.at.line, "the request was here")
        .help("answer 400 with error -32020 (HeaderMismatch)");
    notes.always(fault);
}
