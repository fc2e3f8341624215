//! Probes with valid arguments that careless programs mishandle. The tool may succeed or fail: only
//! the rules judge the answers.

use std::sync::Arc;

use super::{Subject, calls::Calls};
use crate::{Stage, StepsFuture};

pub(super) fn steps(stage: &mut Stage, subject: Arc<Subject>) -> StepsFuture<'_> {
    Box::pin(async move {
        let mut calls = Calls::of(&subject, stage).await?;
        let plan = Arc::clone(&calls.plan);
        for hostile in &plan.hostile {
            let what = format!("{} in `{}`", hostile.kind, hostile.pointers.join("`, `"));
            if calls.call(stage, Some(&hostile.value), &what).await?.is_none() {
                break;
            }
        }
        Ok(())
    })
}
