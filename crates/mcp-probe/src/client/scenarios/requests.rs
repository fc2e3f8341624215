//! Scenarios of requests from the server.

use mcp_core::{Revision, Revisions};
use serde_json::json;

use super::LEGACY;
use crate::client::{
    act::{Ask, Expected},
    scenario::{Needs, Scenario},
};

const ELICITATION: Revisions = Revisions::between(Revision::V2025_06_18, Revision::V2025_11_25);

pub(super) static SCENARIOS: &[Scenario] = &[
    Scenario::new("requests/ping", "the server sends a ping")
        .at(LEGACY)
        .everywhere()
        .needing(Needs::Chance)
        .script(|cue| cue.first_ask([Ask::new("ping", Expected::Result)])),
    Scenario::new("requests/ids", "the server uses ids of every kind")
        .at(LEGACY)
        .needing(Needs::Chance)
        .script(|cue| {
            let ids = [
                json!(0),
                json!(-7),
                json!(9_007_199_254_740_991_u64),
                json!(""),
                json!("ü\"\\ 1"),
            ];
            cue.first_ask(ids.map(|id| Ask::new("ping", Expected::Result).id(id)))
        }),
    Scenario::new("requests/unknown-method", "the server sends a request with an unknown method")
        .at(LEGACY)
        .needing(Needs::Chance)
        .script(|cue| {
            let ask = Ask::new("plumb/no-such-method", Expected::NotFound);
            cue.first_ask([ask.with(json!({ "a": 1 }))])
        }),
    Scenario::new(
        "requests/undeclared-roots",
        "the server requests roots, which were not declared",
    )
    .at(LEGACY)
    .needing(Needs::Without("/roots"))
    .script(|cue| cue.first_ask([Ask::new("roots/list", Expected::Error)])),
    Scenario::new("requests/declared-roots", "the server requests roots, which were declared")
        .at(LEGACY)
        .needing(Needs::With("/roots"))
        .script(|cue| cue.first_ask([Ask::new("roots/list", Expected::Result)])),
    Scenario::new(
        "requests/undeclared-sampling",
        "the server requests sampling, which was not declared",
    )
    .at(LEGACY)
    .needing(Needs::Without("/sampling"))
    .script(|cue| {
        let text = json!({ "type": "text", "text": "Say yes." });
        cue.first_ask([Ask::new("sampling/createMessage", Expected::Error).with(json!({
            "messages": [{ "role": "user", "content": text }],
            "maxTokens": 10,
        }))])
    }),
    Scenario::new(
        "requests/undeclared-elicitation",
        "the server requests elicitation, which was not declared",
    )
    .at(ELICITATION)
    .needing(Needs::Without("/elicitation"))
    .script(|cue| {
        cue.first_ask([Ask::new("elicitation/create", Expected::Error).with(json!({
            "message": "Yes?",
            "requestedSchema": {
                "type": "object",
                "properties": { "yes": { "type": "boolean" } },
            },
        }))])
    }),
];
