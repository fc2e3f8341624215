//! Probes that leave out optional arguments.

use std::sync::Arc;

use mcp_rules::behaviour;
use serde_json::json;

use super::{
    Subject,
    calls::{CallOutcome, Calls, outcome, short_complaint},
};
use crate::{Stage, StepsFuture, Stop};

/// Maximum number of members named in a report.
const NAMED: usize = 5;

pub(super) fn steps(stage: &mut Stage, subject: Arc<Subject>) -> StepsFuture<'_> {
    Box::pin(async move {
        let mut calls = Calls::of(&subject, stage).await?;
        let plan = Arc::clone(&calls.plan);
        let Some(base) = &plan.base else { return Ok(()) };
        let what = "all arguments";
        let first = calls.call(stage, Some(base), what).await?;
        if first.is_none_or(|reply| outcome(&reply) != CallOutcome::Done) {
            let reason = "a call with all arguments does not succeed either".to_owned();
            return Err(Stop::Skip(reason));
        }
        let mut refused = Vec::new();
        for (pointer, arguments) in &plan.without {
            let what = "an optional argument left out";
            let Some(reply) = calls.call(stage, Some(arguments), what).await? else { break };
            if matches!(outcome(&reply), CallOutcome::Failed | CallOutcome::Refused(_)) {
                refused.push((pointer, reply));
            }
        }
        let Some((pointer, _)) = refused.first() else { return Ok(()) };
        let Some((_, arguments)) = plan.without.iter().find(|(other, _)| other == *pointer) else {
            return Ok(());
        };
        if !calls.differ(stage, Some(arguments), base).await? {
            return Ok(());
        }
        let Some((_, reply)) = refused.first() else { return Ok(()) };
        let names: Vec<&str> = refused.iter().take(NAMED).map(|(name, _)| name.as_str()).collect();
        let message = format!(
            "`{}` fails without {}, which is optional: {}",
            subject.name(),
            names.join(", "),
            short_complaint(reply)
        );
        let help = "name it in `required`, or use a default";
        let rule = &behaviour::OPTIONAL_ARGUMENT_REQUIRED;
        stage.fail(rule, &calls.talk, reply.line(), message, help);
        Ok(())
    })
}

/// Calls a tool that needs no arguments without `arguments`.
pub(super) fn no_arguments(stage: &mut Stage, subject: Arc<Subject>) -> StepsFuture<'_> {
    Box::pin(async move {
        let mut calls = Calls::of(&subject, stage).await?;
        let what = "no arguments";
        let Some(without) = calls.call(stage, None, what).await? else { return Ok(()) };
        if !matches!(outcome(&without), CallOutcome::Failed | CallOutcome::Refused(_)) {
            return Ok(());
        }
        if calls.differ(stage, None, &json!({})).await? {
            let error = short_complaint(&without);
            let message = format!(
                "`{}` can be called with `\"arguments\":{{}}`, but not without: {error}",
                subject.name()
            );
            let help = "`arguments` is optional: read its absence as `{}`";
            let rule = &behaviour::ABSENT_ARGUMENTS_REFUSED;
            stage.fail(rule, &calls.talk, without.line(), message, help);
        }
        Ok(())
    })
}
