//! Probes with arguments that break one constraint of the schema.

use std::sync::Arc;

use mcp_rules::{RuleMeta, behaviour};

use super::{
    Subject,
    calls::{CallOutcome, Calls, outcome, short_complaint},
};
use crate::{Reply, Stage, StepsFuture, values::Broken};

/// The rule that judges the same in recordings, call by call.
fn accepted_rule() -> Option<&'static RuleMeta> {
    mcp_rules::rule("tool-arguments-invalid-accepted")
}

pub(super) fn steps(stage: &mut Stage, subject: Arc<Subject>) -> StepsFuture<'_> {
    Box::pin(async move {
        let mut calls = Calls::of(&subject, stage).await?;
        let plan = Arc::clone(&calls.plan);
        let (mut accepted, mut internal, mut made) = (Vec::new(), Vec::new(), 0);
        for broken in &plan.broken {
            let what = described(broken);
            let Some(reply) = calls.call(stage, Some(&broken.value), &what).await? else {
                if let Some(base) = &plan.base
                    && let Some(line) = calls.never_answered(stage, &broken.value, base).await?
                {
                    let name = subject.name();
                    let message = format!(
                        "`{name}` answers valid arguments at once, but never these: {what}"
                    );
                    let help = "answer with `isError`, or with the error -32602";
                    let rule = &behaviour::REQUEST_UNANSWERED;
                    stage.fail(rule, &calls.talk, line, message, help);
                }
                break;
            };
            made += 1;
            match outcome(&reply) {
                CallOutcome::Done => accepted.push((broken, reply)),
                CallOutcome::Refused(-32603) => internal.push((broken, reply)),
                _ => {}
            }
        }
        // One report for all: a server that does not check one constraint rarely checks others.
        if let Some(rule) = accepted_rule() {
            stage.speak_for(rule);
            if let Some((broken, reply)) = smallest(&accepted) {
                let message = format!(
                    "`{}` accepts arguments that break its schema: {} ({} of {made} such calls succeeded)",
                    subject.name(),
                    described(broken),
                    accepted.len()
                );
                let help =
                    "check arguments against `inputSchema`, and answer with `isError` or -32602";
                stage.fail(rule, &calls.talk, reply.line(), message, help);
            }
        }
        // What fails for valid arguments too says nothing about these.
        if let Some((broken, reply)) = smallest(&internal)
            && calls.is_served(stage).await?
        {
            let message = format!(
                "`{}` answers invalid arguments ({}) with an internal error: {}",
                subject.name(),
                described(broken),
                short_complaint(reply)
            );
            let help = "answer with `isError`, or with the error -32602";
            let rule = &behaviour::INVALID_ARGUMENTS_CODE;
            stage.fail(rule, &calls.talk, reply.line(), message, help);
        }
        Ok(())
    })
}

/// The smallest example.
fn smallest<'b>(calls: &'b [(&'b Broken, Reply)]) -> Option<&'b (&'b Broken, Reply)> {
    calls.iter().min_by_key(|(broken, _)| broken.value.to_string().len())
}

/// Describes what is wrong with arguments.
fn described(broken: &Broken) -> String {
    let (pointer, keyword) = (&broken.pointer, broken.keyword);
    match &broken.after {
        None => format!("`{pointer}` is missing"),
        Some(_) if broken.before.is_none() => format!("`{pointer}` breaks `{keyword}`"),
        Some(after) => {
            let after = after.to_string();
            format!("`{pointer}` is {}, which breaks `{keyword}`", mcp_core::excerpt(&after, 60))
        }
    }
}
