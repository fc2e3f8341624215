//! Rules about HTTP whose severity depends on the case, and what they point at.

use std::{fs, path::Path};

use mcp_core::Side;
use mcp_rules::{Finding, RecordingInfo, Severity};

use crate::{observe::observe, traces::settings_for};

fn finding(rule: &str, trace: &str) -> Finding {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../traces/http");
    let path = root.join(rule).join(trace).with_extension("jsonl");
    let text = fs::read(&path).expect("a readable trace");
    let mut found = observe(&text, settings_for(&path), RecordingInfo::default());
    found.retain(|finding| finding.rule.name == rule);
    found.pop().expect("the rule fires")
}

#[test]
fn some_cases_are_worse_than_others() {
    for (rule, trace, severity) in [
        ("http-accept-missing", "bad", Severity::Error),
        ("http-accept-missing", "bad-wildcard", Severity::Warning),
        ("http-get-accept-missing", "bad", Severity::Error),
        ("http-get-accept-missing", "bad-wildcard", Severity::Warning),
        ("protocol-version-header-mismatch", "bad", Severity::Warning),
        ("protocol-version-header-mismatch", "bad-2026-07-28", Severity::Error),
        ("session-id-on-initialize", "bad", Severity::Warning),
        ("session-id-on-initialize", "bad-after-404", Severity::Error),
    ] {
        assert_eq!(finding(rule, trace).severity, severity, "{rule}/{trace}");
    }
}

#[test]
fn a_fault_that_shows_late_is_laid_to_whoever_made_it() {
    let accept = finding("http-accept-missing", "bad-initialize");
    assert_eq!((accept.line, accept.at_fault), (Some(1), Some(Side::Client)));
    let minted = finding("session-id-minted", "bad-stream");
    assert_eq!((minted.line, minted.at_fault), (Some(2), Some(Side::Server)));
}

#[test]
fn messages_name_what_was_said() {
    for (rule, trace, message) in [
        (
            "mcp-name-header-mismatch",
            "bad-base64",
            "`Mcp-Name` is `Gruss`, but `params.name` is `Grüße`",
        ),
        (
            "mcp-param-header-mismatch",
            "bad-integer",
            "`Mcp-Param-Limit` is `0x2a`, but the argument `limit` is `42`",
        ),
        (
            "http-retry-ignored",
            "bad",
            "the client reconnects after 1000 ms, but the server asked for 5000 ms",
        ),
        (
            "http-notification-status",
            "bad",
            "`notifications/roots/list_changed` is accepted with status 200 instead of 202",
        ),
        (
            "http-notification-status",
            "bad-response",
            "a response is accepted with status 204 instead of 202",
        ),
        (
            "http-notification-status",
            "bad-batch",
            "a batch without requests is accepted with status 200 instead of 202",
        ),
        (
            "legacy-sse-wrong-endpoint",
            "bad",
            "the message is posted to `/messages`, but the server gave `/messages?session=4d1c`",
        ),
    ] {
        assert_eq!(finding(rule, trace).message, message, "{rule}/{trace}");
    }
}

#[test]
fn faults_of_sessions_show_where_the_session_was_assigned() {
    let other = finding("session-id-missing", "bad").related.map(|other| other.line);
    assert_eq!(other, Some(2));
}
