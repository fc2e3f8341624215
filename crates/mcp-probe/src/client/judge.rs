//! Judges a client by what it did in a run.

use std::{collections::BTreeSet, fmt::Write as _, sync::Arc};

use mcp_core::{Revision, Side};
use mcp_rules::{Engine, Finding, RuleMeta, client_behaviour as rules};

use super::{
    act::Expected,
    overview::{NormalBehaviour, requests},
    play::{Asked, Play},
    process::Exit,
    scenario::{Expect, Scenario},
    scenario_run::ScenarioRun,
};
use crate::{Failure, Kind};

/// Collects failures.
#[derive(Debug)]
pub(crate) struct Verdicts<'a> {
    engine: &'a Engine,
    revision: Revision,
    stderr: &'a str,
    pub(crate) failures: Vec<Failure>,
}

impl Verdicts<'_> {
    /// Reports that the client broke `rule`, on a line of a conversation. `message` says what it
    /// did, `help` what it should do.
    pub(crate) fn fail(
        &mut self,
        rule: &'static RuleMeta,
        play: &Play,
        line: u64,
        message: impl Into<String>,
        help: &str,
    ) {
        let level = self.engine.settings().level(rule);
        let Some(severity) = level.severity(self.revision) else { return };
        if !rule.applies.contains(self.revision) {
            return;
        }
        let mut finding = Finding::new(rule, severity, message);
        finding.revision = Some(self.revision);
        finding.from = Some(Side::Client);
        finding.at_fault = Some(Side::Client);
        finding.line = (line > 0).then_some(line);
        finding.help = (!help.is_empty()).then(|| help.to_owned());
        let stderr = is_about_the_process(rule)
            .then(|| self.stderr.to_owned())
            .filter(|text| !text.trim().is_empty());
        self.failures.push(Failure { finding, recording: Arc::clone(&play.recording), stderr });
    }

    /// Whether a failure is based on a comparison with other runs.
    pub(crate) fn is_comparison(failure: &Failure, scenario: &Scenario) -> bool {
        let rule = failure.finding.rule.name;
        rule == rules::CLIENT_HANGS.name
            || matches!(scenario.expect, Expect::Same(same) if same.name == rule)
    }
}

/// The failures of a client in a scenario, compared with its `normal` behaviour.
pub(crate) fn judge(
    engine: &Engine,
    scenario: &Scenario,
    run: &ScenarioRun,
    normal: &NormalBehaviour,
) -> Vec<Failure> {
    let (revision, stderr) = (normal.revision, run.stderr.as_str());
    let mut verdicts = Verdicts { engine, revision, stderr, failures: Vec::new() };
    judge_end(scenario, run, normal, &mut verdicts);
    let has_died = |failure: &Failure| failure.finding.rule.name == rules::CLIENT_DIED.name;
    if !verdicts.failures.iter().any(has_died) {
        for play in &run.plays {
            judge_answers(play, &mut verdicts);
        }
        (scenario.judge)(run, normal, &mut verdicts);
    }
    let found = found_by_rules(scenario, run);
    once(verdicts.failures, found)
}

/// The findings of the rules in the conversations, without repetitions.
fn found_by_rules(scenario: &Scenario, run: &ScenarioRun) -> Vec<Failure> {
    let mut seen = BTreeSet::new();
    let mut failures = Vec::new();
    for play in &run.plays {
        for finding in play.recording.take_findings() {
            let is_new = seen.insert((finding.rule.name, finding.message.clone()));
            if is_new && !scenario.pardons.contains(&finding.rule.name) {
                let recording = Arc::clone(&play.recording);
                failures.push(Failure { finding, recording, stderr: None });
            }
        }
    }
    failures
}

/// Merges both lists, dropping failures that the other list reports more precisely.
fn once(verdicts: Vec<Failure>, found: Vec<Failure>) -> Vec<Failure> {
    let name = |failure: &Failure| failure.finding.rule.name;
    let has = |failures: &[Failure], names: &[&str]| {
        failures.iter().any(|failure| names.contains(&name(failure)))
    };
    let misanswers = has(&found, &["response-unknown-id", "response-id-type-mismatch"]);
    let reuses = has(&found, &["session-reused-after-404"]);
    let mut all: Vec<Failure> = verdicts
        .into_iter()
        .filter(|failure| match name(failure) {
            "ping-unanswered" | "server-request-unanswered" => !misanswers,
            "session-not-restarted" => !reuses,
            _ => true,
        })
        .collect();
    let unanswered =
        has(&all, &["ping-unanswered", "server-request-unanswered", "client-died"]) || misanswers;
    all.extend(
        found.into_iter().filter(|failure| name(failure) != "request-unanswered" || !unanswered),
    );
    all
}

