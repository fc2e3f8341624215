//! Calls by a client that offers nothing: whatever the server asks it for, the rules know that it
//! must not.

use std::sync::Arc;

use mcp_core::Revisions;
use serde_json::json;

use super::{Subject, calls::params, made};
use crate::{Opening, Probe, Trouble, discover::all_pages};

/// How many tools are called.
const TOOLS: usize = 50;

pub(super) fn probe(subjects: Vec<Arc<Subject>>) -> Option<Probe> {
    let first = Arc::clone(subjects.first()?);
    let all = subjects.iter().map(|subject| subject.listed().revisions());
    let all = all.flat_map(Revisions::iter).fold(Revisions::NONE, Revisions::and);
    let about = "a client that offers nothing is asked for nothing";
    let probe =
        made(first.listed(), "tools-without-capabilities", about, Vec::new(), move |stage| {
            let subjects = subjects.clone();
            Box::pin(async move {
                let capabilities = json!({});
                let opening = Opening { capabilities, ..Opening::at(stage.revision()) };
                let talk = stage.fresh_as(&opening).await?;
                all_pages(&talk, "tools/list", "tools").await?;
                for subject in subjects.iter().take(TOOLS) {
                    let plan = subject.plan(stage.revision());
                    let Some(base) = plan.as_ref().and_then(|plan| plan.base.as_ref()) else {
                        continue;
                    };
                    if subject.is_slow(stage.revision()) {
                        continue;
                    }
                    stage.spend_call()?;
                    let reply =
                        talk.request("tools/call", params(subject.name(), Some(base))).await;
                    match reply {
                        Ok(_) => {}
                        // How long it takes is not the question here.
                        Err(Trouble::Unanswered { .. }) => {
                            talk.disregard();
                            return Ok(());
                        }
                        Err(trouble) => return Err(trouble.into()),
                    }
                }
                Ok(())
            })
        });
    Some(Probe { revisions: all, ..probe })
}
