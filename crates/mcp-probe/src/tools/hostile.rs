//! Calls that fit the schema with values that careless programs stumble over. What they come to is
//! up to the tool: only the rules judge the answers.

use std::sync::Arc;

use super::{Subject, calls::Calls};
use crate::{Stage, StepsFuture};

pub(super) fn steps(stage: &mut Stage, subject: Arc<Subject>) -> StepsFuture<'_> {
    Box::pin(async move {
        let mut calls = Calls::of(&subject, stage).await?;
        let plan = Arc::clone(&calls.plan);
        for hostile in &plan.hostile {
            let what = format!("{} in `{}`", hostile.malice, hostile.pointers.join("`, `"));
            if calls.call(stage, Some(&hostile.value), &what).await?.is_none() {
                break;
            }
        }
        Ok(())
    })
}
