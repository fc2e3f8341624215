//! Scenarios of cancelled requests, on either side.

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

const STDIO: &[WireKind] = &[WireKind::Stdio];

pub(super) static SCENARIOS: &[Scenario] = &[
    Scenario::new("cancellation/unknown", "the server cancels a request that it never sent")
        .at(LEGACY)
        .needing(Needs::Request)
        .script(|cue| cue.first(|| vec![Act::Tell(cancelled(&json!("plumb-nobody")))]))
        .expecting(Expect::Same(&rules::NOTIFICATION_NOT_TOLERATED)),
    // It may still be answered, since the messages may cross.
    Scenario::new("cancellation/of-question", "the server cancels a ping right after sending it")
        .at(LEGACY)
        .needing(Needs::Request)
        .script(|cue| {
            cue.first(|| {
                let id = json!("plumb-cancelled");
                let ping = json!({ "jsonrpc": "2.0", "id": id, "method": "ping" });
                vec![Act::Tell(ping), Act::Tell(cancelled(&id))]
            })
        })
        .pardoning(&["response-after-cancel"])
        .expecting(Expect::Same(&rules::NOTIFICATION_NOT_TOLERATED)),
    // If the client waits longer than the server, it gets its answer in time.
    Scenario::new("cancellation/late-answer", "a request is answered only after it was cancelled")
        .over(STDIO)
        .needing(Needs::Request)
        .script(late_answer)
        .expecting(Expect::Survive),
];

fn cancelled(id: &Value) -> Value {
    let params = json!({ "requestId": id, "reason": "a mistake" });
    json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params })
}

fn late_answer(cue: &Cue<'_>) -> Option<Vec<Act>> {
    (cue.is_first() && !cue.id.is_null()).then(|| {
        let mut acts = vec![Act::AwaitCancel(cue.id.clone())];
        acts.extend(cue.plain());
        acts
    })
}
