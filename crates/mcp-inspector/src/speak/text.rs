//! Composes the texts of messages. Text typed by the user is kept as it is.

use mcp_core::{Meta, Revision};
use mcp_json::{Limits, Node, Tape};
use mcp_jsonrpc::Envelope;
use serde_json::json;

/// The `clientInfo` of the inspector.
pub(super) fn client_info() -> serde_json::Value {
    json!({ "name": "plumb-inspector", "version": env!("CARGO_PKG_VERSION") })
}

/// The capabilities of the inspector; the user answers.
pub(super) fn capabilities() -> serde_json::Value {
    json!({ "roots": {}, "sampling": {}, "elicitation": {} })
}

/// Members of `_meta` that a request needs: names, and values as JSON texts.
pub(super) type MetaMembers = Vec<(&'static str, String)>;

/// The members of `_meta` that every request has in a stateless revision.
pub(super) fn stateless_meta(revision: Revision) -> MetaMembers {
    vec![
        (Meta::PROTOCOL_VERSION, json!(revision).to_string()),
        (Meta::CLIENT_CAPABILITIES, capabilities().to_string()),
        (Meta::CLIENT_INFO, client_info().to_string()),
    ]
}

/// The text of a request, or without an id of a notification.
pub(super) fn message(
    id: Option<u64>,
    method: &str,
    params: Option<&str>,
    meta: &MetaMembers,
) -> String {
    let id = id.map(|id| format!(r#","id":{id}"#)).unwrap_or_default();
    let params = params.map(str::trim).filter(|params| !params.is_empty()).map(on_one_line);
    let params = match params {
        None if meta.is_empty() => String::new(),
        None => format!(r#","params":{}"#, with_meta("{}", meta)),
        Some(params) => format!(r#","params":{}"#, with_meta(&params, meta)),
    };
    format!(r#"{{"jsonrpc":"2.0"{id},"method":{}{params}}}"#, json!(method))
}

/// Replaces line breaks, which end a message; in JSON they are only white space.
pub(super) fn on_one_line(text: &str) -> String {
    text.replace(['\n', '\r'], " ")
}

/// Adds members to the `_meta` of params, unless present.
fn with_meta(params: &str, wanted: &MetaMembers) -> String {
    let place = read(params, |root| {
        if !root.is_object() {
            return None;
        }
        let meta = root.get("_meta");
        match meta {
            Some(meta) if !meta.is_object() => None,
            Some(meta) => {
                let missing = wanted.iter().filter(|(name, _)| meta.get(name).is_none());
                let members: Vec<String> = missing.map(member).collect();
                Some((meta.span().start + 1, members, meta.is_empty()))
            }
            None => {
                let members: Vec<String> = wanted.iter().map(member).collect();
                let meta = format!(r#""_meta":{{{}}}"#, members.join(","));
                Some((root.span().start + 1, vec![meta], root.is_empty()))
            }
        }
    });
    let Some(Some((place, members, is_empty))) = place else { return params.to_owned() };
    if wanted.is_empty() || members.is_empty() {
        return params.to_owned();
    }
    let comma = if is_empty { "" } else { "," };
    format!("{}{}{comma}{}", &params[..place], members.join(","), &params[place..])
}

fn member((name, value): &(&'static str, String)) -> String {
    format!("{}:{value}", json!(name))
}

/// Gives a request a new id, and a new progress token if it has one.
pub(super) fn renewed(text: &str, id: u64) -> String {
    let spans = read(text, |root| {
        let envelope = Envelope::of(root);
        let id = envelope.method.and(envelope.id).map(Node::span);
        let meta = envelope.params.and_then(|params| params.get("_meta"));
        let token = meta.and_then(|meta| meta.get("progressToken")).map(Node::span);
        [id, token]
    });
    let mut spans: Vec<_> = spans.into_iter().flatten().flatten().collect();
    spans.sort_by_key(|span| std::cmp::Reverse(span.start));
    let mut text = text.to_owned();
    for span in spans {
        text.replace_range(span.start..span.end, &id.to_string());
    }
    text
}

/// The params of a repeated call, with the answers added.
pub(super) fn with_inputs(
    params: &str,
    answers: &[(String, String)],
    state: Option<&str>,
) -> String {
    let kept = read(params, |root| {
        let others = root
            .members()
            .filter(|(name, _)| !name.str_eq("inputResponses") && !name.str_eq("requestState"));
        let member = |(name, value): (Node<'_>, Node<'_>)| {
            let (name, value) = (name.raw(), value.raw());
            format!("{}:{}", String::from_utf8_lossy(name), String::from_utf8_lossy(value))
        };
        others.map(member).collect::<Vec<_>>()
    });
    let mut members = kept.unwrap_or_default();
    let answers: Vec<String> = answers
        .iter()
        .map(|(key, answer)| format!("{}:{}", json!(key), on_one_line(answer)))
        .collect();
    members.push(format!(r#""inputResponses":{{{}}}"#, answers.join(",")));
    if let Some(state) = state {
        members.push(format!(r#""requestState":{state}"#));
    }
    format!("{{{}}}", members.join(","))
}

/// Passes the value of a text to `visit`; `None` if it is not JSON.
pub(super) fn read<R>(text: &str, visit: impl FnOnce(Node<'_>) -> R) -> Option<R> {
    let mut tape = Tape::new();
    tape.parse(text.as_bytes(), LIMITS).ok().map(|document| visit(document.root()))
}

pub(super) const LIMITS: Limits = Limits { max_bytes: 16 << 20, max_depth: 128 };

#[cfg(test)]
mod tests {
    use super::*;

    fn token() -> MetaMembers {
        vec![("progressToken", "7".to_owned())]
    }

    #[test]
    fn spelling_is_kept() {
        let big = r#"{ "n": 12345678901234567890, "n": 1 }"#;
        assert_eq!(
            message(Some(7), "a/b", Some(big), &token()),
            r#"{"jsonrpc":"2.0","id":7,"method":"a/b","params":{"_meta":{"progressToken":7}, "n": 12345678901234567890, "n": 1 }}"#
        );
        assert_eq!(
            message(None, "n", Some("{\"_meta\":{\"a\":1}\n}"), &token()),
            r#"{"jsonrpc":"2.0","method":"n","params":{"_meta":{"progressToken":7,"a":1} }}"#
        );
        assert_eq!(
            message(Some(1), "n", Some(r#"{"_meta":{"progressToken":"x"}}"#), &token()),
            r#"{"jsonrpc":"2.0","id":1,"method":"n","params":{"_meta":{"progressToken":"x"}}}"#
        );
        assert_eq!(
            message(Some(1), "p", None, &vec![]),
            r#"{"jsonrpc":"2.0","id":1,"method":"p"}"#
        );
    }

    #[test]
    fn what_is_not_an_object_is_left_alone() {
        for params in ["{not json", "[1]", "3", r#"{"_meta":3}"#] {
            let text = message(Some(1), "n", Some(params), &token());
            assert_eq!(
                text,
                format!(r#"{{"jsonrpc":"2.0","id":1,"method":"n","params":{params}}}"#)
            );
        }
    }

    #[test]
    fn a_renewed_request_has_another_id_and_token_and_nothing_else() {
        let text = r#"{"id":3,"method":"m","params":{"id":3,"_meta":{"progressToken":"t","x":3}}}"#;
        assert_eq!(
            renewed(text, 12),
            r#"{"id":12,"method":"m","params":{"id":3,"_meta":{"progressToken":12,"x":3}}}"#
        );
        assert_eq!(renewed(r#"{"method":"n"}"#, 12), r#"{"method":"n"}"#);
    }

    #[test]
    fn answers_replace_those_of_the_last_round() {
        let params = r#"{"name":"a","requestState":"old","inputResponses":{}}"#;
        let answers = [("who".to_owned(), "{\n}".to_owned())];
        assert_eq!(
            with_inputs(params, &answers, Some("\"new\"")),
            r#"{"name":"a","inputResponses":{"who":{ }},"requestState":"new"}"#
        );
    }
}
