//! Probes with valid arguments.

use std::sync::Arc;

use mcp_rules::behaviour;
use serde_json::json;

use super::{
    Subject,
    calls::{self, CallOutcome, Calls, complaint, outcome, short_complaint},
};
use crate::{Reply, Stage, StepsFuture, Stop, values::Reason};

/// The name of a tool that no server has.
const NO_TOOL: &str = "plumb-no-such-tool";

pub(super) fn steps(stage: &mut Stage, subject: Arc<Subject>) -> StepsFuture<'_> {
    Box::pin(async move {
        let mut calls = Calls::of(&subject, stage).await?;
        let plan = Arc::clone(&calls.plan);
        for (index, valid) in plan.valid.iter().enumerate() {
            let Some(reply) = calls.call(stage, Some(&valid.value), "valid arguments").await?
            else {
                break;
            };
            let outcome = outcome(&reply);
            if matches!(outcome, CallOutcome::Done | CallOutcome::Unfinished) {
                continue;
            }
            if outcome == CallOutcome::Refused(-32601)
                || (index == 0 && is_unknown(stage, &calls, &subject, &reply).await?)
            {
                let error = short_complaint(&reply);
                let message =
                    format!("`{}` is listed, but cannot be called: {error}", subject.name());
                let help = "support what you list, or do not list it";
                let rule = &behaviour::LISTED_TOOL_UNKNOWN;
                stage.fail(rule, &calls.talk, reply.line(), message, help);
                break;
            }
            // Another probe leaves out optional members.
            let is_whole = plan.without.is_empty()
                || matches!(valid.reason, Reason::Given | Reason::Full | Reason::Edge(_));
            if outcome == CallOutcome::Refused(-32602) && is_whole && plan.leaves_no_doubt(valid) {
                let (name, error) = (subject.name(), short_complaint(&reply));
                let message = format!(
                    "`{name}` refused arguments that match its schema, {}: {error}",
                    mcp_core::excerpt(&valid.value.to_string(), 200)
                );
                let help = "add the constraint to the schema, or answer with `isError`";
                let rule = &behaviour::VALID_ARGUMENTS_REFUSED;
                stage.fail(rule, &calls.talk, reply.line(), message, help);
                break;
            }
        }
        Ok(())
    })
}

/// Whether the server answers for a listed tool as for one that does not exist.
async fn is_unknown(
    stage: &mut Stage,
    calls: &Calls<'_>,
    subject: &Subject,
    reply: &Reply,
) -> Result<bool, Stop> {
    let said = complaint(reply);
    if !is_about_tools(&said, subject.name()) {
        return Ok(false);
    }
    stage.spend_call()?;
    let params = calls::params(NO_TOOL, Some(&json!({})));
    let other = calls.talk.request("tools/call", params).await?;
    let is_same_kind = other.is_error() == reply.is_error() && outcome(&other) != CallOutcome::Done;
    Ok(is_same_kind && complaint(&other) == said.replace(subject.name(), NO_TOOL))
}

/// Whether an error text says that the tool does not exist, rather than that something else is
/// missing.
fn is_about_tools(complaint: &str, name: &str) -> bool {
    let said = complaint.to_lowercase();
    let is_missing = ["unknown", "not found", "no such", "no tool", "not exist", "invalid"];
    (complaint.contains(name) || said.contains("tool"))
        && is_missing.iter().any(|words| said.contains(words))
}

#[cfg(test)]
mod tests {
    use super::is_about_tools;

    #[test]
    fn only_what_is_said_about_tools_makes_them_unknown() {
        for complaint in ["there is no such tool", "Unknown tool: echo", "echo not found"] {
            assert!(is_about_tools(complaint, "echo"), "{complaint}");
        }
        for complaint in [
            "Error: Chromium distribution 'chrome' is not found, run an installer",
            "echo failed: the database cannot be reached",
            "out of order",
        ] {
            assert!(!is_about_tools(complaint, "echo"), "{complaint}");
        }
    }
}
