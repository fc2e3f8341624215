//! `Mcp-Param-…`: arguments of a tool that its schema wants in headers.

use std::borrow::Cow;

use mcp_json::Node;

use super::{
    ENCODING, Headers, PARAM_MISMATCH, PARAM_MISSING, PARAM_UNEXPECTED, PARAM_UNSAFE, Request,
    value::{self, Value},
};
use crate::{
    findings::Fault,
    session::{Known, Notes, listings::HeaderParam},
};

const PREFIX: &str = "mcp-param-";
/// Beyond this a double cannot tell neighbouring integers apart.
const MAX_SAFE: f64 = 9_007_199_254_740_991.0;

/// Compares the headers with the arguments; says whether a server has to be content.
pub(super) fn check(
    request: &Request<'_>,
    headers: &Headers<'_>,
    known: &Known<'_>,
    notes: &mut Notes,
) -> bool {
    let tool = request.param("name").filter(|_| request.method == "tools/call");
    let tool = tool.and_then(Node::as_str);
    let tool = tool.and_then(|name| known.listings.tools.get(&name));
    let params = tool.map_or(&[][..], |tool| &tool.headers);
    let mut sound = true;
    for param in params {
        let argument = argument(request.param("arguments"), &param.path);
        let header = headers.get(&format!("{PREFIX}{}", param.name));
        if let Some(fault) = check_param(param, argument, header.as_deref()) {
            // An unsafe integer is the body's fault; no header could be right.
            sound &= argument.and_then(Expected::of) == Some(Expected::Integer(None));
            notes.always(fault);
        }
    }
    sound
}

fn check_param(
    param: &HeaderParam,
    argument: Option<Node<'_>>,
    header: Option<&str>,
) -> Option<Fault> {
    let HeaderParam { name, path } = param;
    let shown = path.join(".");
    let Some(argument) = argument.filter(|argument| !argument.is_null()) else {
        header?;
        let message = format!("`Mcp-Param-{name}` is sent, but there is no argument `{shown}`");
        return Some(Fault::new(&PARAM_UNEXPECTED, message).help("leave the header out"));
    };
    let expected = Expected::of(argument)?;
    if let Expected::Integer(None) = expected {
        return Some(
            Fault::new(&PARAM_UNSAFE, format!("the integer `{shown}` is beyond 2^53 - 1"))
                .at(argument.span())
                .help("mirrored integers must be safe in a double; use a string for larger ones"),
        );
    }
    let written = expected.written();
    let fault = match header.map(|header| value::read(header, expected.text())) {
        None => Fault::new(
            &PARAM_MISSING,
            format!("there is no `Mcp-Param-{name}` for the argument `{shown}`"),
        ),
        Some(Value::Broken(reason)) => unreadable(name, reason),
        Some(Value::Text(text)) if expected.equals(&text) => return None,
        Some(Value::Text(text)) => Fault::new(
            &PARAM_MISMATCH,
            format!("`Mcp-Param-{name}` is `{text}`, the argument `{shown}` is `{written}`"),
        ),
    };
    Some(fault.help(format!("send `Mcp-Param-{name}: {}`", value::encode(&written))))
}

fn unreadable(name: &str, reason: &'static str) -> Fault {
    Fault::new(&ENCODING, format!("`Mcp-Param-{name}` {reason}"))
        .help("send plain ASCII, or `=?base64?` + Base64 of the UTF-8 text + `?=`")
}

/// The argument at the end of `path`.
fn argument<'a>(arguments: Option<Node<'a>>, path: &[Box<str>]) -> Option<Node<'a>> {
    path.iter().try_fold(arguments?, |node, name| node.get(name))
}

/// What a header has to say.
#[derive(Debug, PartialEq)]
enum Expected<'a> {
    Text(Cow<'a, str>),
    Boolean(bool),
    /// `None` if it is not safe.
    Integer(Option<i64>),
}

impl<'a> Expected<'a> {
    /// `None` for values that have no form in headers.
    fn of(argument: Node<'a>) -> Option<Expected<'a>> {
        if let Some(text) = argument.as_str() {
            return Some(Expected::Text(text));
        }
        if let Some(boolean) = argument.as_bool() {
            return Some(Expected::Boolean(boolean));
        }
        argument.is_integer().then(|| Expected::Integer(argument.as_f64().and_then(safe_integer)))
    }

    fn text(&self) -> Option<&str> {
        match self {
            Expected::Text(text) => Some(text),
            Expected::Boolean(_) | Expected::Integer(_) => None,
        }
    }

    fn equals(&self, header: &str) -> bool {
        match self {
            Expected::Text(text) => text == header,
            Expected::Boolean(boolean) => header == if *boolean { "true" } else { "false" },
            Expected::Integer(integer) => {
                let number = header.parse::<f64>().ok();
                integer.is_some() && number.and_then(safe_integer) == *integer
            }
        }
    }

    fn written(&self) -> Cow<'_, str> {
        match self {
            Expected::Text(text) => Cow::Borrowed(text),
            Expected::Boolean(boolean) => Cow::Owned(boolean.to_string()),
            Expected::Integer(integer) => {
                Cow::Owned(integer.map(|integer| integer.to_string()).unwrap_or_default())
            }
        }
    }
}

/// The whole number, if a double holds it and no other one in its place.
fn safe_integer(number: f64) -> Option<i64> {
    let safe = number.abs() <= MAX_SAFE && number.fract() == 0.0;
    safe.then(|| format!("{number:.0}").parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(json: &str, header: &str, expected: bool) {
        let mut tape = mcp_json::Tape::new();
        let document = tape.parse(json.as_bytes(), mcp_json::Limits::default()).unwrap();
        let value = Expected::of(document.root()).unwrap();
        assert_eq!(value.equals(header), expected, "{json} {header}");
    }

    #[test]
    fn strings_and_booleans_are_compared_exactly() {
        check(r#""eu""#, "eu", true);
        check(r#""eu""#, "EU", false);
        check(r#""42""#, "42.0", false);
        check("true", "true", true);
        check("true", "True", false);
        check("false", "0", false);
    }

    #[test]
    fn integers_are_compared_as_numbers() {
        for header in ["42", "42.0", "4.2e1", "+42", "042"] {
            check("42", header, true);
        }
        check("42.0", "42", true);
        check("-0", "0", true);
        for header in ["0x2a", "43", "42.5", "", "forty-two", "inf", "NaN", "4 2"] {
            check("42", header, false);
        }
    }

    #[test]
    fn only_safe_integers_are_safe() {
        assert_eq!(safe_integer(MAX_SAFE), Some(9_007_199_254_740_991));
        assert_eq!(safe_integer(-MAX_SAFE), Some(-9_007_199_254_740_991));
        assert_eq!(safe_integer(MAX_SAFE + 1.0), None);
        assert_eq!(safe_integer(-0.0), Some(0));
        assert_eq!(safe_integer(0.5), None);
    }
}
