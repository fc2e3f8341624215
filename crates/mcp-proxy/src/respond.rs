//! Builds the messages that both sides get when a message is held back.

use std::collections::{BTreeMap, BTreeSet};

use bytes::Bytes;
use mcp_core::{MessageEnds, Refusal};
use mcp_json::{Node, Span, Tape};
use mcp_jsonrpc::{
    Envelope, ErrorCode, JsonRpcError, JsonRpcId, JsonRpcResponse, MessageKind, write_batch,
};

use crate::{
    Verdict, bad_tools,
    bridge::overlong,
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

    /// What to send instead of a message that was too long to be kept.
    pub(crate) fn of_overlong(ends: &MessageEnds, refusal: &Refusal) -> Replacement {
        let answer = |direction: Direction, id| {
            Some(response(id, direction.of(JsonRpcError::of_refusal(refusal))).to_bytes())
        };
        match overlong::kind_of(ends) {
            Some((MessageKind::Response, id)) => {
                let to_receiver = answer(Direction::On, Some(id));
                Replacement { to_receiver, ..Replacement::default() }
            }
            Some((_, id)) => Replacement::back(answer(Direction::Back, Some(id))),
            None => Replacement::back(answer(Direction::Back, None)),
        }
    }

    fn back(answer: Option<Bytes>) -> Replacement {
        Replacement { to_sender: answer, ..Replacement::default() }
    }

    /// Holds back a whole batch. It may have millions of entries, so only the first error has the
    /// details, and entries without an id get one error together.
    fn of_whole_batch(batch: Node<'_>, refusal: &Refusal) -> Replacement {
        let mut error = JsonRpcError::of_refusal(refusal);
        let (mut back, mut on) = (Vec::new(), Vec::new());
        let mut is_answered_without_id = false;
        for entry in batch.elements() {
            let Some((direction, id)) = waiting(entry) else { continue };
            if id.is_none() && std::mem::replace(&mut is_answered_without_id, true) {
                continue;
            }
            let out = match direction {
                Direction::Back => &mut back,
                Direction::On => &mut on,
            };
            out.push(if out.is_empty() { b'[' } else { b',' });
            out.extend_from_slice(&response(id, direction.of(error.clone())).to_bytes());
            error.data = None;
        }
        let closed = |mut answers: Vec<u8>| {
            (!answers.is_empty()).then(|| {
                answers.push(b']');
                answers.into()
            })
        };
        Replacement { to_sender: closed(back), to_receiver: closed(on), passes_in_part: false }
    }

    /// Holds back only the bad entries of a batch; the others pass unchanged.
    fn of_batch(text: &[u8], batch: Node<'_>, verdict: &Verdict) -> Replacement {
        let by_entry: BTreeMap<Option<usize>, &Refusal> =
            verdict.refusals.iter().map(|refusal| (refusal.index, refusal)).collect();
        if let Some(refusal) = by_entry.get(&None)
            && batch.elements().next().is_some()
        {
            return Replacement::of_whole_batch(batch, refusal);
        }
        let (mut back, mut on) = (Vec::new(), Vec::new());
        let (mut gone, mut parts) = (BTreeSet::new(), Vec::new());
        let mut count = 0;
        for (index, entry) in batch.elements().enumerate() {
            count += 1;
            let Some(refusal) = by_entry.get(&Some(index)) else { continue };
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

#[derive(Debug, Clone, Copy)]
enum Direction {
    Back,
    On,
}

impl Direction {
    /// The error as its receiver should see it: a bad answer is not the fault of the requester.
    fn of(self, error: JsonRpcError) -> JsonRpcError {
        match self {
            Direction::Back => error,
            Direction::On => JsonRpcError { code: ErrorCode::InternalError.code(), ..error },
        }
    }
}

/// The answer on behalf of the receiver; `None` if the message expects none.
fn answer(message: Node<'_>, refusal: &Refusal) -> Option<(Direction, JsonRpcResponse)> {
    let (direction, id) = waiting(message)?;
    Some((direction, response(id, direction.of(JsonRpcError::of_refusal(refusal)))))
}

/// The side that needs an answer in place of a message, and the id of that answer.
fn waiting(message: Node<'_>) -> Option<(Direction, Option<JsonRpcId>)> {
    let envelope = Envelope::of(message);
    let id = envelope.readable_id();
    match envelope.kind() {
        Some(MessageKind::Notification) => None,
        Some(MessageKind::Response) => Some((Direction::On, Some(id?))),
        // A message with a result or an error besides a method is not a request.
        None if envelope.result.is_some() || envelope.error.is_some() => None,
        Some(MessageKind::Request) | None => Some((Direction::Back, id)),
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
    use mcp_core::{Json, RefusalReason};

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
        let mut whole = refusing(&[None]);
        let both = format!("[{REFUSED},{}]", REFUSED.replace("1,", "2.0,"));
        check(&format!("[{call},{other}]"), &whole, &both, "");
        // Errors stay short, however many entries there are.
        whole.refusals[0].findings = vec![Json::parse(r#"{"rule":"limit"}"#.to_owned()).unwrap()];
        let told = |text: &str| Replacement::of(text.as_bytes(), &whole).to_sender.unwrap();
        let both = told(&format!("[{call},{other}]"));
        let both = String::from_utf8(both.to_vec()).unwrap();
        assert_eq!(both.matches("limit").count(), 1, "{both}");
        let nameless = told(&format!("[{}]", ["1"; 1000].join(",")));
        assert!(nameless.len() < 200, "{nameless:?}");
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
