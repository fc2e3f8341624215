//! Scenarios for revisions without a handshake.

use mcp_rules::client_behaviour as rules;
use serde_json::json;

use super::MODERN;
use crate::client::{
    act::Act,
    cue::Cue,
    judge::Verdicts,
    overview::NormalBehaviour,
    scenario::{Expect, Needs, Scenario},
    scenario_run::ScenarioRun,
};

pub(super) static SCENARIOS: &[Scenario] = &[
    // The rule `unsupported-version-retried` judges whether the refused version is tried again.
    Scenario::new("stateless/version-refused", "the server refuses the version of a request")
        .at(MODERN)
        .script(|cue| {
            let supported = json!(["2999-12-31"]);
            let mut error = cue.error(-32022, "Unsupported protocol version");
            error["error"]["data"] =
                json!({ "supported": supported, "requested": cue.revision.as_str() });
            (!cue.id.is_null() && cue.method != "initialize").then(|| vec![Act::Tell(error)])
        })
        .expecting(Expect::Survive),
    Scenario::new("stateless/capability-missing", "the server requires a client capability")
        .at(MODERN)
        .needing(Needs::Request)
        .script(|cue| {
            let required =
                if cue.capabilities.get("sampling").is_none() { "sampling" } else { "roots" };
            let mut error = cue.error(-32021, "A capability is missing");
            error["error"]["data"] = json!({ "requiredCapabilities": { required: {} } });
            (cue.is_first() && !cue.id.is_null()).then(|| vec![Act::Tell(error)])
        })
        .expecting(Expect::Survive),
    Scenario::new("stateless/input-required", "a tool requests user input before it answers")
        .at(MODERN)
        .needing(Needs::ToolAnd("/elicitation"))
        .script(ask_user)
        .judged_by(judge_inputs),
];

fn ask_user(cue: &Cue<'_>) -> Option<Vec<Act>> {
    if cue.method != "tools/call" || cue.params.get("inputResponses").is_some() {
        return None;
    }
    let question = json!({
        "method": "elicitation/create",
        "params": {
            "mode": "form",
            "message": "Yes?",
            "requestedSchema": {
                "type": "object",
                "properties": { "yes": { "type": "boolean" } },
            },
        },
    });
    let result = json!({
        "resultType": "input_required",
        "inputRequests": { "consent": question },
        "requestState": "plumb:1",
        "_meta": { "io.modelcontextprotocol/serverInfo": { "name": "plumb", "version": "1.0.0" } },
    });
    Some(vec![Act::Tell(cue.result(result))])
}

fn judge_inputs(run: &ScenarioRun, _: &NormalBehaviour, verdicts: &mut Verdicts<'_>) {
    // A client that exited with an error need not continue.
    if run.exit.is_some_and(|exit| !exit.is_success()) {
        return;
    }
    for play in &run.plays {
        let state = play.state();
        let Some(twist) = state.twist else { continue };
        let answers = state
            .heard
            .iter()
            .any(|message| message.value.pointer("/params/inputResponses").is_some());
        if !answers {
            let message =
                "a tool requested user input, but the call was never repeated with a response";
            let help = "repeat the call with `inputResponses` and the `requestState`";
            verdicts.fail(&rules::INPUT_REQUEST_IGNORED, play, twist, message, help);
        }
    }
}
