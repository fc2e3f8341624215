//! Scenarios of opening a conversation, and the plain scenario.

use mcp_core::Era;
use mcp_rules::client_behaviour as rules;
use serde_json::json;

use super::LEGACY;
use crate::{
    Kind, WireKind,
    client::{
        act::{Act, Ask, Expected},
        cue::Cue,
        judge::Verdicts,
        overview::NormalBehaviour,
        process::Exit,
        scenario::{Expect, Scenario},
        scenario_run::ScenarioRun,
    },
};

/// A plain server, which does nothing unusual.
pub(crate) static PLAIN: Scenario =
    Scenario::new("handshake/plain", "the server does nothing unusual")
        .everywhere()
        .judged_by(judge_plain);

pub(super) static SCENARIOS: &[Scenario] = &[
    Scenario::new("handshake/unknown-old", "the server answers with version 1999-01-01")
        .at(LEGACY)
        .script(|cue| with_version(cue, "1999-01-01"))
        .expecting(Expect::Survive)
        .judged_by(judge_unknown_version),
    Scenario::new("handshake/unknown-new", "the server answers with version 2999-12-31")
        .at(LEGACY)
        .script(|cue| with_version(cue, "2999-12-31"))
        .expecting(Expect::Survive)
        .judged_by(judge_unknown_version),
    Scenario::new("handshake/refused", "the server answers `initialize` with an error")
        .at(LEGACY)
        .script(|cue| {
            let refusal = || vec![Act::Tell(cue.error(-32602, "Unsupported protocol version"))];
            (cue.method == "initialize").then(refusal)
        })
        .expecting(Expect::Survive),
    Scenario::new("handshake/extra-members", "the answer to the opening has unknown members")
        .script(extra_members)
        .expecting(Expect::Same(&rules::UNKNOWN_MEMBER_NOT_IGNORED)),
    // Requests that the client sends nevertheless are judged by the rules about capabilities.
    Scenario::new("handshake/no-capabilities", "the server declares nothing").at(LEGACY).script(
        |cue| {
            let mut result = (cue.method == "initialize").then(|| cue.plain_result())?;
            result["capabilities"] = json!({});
            Some(vec![Act::Tell(cue.result(result))])
        },
    ),
    Scenario::new("handshake/ping-first", "the server pings before it answers `initialize`")
        .at(LEGACY)
        .over(&[WireKind::Stdio])
        .script(|cue| {
            let ping = || Act::Ask(Ask::new("ping", Expected::Result));
            (cue.method == "initialize").then(|| {
                let mut acts = vec![ping()];
                acts.extend(cue.plain());
                acts
            })
        }),
];

fn with_version(cue: &Cue<'_>, version: &str) -> Option<Vec<Act>> {
    let mut result = (cue.method == "initialize").then(|| cue.plain_result())?;
    result["protocolVersion"] = json!(version);
    Some(vec![Act::Tell(cue.result(result))])
}

fn extra_members(cue: &Cue<'_>) -> Option<Vec<Act>> {
    let is_answered = cue.is_opening() && (cue.method == "initialize") != cue.is_modern();
    let mut result = is_answered.then(|| cue.plain_result())?;
    if !result.is_object() {
        return None;
    }
    result["plumbExtra"] = json!({ "a": [1, null] });
    result["capabilities"]["plumbExtra"] = json!({ "a": true });
    result["capabilities"]["tools"]["plumbExtra"] = json!("a");
    Some(vec![Act::Tell(cue.result(result))])
}

fn judge_unknown_version(run: &ScenarioRun, _: &NormalBehaviour, verdicts: &mut Verdicts<'_>) {
    for play in &run.plays {
        let state = play.state();
        let Some(answered) = state.answered else { continue };
        let goes_on = state.heard.iter().find_map(|message| {
            let method = message.method().filter(|_| message.line > answered)?;
            let opens = matches!(method, "initialize" | "server/discover" | "ping");
            (!opens && method != "notifications/cancelled")
                .then(|| (message.line, method.to_owned()))
        });
        if let Some((line, method)) = goes_on {
            let message =
                format!("the client continues with `{method}` at a version that does not exist");
            let help = "disconnect unless you support the version in the server's answer";
            verdicts.fail(&rules::UNKNOWN_VERSION_TOLERATED, play, line, message, help);
        }
    }
}

fn judge_plain(run: &ScenarioRun, normal: &NormalBehaviour, verdicts: &mut Verdicts<'_>) {
    for play in &run.plays {
        let state = play.state();
        let goes_on = state.heard.iter().any(|message| {
            message.kind == Kind::Request
                && !matches!(message.method(), Some("initialize" | "server/discover" | "ping"))
        });
        let agreed = state.requested.as_deref() == Some(normal.revision.as_str());
        let last = play.recording.len() as u64;
        if normal.revision.era() == Era::Legacy && agreed && !state.is_open && !goes_on {
            let message = "`initialize` was answered with the requested version, but `initialized` never came";
            let help = "send `notifications/initialized` once `initialize` was answered";
            verdicts.fail(&rules::INITIALIZED_NEVER_SENT, play, last, message, help);
        }
        // If it was only started to find out its version, killing it does no harm.
        if state.closed.is_some_and(|closed| closed.killed) && normal.own_server && goes_on {
            let message = "the client killed the server instead of closing its input and waiting";
            let help = "close the server's input first, and wait for it to exit";
            verdicts.fail(&rules::SERVER_KILLED, play, last, message, help);
        }
        if state.http.sessions > 0
            && !state.http.is_deleted
            && run.exit.is_some_and(Exit::is_success)
        {
            let message = "the client exited without ending its session";
            let help = "send DELETE with the session id when you are done";
            verdicts.fail(&rules::SESSION_NOT_DELETED, play, last, message, help);
        }
    }
}
