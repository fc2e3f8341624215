//! Scenarios of the server as a process: its standard error, and its exit.

use mcp_rules::client_behaviour as rules;

use crate::{
    WireKind,
    client::{
        act::Act,
        scenario::{Expect, Needs, Scenario},
    },
};

const STDIO: &[WireKind] = &[WireKind::Stdio];

pub(super) static SCENARIOS: &[Scenario] = &[
    Scenario::new("process/stderr", "the server writes to its standard error")
        .over(STDIO)
        .needing(Needs::OwnServer)
        .script(|cue| {
            (cue.is_opening() || cue.is_first()).then(|| {
                let mut acts = vec![Act::Stderr("ERROR: this is only a test, and means nothing")];
                acts.extend(cue.plain());
                acts
            })
        })
        .expecting(Expect::Same(&rules::STDERR_NOT_TOLERATED)),
    Scenario::new("process/gone", "the server exits before it answers")
        .over(STDIO)
        .needing(Needs::Request)
        .script(|cue| (cue.is_first() && !cue.id.is_null()).then(|| vec![Act::Cut]))
        .expecting(Expect::Survive),
];
