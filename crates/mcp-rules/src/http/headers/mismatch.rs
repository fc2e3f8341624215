//! Compares the headers of a request with its body.

use std::borrow::Cow;

use mcp_json::{Node, Span};
use mcp_jsonrpc::{Envelope, MessageKind};

use super::{
    ENCODING, HeaderName, Headers, METHOD_MISMATCH, METHOD_MISSING, NAME_MISMATCH, NAME_MISSING,
    PARAM_MISMATCH, PARAM_MISSING, PARAM_UNEXPECTED, PARAM_UNSAFE,
};
use crate::{
    HeaderParam, HeaderParams, HeaderValueFault, ParamValue, RuleMeta, decode_header_value,
    encode_header_value, findings::Fault, mirrored::decode_copy,
};

const PARAM_PREFIX: &str = "mcp-param-";

/// A header that contradicts the body of its request, or is missing.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct HeaderMismatch {
    /// The rule it violates.
    pub rule: &'static RuleMeta,
    /// What is wrong.
    pub message: String,
    /// How to fix it.
    pub help: String,
    /// Whether a server must refuse the request for it, with error -32020.
    pub must_refuse: bool,
    span: Option<Span>,
}

/// The error that a server answers with.
const HEADER_MISMATCH: i64 = -32020;

impl HeaderMismatch {
    fn new(rule: &'static RuleMeta, message: impl Into<String>, help: impl Into<String>) -> Self {
        let (message, help) = (message.into(), help.into());
        HeaderMismatch { rule, message, help, must_refuse: true, span: None }
    }

    pub(super) fn fault(self) -> Fault {
        let mut fault = Fault::new(self.rule, self.message).help(self.help);
        if self.must_refuse {
            fault = fault.code(HEADER_MISMATCH);
        }
        match self.span {
            Some(span) => fault.at(span),
            None => fault,
        }
    }
}

/// Compares the headers of a request with its body, as 2026-07-28 requires of servers. `params`
/// returns the arguments that headers mirror for the tool with this name. Only requests are
/// checked.
pub fn header_mismatches<'p>(
    request: &Envelope<'_>,
    headers: &Headers<'_>,
    params: impl FnOnce(&str) -> Option<Cow<'p, HeaderParams>>,
) -> Vec<HeaderMismatch> {
    let mut found = Vec::new();
    let method = request.method.and_then(Node::as_str);
    if let Some(method) = method.filter(|_| request.kind() == Some(MessageKind::Request)) {
        found.extend(compare_method(&method, headers));
        found.extend(compare_name(&method, request.params, headers));
        if method == "tools/call" {
            compare_params(request.params, headers, params, &mut found);
        }
    }
    found
}

fn compare_method(method: &str, headers: &Headers<'_>) -> Option<HeaderMismatch> {
    let header = headers.value(HeaderName::McpMethod);
    let (rule, message) = match header.as_deref().map(str::trim) {
        Some(header) if header == method => return None,
        Some(header) => {
            (&METHOD_MISMATCH, format!("`Mcp-Method` is `{header}`, but the method is `{method}`"))
        }
        None => (&METHOD_MISSING, "the request has no `Mcp-Method`".to_owned()),
    };
    Some(HeaderMismatch::new(rule, message, format!("send `Mcp-Method: {method}`")))
}

fn compare_name(
    method: &str,
    params: Option<Node<'_>>,
    headers: &Headers<'_>,
) -> Option<HeaderMismatch> {
    let member = match method {
        "tools/call" | "prompts/get" => Some("name"),
        "resources/read" => Some("uri"),
        _ => None,
    };
    let name = member.and_then(|member| Some((member, params?.get(member)?.as_str()?)));
    let header = headers.value(HeaderName::McpName);
    let Some((member, name)) = name else {
        // Servers have nothing to compare it with, but it must still be readable.
        let fault = decode_header_value(&header?).err()?;
        let help = "omit the header where it is not needed";
        return Some(HeaderMismatch { must_refuse: false, ..unreadable("Mcp-Name", fault, help) });
    };
    let help = || format!("send `Mcp-Name: {}`", encode_header_value(&name));
    let header = header.as_deref().map(|header| decode_copy(header, Some(&name)));
    Some(match header {
        None => HeaderMismatch::new(&NAME_MISSING, "the request has no `Mcp-Name`", help()),
        Some(Ok(text)) if text == name => return None,
        Some(Ok(text)) => {
            let message = format!("`Mcp-Name` is `{text}`, but `params.{member}` is `{name}`");
            HeaderMismatch::new(&NAME_MISMATCH, message, help())
        }
        Some(Err(fault)) => unreadable("Mcp-Name", fault, help()),
    })
}

fn compare_params<'p>(
    params: Option<Node<'_>>,
    headers: &Headers<'_>,
    marked: impl FnOnce(&str) -> Option<Cow<'p, HeaderParams>>,
    found: &mut Vec<HeaderMismatch>,
) {
    let Some(params) = params else { return };
    let tool = params.get("name").and_then(Node::as_str);
    let Some(marked) = tool.and_then(|name| marked(&name)) else { return };
    for param in marked.iter() {
        let argument = param.argument(params.get("arguments"));
        let header = headers.get(&format!("{PARAM_PREFIX}{}", param.name()));
        found.extend(compare_param(param, argument, header.as_deref()));
    }
}

fn compare_param(
    param: &HeaderParam,
    argument: Option<Node<'_>>,
    header: Option<&str>,
) -> Option<HeaderMismatch> {
    let (name, shown) = (param.name(), param.shown_path());
    let Some(argument) = argument.filter(|argument| !argument.is_null()) else {
        header?;
        let message = format!("`Mcp-Param-{name}` is sent, but there is no argument `{shown}`");
        return Some(HeaderMismatch::new(&PARAM_UNEXPECTED, message, "omit the header"));
    };
    let expected = ParamValue::of(argument)?;
    if let ParamValue::UnsafeInteger(_) = expected {
        let message = format!("the integer `{shown}` is beyond 2^53 - 1");
        let help = "integers in headers must be exact as doubles; use a string for larger ones";
        let mismatch = HeaderMismatch::new(&PARAM_UNSAFE, message, help);
        // The fault is in the body; no header could be right.
        return Some(HeaderMismatch {
            must_refuse: false,
            span: Some(argument.span()),
            ..mismatch
        });
    }
    let help = || format!("send `Mcp-Param-{name}: {}`", encode_header_value(&expected.to_text()));
    Some(match header.map(|header| decode_copy(header, expected.as_text())) {
        None => {
            let message = format!("there is no `Mcp-Param-{name}` for the argument `{shown}`");
            HeaderMismatch::new(&PARAM_MISSING, message, help())
        }
        Some(Ok(text)) if expected.equals(&text) => return None,
        Some(Ok(text)) => {
            let written = expected.to_text();
            let message = format!(
                "`Mcp-Param-{name}` is `{text}`, but the argument `{shown}` is `{written}`"
            );
            HeaderMismatch::new(&PARAM_MISMATCH, message, help())
        }
        Some(Err(fault)) => unreadable(&format!("Mcp-Param-{name}"), fault, help()),
    })
}

fn unreadable(name: &str, fault: HeaderValueFault, help: impl Into<String>) -> HeaderMismatch {
    HeaderMismatch::new(&ENCODING, format!("`{name}` {fault}"), help)
}
