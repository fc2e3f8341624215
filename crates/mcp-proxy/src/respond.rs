//! Builds the messages that both sides get when a message is held back.

use std::collections::{BTreeMap, BTreeSet};

use bytes::Bytes;
use mcp_core::Refusal;
use mcp_json::{Node, Span, Tape};
use mcp_jsonrpc::{
    Envelope, ErrorCode, JsonRpcError, JsonRpcId, JsonRpcResponse, MessageKind, write_batch,
};

use crate::{
    Verdict, bad_tools,
    splice::{with_parts, without_elements},
};

/// The sender that recordings name for messages of the proxy itself.
pub(crate) const PROXY: &str = "proxy";

/// The messages that replace one that was held back.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Replacement {
    /// Sent back to the sender: the answer to a request, on behalf of the receiver.
    pub(crate) to_sender: Option<Bytes>,
    /// Sent to the receiver: the parts of the text that pass, and an error in place of an answer
    /// that does not.
    pub(crate) to_receiver: Option<Bytes>,
    /// Whether part of the text is forwarded to the receiver.
    pub(crate) passes_in_part: bool,
}

impl Replacement {
    /// Decides what to send instead of `text`, which may not pass as it is.
    pub(crate) fn of(text: &[u8], verdict: &Verdict) -> Replacement {
        let refusals = &verdict.refusals;
        let mut tape = Tape::new();
        let Ok(document) = tape.parse(text, mcp_json::Limits::default()) else {
            // It has no id to answer to, and apparently nobody waits for an answer. Tell the sender
            // anyway, in case it does wait.
            return Replacement::back(error_without_id(refusals));
        };
        let root = document.root();
        if root.is_array() {
            return Replacement::of_batch(text, root, verdict);
        }
        if let Some(rest) = without_bad_tools(root, None, verdict) {
            let to_receiver = Some(with_parts(text, rest));
            return Replacement { to_sender: None, to_receiver, passes_in_part: true };
        }
        let Some(refusal) = refusals.first() else { return Replacement::default() };
        match answer(root, refusal) {
            Some((Direction::Back, response)) => Replacement::back(Some(response.to_bytes())),
            Some((Direction::On, response)) => {
                Replacement { to_receiver: Some(response.to_bytes()), ..Replacement::default() }
            }
            None => Replacement::default(),
        }
    }

    fn back(answer: Option<Bytes>) -> Replacement {
        Replacement { to_sender: answer, ..Replacement::default() }
    }

    /// Holds back only the bad entries of a batch; the others pass unchanged.
    fn of_batch(text: &[u8], batch: Node<'_>, verdict: &Verdict) -> Replacement {
        let by_entry: BTreeMap<Option<usize>, &Refusal> =
            verdict.refusals.iter().map(|refusal| (refusal.index, refusal)).collect();
        let of_all = by_entry.get(&None).copied();
        let (mut back, mut on) = (Vec::new(), Vec::new());
        let (mut gone, mut parts) = (BTreeSet::new(), Vec::new());
        let mut count = 0;
        for (index, entry) in batch.elements().enumerate() {
            count += 1;
            let Some(refusal) = of_all.or(by_entry.get(&Some(index)).copied()) else { continue };
            if let Some(rest) = without_bad_tools(entry, Some(index), verdict) {
                parts.extend(rest);
                continue;
            }
            match answer(entry, refusal) {
                Some((Direction::Back, response)) => {
                    gone.insert(index);
                    back.push(response);
                }
                Some((Direction::On, response)) => {
                    parts.push((entry.span(), response.to_bytes()));
                    on.push(response);
                }
                None => {
                    gone.insert(index);
                }
            }
        }
        if count == 0 {
            return Replacement::back(error_without_id(&verdict.refusals));
        }
        let to_sender = (!back.is_empty()).then(|| write_batch(&back));
        if gone.len() == count {
            return Replacement::back(to_sender);
        }
        parts.extend(without_elements(batch, &gone));
        let to_receiver = Some(with_parts(text, parts));
        let passes_in_part = gone.len() + on.len() < count;
        Replacement { to_sender, to_receiver, passes_in_part }
    }
}

/// The parts to remove so that the message passes, if it is held back only for some of its tools.
fn without_bad_tools(
    message: Node<'_>,
    index: Option<usize>,
    verdict: &Verdict,
) -> Option<Vec<(Span, Bytes)>> {
    let places = verdict.bad_tools.get(&index)?;
    Some(without_elements(bad_tools::list_in(message)?, places))
}

enum Direction {
    Back,
    On,
}

