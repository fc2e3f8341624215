//! Scenarios of notifications from the server.

use mcp_rules::client_behaviour as rules;
use serde_json::{Value, json};

use super::LEGACY;
use crate::client::{
    act::Act,
    scenario::{Expect, Needs, Scenario},
};

const TOLERATED: Expect = Expect::Same(&rules::NOTIFICATION_NOT_TOLERATED);

pub(super) static SCENARIOS: &[Scenario] = &[
    Scenario::new("notifications/unknown", "the server sends an unknown notification")
        .needing(Needs::Request)
        .script(|cue| {
            let unknown = "notifications/plumb/no-such-notification";
            cue.first(|| vec![tell(unknown, Some(json!({ "a": [1, null] })))])
        })
        .expecting(Expect::Same(&rules::UNKNOWN_NOTIFICATION_NOT_IGNORED)),
    Scenario::new("notifications/list-changed", "the server announces that its lists have changed")
        .at(LEGACY)
        .needing(Needs::Request)
        .script(|cue| {
            cue.first(|| {
                ["tools", "prompts", "resources"]
                    .map(|list| tell(&format!("notifications/{list}/list_changed"), None))
                    .to_vec()
            })
        })
        .expecting(TOLERATED),
    Scenario::new("notifications/log", "the server sends log messages")
        .at(LEGACY)
        .needing(Needs::Request)
        .script(|cue| {
            let log = |level: &str, data: Value| {
                tell("notifications/message", Some(json!({ "level": level, "data": data })))
            };
            cue.first(|| vec![log("info", json!("a")), log("emergency", json!({ "a": [null] }))])
        })
        .expecting(TOLERATED),
    Scenario::new("notifications/progress", "the server reports progress")
        .needing(Needs::Progress)
        .script(|cue| {
            let token = cue.progress_token().filter(|_| cue.nth == 1)?;
            let progress = |progress: f64| {
                let params = json!({ "progressToken": token, "progress": progress, "total": 2 });
                tell("notifications/progress", Some(params))
            };
            let mut acts = vec![progress(0.5), progress(2.0)];
            acts.extend(cue.plain());
            Some(acts)
        })
        .expecting(TOLERATED),
];

fn tell(method: &str, params: Option<Value>) -> Act {
    let mut message = json!({ "jsonrpc": "2.0", "method": method });
    if let Some(params) = params {
        message["params"] = params;
    }
    Act::Tell(message)
}
