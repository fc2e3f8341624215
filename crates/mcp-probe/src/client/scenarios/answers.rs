//! Scenarios of answers: correct but unusual ones, and wrong ones.

use std::time::Duration;

use mcp_core::{Revision, Revisions};
use mcp_rules::client_behaviour as rules;
use serde_json::{Value, json};

use super::LEGACY;
use crate::{
    WireKind,
    client::{
        act::Act,
        cue::Cue,
        scenario::{Expect, Needs, Scenario},
    },
};

const UNDERSTOOD: Expect = Expect::Same(&rules::VALID_ANSWER_NOT_UNDERSTOOD);
const STDIO: &[WireKind] = &[WireKind::Stdio];
const LATE: Duration = Duration::from_millis(1500);
/// Length of a long answer, in characters.
const LONG: usize = 300_000;

pub(super) static SCENARIOS: &[Scenario] = &[
    Scenario::new("answers/in-pieces", "an answer arrives a few bytes at a time")
        .needing(Needs::Request)
        .script(|cue| at_first(cue, |answer| vec![Act::Pieces(answer)]))
        .expecting(UNDERSTOOD),
    Scenario::new("answers/together", "a notification and an answer arrive at once")
        .at(LEGACY)
        .needing(Needs::Request)
        .script(|cue| {
            let log = json!({
                "jsonrpc": "2.0",
                "method": "notifications/message",
                "params": { "level": "info", "data": "a" },
            });
            at_first(cue, |answer| vec![Act::Together(vec![log, answer])])
        })
        .expecting(UNDERSTOOD),
    Scenario::new("answers/long", "an answer has several hundred thousand characters")
        .needing(Needs::Request)
        .script(|cue| with_meta(cue, &json!("x".repeat(LONG))))
        .expecting(UNDERSTOOD),
    Scenario::new("answers/unicode", "an answer has characters of every kind")
        .needing(Needs::Request)
        .script(|cue| {
            with_meta(cue, &json!("\u{0}\u{7f}é\u{2028}\u{2029}\u{feff}\u{1f600}\u{10ffff}"))
        })
        .expecting(UNDERSTOOD),
    Scenario::new("answers/extra-members", "an answer has unknown members")
        .needing(Needs::Request)
        .script(|cue| {
            at_first(cue, |mut answer| {
                answer["result"]["plumbExtra"] = json!({ "a": [1, null] });
                vec![Act::Tell(answer)]
            })
        })
        .expecting(Expect::Same(&rules::UNKNOWN_MEMBER_NOT_IGNORED)),
    Scenario::new("answers/batch", "an answer comes in a batch")
        .at(Revisions::only(Revision::V2025_03_26))
        .everywhere()
        .needing(Needs::Request)
        .script(|cue| at_first(cue, |answer| vec![Act::Text(json!([answer]).to_string())]))
        .expecting(Expect::Same(&rules::BATCH_NOT_UNDERSTOOD)),
    Scenario::new("answers/late", "an answer takes a second and a half")
        .needing(Needs::Request)
        .script(|cue| cue.first(|| vec![Act::Pause(LATE)])),
    Scenario::new("answers/empty-list", "a list is empty")
        .needing(Needs::Method("tools/list"))
        .script(|cue| {
            let mut result = (cue.method == "tools/list").then(|| cue.plain_result())?;
            result["tools"] = json!([]);
            Some(vec![Act::Tell(cue.result(result))])
        })
        .pardoning(&["tool-unknown"])
        .expecting(Expect::Survive),
    Scenario::new("answers/tool-failed", "a tool reports an error")
        .needing(Needs::Method("tools/call"))
        .script(|cue| {
            let mut result = (cue.method == "tools/call").then(|| cue.plain_result())?;
            result["isError"] = json!(true);
            Some(vec![Act::Tell(cue.result(result))])
        })
        .expecting(Expect::Survive),
    Scenario::new("answers/error", "the server answers with an error")
        .needing(Needs::Request)
        .script(|cue| at_first(cue, |_| vec![Act::Tell(cue.error(-32603, "Internal error"))]))
        .expecting(Expect::Survive),
    Scenario::new(
        "answers/odd-error",
        "the server answers with a server-defined error that has data",
    )
    .needing(Needs::Request)
    .script(|cue| {
        at_first(cue, |_| {
            let mut error = cue.error(4711, "");
            error["error"]["data"] = json!([null, { "a": "b" }]);
            vec![Act::Tell(error)]
        })
    })
    .expecting(Expect::Survive),
    Scenario::new("answers/invalid-result", "a result does not match its request")
        .needing(Needs::Request)
        .script(|cue| {
            let wrong = "none";
            let wrong = json!({
                "tools": wrong, "prompts": wrong, "resources": wrong, "resourceTemplates": wrong,
                "content": wrong, "contents": wrong, "messages": wrong, "completion": wrong,
            });
            at_first(cue, |_| vec![Act::Tell(cue.result(wrong))])
        })
        .expecting(Expect::Survive),
    Scenario::new("answers/null-result", "a result is null")
        .needing(Needs::Request)
        .script(|cue| at_first(cue, |_| vec![Act::Tell(cue.result(Value::Null))]))
        .expecting(Expect::Survive),
    // A client that cannot read it does not know which request it answers, and may keep waiting.
    Scenario::new("answers/deep", "an answer is nested ten thousand levels deep")
        .needing(Needs::Request)
        .script(|cue| {
            at_first(cue, |_| {
                let (open, close) = ("[".repeat(10_000), "]".repeat(10_000));
                let id = cue.id;
                let text =
                    format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"a":{open}{close}}}}}"#);
                vec![Act::Text(text)]
            })
        }),
    Scenario::new("answers/stray", "an answer to no request comes before the answer")
        .needing(Needs::Request)
        .script(|cue| {
            let stray = json!({ "jsonrpc": "2.0", "id": "plumb-nobody", "result": {} });
            at_first(cue, |answer| vec![Act::Tell(stray), Act::Tell(answer)])
        })
        .expecting(Expect::Survive),
    Scenario::new("answers/twice", "an answer comes twice")
        .over(STDIO)
        .needing(Needs::Request)
        .script(|cue| at_first(cue, |answer| vec![Act::Tell(answer.clone()), Act::Tell(answer)]))
        .expecting(Expect::Survive),
    Scenario::new("answers/not-json", "a line that is not JSON comes before the answer")
        .over(STDIO)
        .needing(Needs::Request)
        .script(|cue| {
            cue.first(|| vec![Act::Text("Listening …".to_owned()), Act::Text("{\"json".to_owned())])
        })
        .expecting(Expect::Survive),
];

/// Replaces the answer to the first request.
fn at_first(cue: &Cue<'_>, change: impl FnOnce(Value) -> Vec<Act>) -> Option<Vec<Act>> {
    if !cue.is_first() || cue.id.is_null() {
        return None;
    }
    match cue.plain().pop() {
        Some(Act::Tell(answer)) => Some(change(answer)),
        _ => None,
    }
}

/// The answer to the first request, with this value under a foreign key in its `_meta`.
fn with_meta(cue: &Cue<'_>, value: &Value) -> Option<Vec<Act>> {
    at_first(cue, |mut answer| {
        if let Some(result) = answer.get_mut("result") {
            result["_meta"]["com.example/filler"] = value.clone();
        }
        vec![Act::Tell(answer)]
    })
}