fn judge_end(
    scenario: &Scenario,
    run: &ScenarioRun,
    normal: &NormalBehaviour,
    verdicts: &mut Verdicts<'_>,
) {
    let Some(play) = run.main() else { return };
    let line = play.state().twist.unwrap_or(play.recording.len() as u64);
    let last = play.recording.len() as u64;
    if let Some(exit) = run.exit.filter(|exit| is_crash(*exit, &run.stderr)) {
        let message = format!("the client crashed: {}", exit.text());
        let help = "report unreadable messages as errors of the server, and continue";
        return verdicts.fail(&rules::CLIENT_DIED, play, last, message, help);
    }
    if scenario.is_scripted && !run.is_twisted() {
        return;
    }
    let asked_too_long =
        run.plays.iter().any(|play| play.state().asked.iter().any(|asked| asked.waited));
    let hangs = normal.exits && run.exit.is_none();
    let rule = match scenario.expect {
        Expect::Same(rule) => rule,
        Expect::Survive if hangs => {
            let message = format!(
                "{}, and the client neither continued nor exited within {:?}, as it normally does",
                scenario.about, run.waited,
            );
            let help = "continue, or exit with an error message";
            return verdicts.fail(&rules::CLIENT_HANGS, play, line, message, help);
        }
        Expect::Survive | Expect::Anything => return,
    };
    let missing: Vec<String> = normal.requests.difference(&requests(run)).cloned().collect();
    let was_success = normal.exit.is_none_or(Exit::is_success);
    let fails = was_success && run.exit.is_some_and(|exit| !exit.is_success());
    if asked_too_long || (missing.is_empty() && !fails && !hangs) {
        return;
    }
    let mut message = format!("{}, but the client did not continue", scenario.about);
    if !missing.is_empty() {
        let _ = write!(message, " to `{}`", missing.join("`, `"));
    }
    let _ = match run.exit.filter(|_| fails) {
        Some(exit) => write!(message, ": {}", exit.text()),
        None if hangs => write!(message, ", and did not exit within {:?}", run.waited),
        None => Ok(()),
    };
    verdicts.fail(rule, play, line, message, "continue as usual");
}

fn judge_answers(play: &Play, verdicts: &mut Verdicts<'_>) {
    let asked: Vec<Asked> = play.state().asked.clone();
    for asked in asked {
        let method = asked.ask.method;
        let Some(answer) = &asked.answer else {
            if asked.waited {
                let message =
                    format!("`{method}` was not answered within {:?}", play.limits.answer);
                let help = "answer every request, with an error if need be";
                verdicts.fail(asked.ask.unanswered(), play, asked.line, message, help);
            }
            continue;
        };
        let code = answer.value.pointer("/error/code").and_then(serde_json::Value::as_i64);
        match asked.ask.expect {
            Expected::NotFound if answer.kind == Kind::Result => {
                let message =
                    format!("`{method}`, which does not exist, was answered with a result");
                let help = "answer with the error -32601";
                verdicts.fail(&rules::UNKNOWN_REQUEST_ACCEPTED, play, answer.line, message, help);
            }
            Expected::NotFound if code != Some(-32601) => {
                let code = code.map_or_else(|| "no code".to_owned(), |code| code.to_string());
                let message = format!("`{method}`, which does not exist, was refused with {code}");
                let help = "answer with the error -32601";
                verdicts.fail(&rules::UNKNOWN_REQUEST_CODE, play, answer.line, message, help);
            }
            _ => {}
        }
    }
}

/// Whether the exit is a crash: a signal, a panic or an abort.
fn is_crash(exit: Exit, stderr: &str) -> bool {
    let says = |text| stderr.contains(text);
    match exit.code {
        None => exit.signal.is_some(),
        Some(101) => says("panicked at"),
        Some(2) => says("panic: ") && says("goroutine "),
        // The codes by which shells report that a child was ended by a signal.
        Some(134 | 139) => true,
        Some(_) => false,
    }
}

fn is_about_the_process(rule: &RuleMeta) -> bool {
    !matches!(rule.name, "next-page-not-fetched" | "session-not-deleted")
}
