use mcp_core::{RequestId, Side};
use serde::{Deserialize, Serialize};

use crate::{
    conversation::{Event, Known, Moment, Notes, Remembered},
    features::{
        Family, cancellation, elicitation, inputs, locked, logging, modern, pagination, progress,
        prompts, resources, sampling, subscriptions, tasks, tools,
    },
};

/// The state of each family.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Families {
    tools: tools::Tools,
    prompts: prompts::Prompts,
    pagination: pagination::Pagination,
    resources: resources::Resources,
    sampling: sampling::Sampling,
    elicitation: elicitation::Elicitation,
    progress: progress::Progress,
    cancellation: cancellation::Cancellation,
    logging: logging::Logging,
    tasks: tasks::Tasks,
    modern: modern::Modern,
    inputs: inputs::Inputs,
    subscriptions: subscriptions::Subscriptions,
    #[serde(default, skip_serializing_if = "locked::Locked::is_blank")]
    locked: locked::Locked,
}

/// Calls a method of every family in turn.
macro_rules! each {
    ($families:expr, $method:ident($($argument:expr),*)) => {{
        $families.tools.$method($($argument),*);
        $families.prompts.$method($($argument),*);
        $families.pagination.$method($($argument),*);
        $families.resources.$method($($argument),*);
        $families.sampling.$method($($argument),*);
        $families.elicitation.$method($($argument),*);
        $families.progress.$method($($argument),*);
        $families.cancellation.$method($($argument),*);
        $families.logging.$method($($argument),*);
        $families.tasks.$method($($argument),*);
        $families.modern.$method($($argument),*);
        $families.inputs.$method($($argument),*);
        $families.subscriptions.$method($($argument),*);
        $families.locked.$method($($argument),*);
    }};
}

impl Families {
    pub(super) fn follow(
        &mut self,
        event: &Event<'_>,
        asked: &mut Remembered,
        known: &Known<'_>,
        notes: &mut Notes,
    ) {
        each!(self, follow_if_concerned(event, asked, known, notes));
    }

    /// Called when `from` closed a response stream that carried these requests.
    pub(super) fn follow_stream_end<'i>(
        &mut self,
        requests: impl Iterator<Item = &'i RequestId>,
        from: Side,
        at: Moment,
    ) {
        self.subscriptions.follow_stream_end(requests, from, at);
    }

    /// Swaps what is known of the server itself, which is the same for all its clients.
    pub(super) fn swap_common(&mut self, other: &mut Families) {
        std::mem::swap(&mut self.modern, &mut other.modern);
    }

    /// The state at the start of a new session on the same endpoint.
    pub(super) fn restarted(&self) -> Families {
        let mut families = self.clone();
        each!(families, restart());
        families
    }
}
