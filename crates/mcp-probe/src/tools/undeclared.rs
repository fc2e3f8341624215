//! Calls by a client without capabilities: the rules report every request that the server must not
//! send to it.

use std::sync::Arc;

use mcp_core::Revisions;
use serde_json::json;

use super::{Subject, calls::params, made, shown_call};
use crate::{ConversationError, Opening, Probe, Stage, Stop, discover::all_pages};

/// Maximum number of tools to call.
const TOOLS: usize = 50;

pub(super) fn probe(subjects: Vec<Arc<Subject>>) -> Option<Probe> {
    let first = Arc::clone(subjects.first()?);
    let all = subjects.iter().map(|subject| subject.listed().revisions());
    let all = all.flat_map(Revisions::iter).fold(Revisions::NONE, Revisions::and);
    let about = "a client without capabilities gets no requests";
    let plans =
        subjects.iter().filter_map(|subject| Some((subject.name(), subject.newest_plan()?)));
    let preview = plans.filter_map(|(name, plan)| Some(shown_call(name, plan.base.as_ref()?)));
    let preview = preview.take(TOOLS).collect();
    let name = "tools-without-capabilities";
    let probe = made(first.listed(), name, about, preview, move |stage| {
        let subjects = subjects.clone();
        Box::pin(async move { steps(stage, &subjects).await })
    });
    Some(Probe { revisions: all, ..probe })
}

async fn steps(stage: &mut Stage, subjects: &[Arc<Subject>]) -> Result<(), Stop> {
    let revision = stage.revision();
    let opening = Opening { capabilities: json!({}), ..Opening::at(revision) };
    let talk = stage.fresh_as(&opening).await?;
    all_pages(&talk, "tools/list", "tools").await?;
    for subject in subjects.iter().filter(|subject| !subject.is_slow(revision)).take(TOOLS) {
        let plan = subject.plan(revision).filter(|plan| !plan.is_task);
        let Some(base) = plan.as_ref().and_then(|plan| plan.base.as_ref()) else { continue };
        stage.spend_call()?;
        match talk.request("tools/call", params(subject.name(), Some(base))).await {
            Ok(_) => {}
            // A timeout is no failure here.
            Err(ConversationError::Unanswered { .. }) => {
                talk.disregard();
                break;
            }
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}
