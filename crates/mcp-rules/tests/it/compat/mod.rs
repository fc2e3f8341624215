//! What users of other validators try first, case by case. One module per validator; each case goes
//! through the function-by-function validator and, if it is a whole message, through the engine as
//! `plumb check --profile` runs it.

mod base_stack;
mod erlmcp;
mod logging;
mod middleware;
mod settings;

use mcp_core::Revision;
use mcp_rules::{Finding, Profile, RecordingInfo, Settings, Severity, ValidationError, Validator};

use crate::observe::observe;

const REVISION: Revision = Revision::V2025_11_25;

/// What `plumb check` finds in a file with this one message.
fn found(message: &str, profile: Profile, revision: Revision) -> Vec<Finding> {
    let mut settings = Settings::default();
    settings.profile = profile;
    let mut info = RecordingInfo::default();
    info.revision = Some(revision);
    observe(message.as_bytes(), settings, info)
}

/// The rules behind findings of severity error.
fn errors(message: &str, profile: Profile) -> Vec<&'static str> {
    let mut findings = found(message, profile, REVISION);
    findings.retain(|finding| finding.severity == Severity::Error);
    findings.iter().map(|finding| finding.rule.name).collect()
}

/// Asserts that both accept a whole message.
#[track_caller]
fn passes(message: &str, profile: Profile) {
    let validator = Validator::with_profile(REVISION, profile);
    validator.validate_jsonrpc(message.as_bytes()).expect(message);
    assert_eq!(errors(message, profile), [""; 0], "{message}");
}

/// Asserts that both reject a whole message.
#[track_caller]
fn fails(message: &str, profile: Profile, reason: &str) {
    let validator = Validator::with_profile(REVISION, profile);
    refused(validator.validate_jsonrpc(message.as_bytes()), reason);
    assert_ne!(errors(message, profile), [""; 0], "{message}");
}

#[track_caller]
fn refused(answer: Result<(), ValidationError>, reason: &str) -> ValidationError {
    let error = answer.expect_err(reason);
    assert_eq!(error.reason.as_str(), reason, "{error}");
    error
}
