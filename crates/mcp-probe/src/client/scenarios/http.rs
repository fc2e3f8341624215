//! Scenarios that are specific to HTTP.

use mcp_core::{Revision, Revisions};
use mcp_rules::client_behaviour as rules;

use super::SESSIONS;
use crate::{
    WireKind,
    client::{
        act::Act,
        judge::Verdicts,
        overview::NormalBehaviour,
        scenario::{Expect, Manner, Needs, Scenario},
        scenario_run::ScenarioRun,
    },
};

const HTTP: &[WireKind] = &[WireKind::Http];
const PLAIN: Manner = Manner::PLAIN;

pub(super) static SCENARIOS: &[Scenario] = &[
    Scenario::new("http/json", "the server answers with JSON")
        .over(HTTP)
        .in_manner(Manner { streams: false, ..PLAIN })
        .expecting(Expect::Same(&rules::JSON_ANSWER_NOT_UNDERSTOOD)),
    Scenario::new("http/ornate-events", "event streams use every feature of the format")
        .over(HTTP)
        .in_manner(Manner { is_ornate: true, ..PLAIN })
        .expecting(Expect::Same(&rules::EVENT_STREAM_NOT_UNDERSTOOD)),
    Scenario::new("http/priming", "event streams begin with an id and empty data")
        .at(Revisions::only(Revision::V2025_11_25))
        .over(HTTP)
        .in_manner(Manner { primes: true, ..PLAIN })
        .expecting(Expect::Same(&rules::EVENT_STREAM_NOT_UNDERSTOOD)),
    Scenario::new("http/json-charset", "the content type of JSON has a parameter")
        .over(HTTP)
        .in_manner(Manner { has_charset: true, streams: false, ..PLAIN })
        .unless_failed("http/json")
        .expecting(Expect::Same(&rules::CONTENT_TYPE_PARAMETER_NOT_UNDERSTOOD)),
    Scenario::new("http/events-charset", "the content type of event streams has a parameter")
        .over(HTTP)
        .in_manner(Manner { has_charset: true, ..PLAIN })
        .expecting(Expect::Same(&rules::CONTENT_TYPE_PARAMETER_NOT_UNDERSTOOD)),
    Scenario::new("http/no-session", "the server assigns no session")
        .at(SESSIONS)
        .over(HTTP)
        .in_manner(Manner { has_sessions: false, ..PLAIN })
        .expecting(Expect::Same(&rules::MISSING_SESSION_NOT_TOLERATED)),
    Scenario::new("http/no-get", "the server offers no GET stream, and answers 405")
        .at(SESSIONS)
        .over(HTTP)
        .needing(Needs::Get)
        .in_manner(Manner { has_get: false, ..PLAIN })
        .expecting(Expect::Same(&rules::GET_REFUSAL_NOT_TOLERATED)),
    Scenario::new("http/session-ended", "the session has ended, and the server answers 404")
        .at(SESSIONS)
        .over(HTTP)
        .needing(Needs::Session)
        .script(|cue| (cue.is_first() && !cue.id.is_null()).then(|| vec![Act::Status(404)]))
        .judged_by(judge_restart),
    Scenario::new("http/resumption", "a stream ends before the answer")
        .at(Revisions::only(Revision::V2025_11_25))
        .over(HTTP)
        .unless_failed("http/priming")
        .needing(Needs::Request)
        .script(|cue| {
            if !cue.is_first() || cue.id.is_null() {
                return None;
            }
            match cue.plain().pop() {
                Some(Act::Tell(answer)) => Some(vec![Act::Owe(answer)]),
                _ => None,
            }
        })
        .judged_by(judge_resumption),
    Scenario::new("http/body-not-json", "the body of an answer is not JSON")
        .over(HTTP)
        .in_manner(Manner { streams: false, ..PLAIN })
        .unless_failed("http/json")
        .needing(Needs::Request)
        .script(|cue| {
            let text = "<html>Bad gateway".to_owned();
            (cue.is_first() && !cue.id.is_null()).then(|| vec![Act::Text(text)])
        })
        .expecting(Expect::Survive),
    Scenario::new("http/server-error", "the server fails with 500")
        .over(HTTP)
        .needing(Needs::Request)
        .script(|cue| (cue.is_first() && !cue.id.is_null()).then(|| vec![Act::Status(500)]))
        .expecting(Expect::Survive),
];

fn judge_restart(run: &ScenarioRun, _: &NormalBehaviour, verdicts: &mut Verdicts<'_>) {
    // A client that exits with an error does not continue, so it needs no new session.
    if run.exit.is_some_and(|exit| !exit.is_success()) {
        return;
    }
    for play in &run.plays {
        let state = play.state();
        let Some(twist) = state.twist else { continue };
        let restarts = state
            .heard
            .iter()
            .any(|message| message.line > twist && message.method() == Some("initialize"));
        if !restarts {
            let message = "the session has ended, but the client did not start a new one";
            let help = "send `initialize` without a session id, and continue";
            verdicts.fail(&rules::SESSION_NOT_RESTARTED, play, twist, message, help);
        }
    }
}

fn judge_resumption(run: &ScenarioRun, _: &NormalBehaviour, verdicts: &mut Verdicts<'_>) {
    for play in &run.plays {
        let state = play.state();
        let Some(twist) = state.twist.filter(|_| !state.http.resumed) else { continue };
        let message = "the stream ended before the answer, but the client did not resume it";
        let help = "send a GET with `Last-Event-ID` until the answer has come";
        verdicts.fail(&rules::STREAM_NOT_RESUMED, play, twist, message, help);
    }
}