/// The answer on behalf of the receiver; `None` if the message expects none.
fn answer(message: Node<'_>, refusal: &Refusal) -> Option<(Direction, JsonRpcResponse)> {
    let envelope = Envelope::of(message);
    let error = JsonRpcError::of_refusal(refusal);
    let id = envelope.readable_id();
    match envelope.kind() {
        Some(MessageKind::Notification) => None,
        Some(MessageKind::Response) => {
            let error = JsonRpcError { code: ErrorCode::InternalError.code(), ..error };
            Some((Direction::On, response(Some(id?), error)))
        }
        // A message with a result or an error besides a method is not a request.
        None if envelope.result.is_some() || envelope.error.is_some() => None,
        Some(MessageKind::Request) | None => Some((Direction::Back, response(id, error))),
    }
}

fn error_without_id(refusals: &[Refusal]) -> Option<Bytes> {
    let error = JsonRpcError::of_refusal(refusals.first()?);
    Some(response(None, error).to_bytes())
}

fn response(id: Option<JsonRpcId>, error: JsonRpcError) -> JsonRpcResponse {
    // MCP has no null ids, so the answer to an unreadable message has no id.
    JsonRpcResponse { id, outcome: Err(error) }
}

#[cfg(test)]
mod tests {
    use mcp_core::RefusalReason;

    use super::*;

    fn refusing(indices: &[Option<usize>]) -> Verdict {
        let refusal = |index: &Option<usize>| Refusal {
            index: *index,
            reason: RefusalReason::InvalidParams,
            message: "no".into(),
            findings: Vec::new(),
            facts: None,
        };
        Verdict { refusals: indices.iter().map(refusal).collect(), ..Verdict::default() }
    }

    #[track_caller]
    fn check(text: &str, verdict: &Verdict, back: &str, on: &str) {
        let Replacement { to_sender, to_receiver, .. } = Replacement::of(text.as_bytes(), verdict);
        let shown =
            |bytes: Option<Bytes>| String::from_utf8(bytes.unwrap_or_default().to_vec()).unwrap();
        assert_eq!((&*shown(to_sender), &*shown(to_receiver)), (back, on));
    }

    const REFUSED: &str = r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"no"}}"#;

    #[test]
    fn only_the_bad_entries_of_a_batch_are_held_back() {
        let call = r#"{"jsonrpc":"2.0","id":1,"method":"a"}"#;
        let other = r#"{"jsonrpc":"2.0", "id":2.0,"method":"b"}"#;
        let note = r#"{"jsonrpc":"2.0","method":"c"}"#;
        let verdict = refusing(&[Some(0), Some(2)]);
        check(
            &format!("[{call} ,\n{other},{note}]"),
            &verdict,
            &format!("[{REFUSED}]"),
            &format!("[{other}]"),
        );
        check(&format!("[{call}]"), &refusing(&[Some(0)]), &format!("[{REFUSED}]"), "");
        check(&format!("[{note}]"), &refusing(&[Some(0)]), "", "");
        let whole = refusing(&[None]);
        let both = format!("[{REFUSED},{}]", REFUSED.replace("1,", "2.0,"));
        check(&format!("[{call},{other}]"), &whole, &both, "");
    }

    #[test]
    fn a_bad_answer_in_a_batch_becomes_an_error_in_its_place() {
        let answer = r#"{"jsonrpc":"2.0","id":1,"result":7}"#;
        let other = r#"{"jsonrpc":"2.0","id":2,"result":{}}"#;
        let text = format!("[{answer}, {other}]");
        let error = REFUSED.replace("-32602", "-32603");
        check(&text, &refusing(&[Some(0)]), "", &format!("[{error}, {other}]"));
    }

    #[test]
    fn bad_tools_are_cut_out_of_their_list() {
        let list = |tools: &str| {
            format!(r#"{{"jsonrpc":"2.0","id":1,"result":{{ "tools":[{tools}], "x":1.0}}}}"#)
        };
        let mut verdict = refusing(&[None]);
        verdict.bad_tools.insert(None, [1].into());
        check(
            &list(r#"{"name":"a"}, {} ,{ "name":"c"}"#),
            &verdict,
            "",
            &list(r#"{"name":"a"}, { "name":"c"}"#),
        );
        // Which list counts is ambiguous.
        let twice = r#"{"jsonrpc":"2.0","id":1,"result":{"tools":[{},{}],"tools":[]}}"#;
        check(twice, &verdict, "", &REFUSED.replace("-32602", "-32603"));
    }
}
