//! Discovers what a client does normally, at each revision.

use std::{collections::BTreeMap, io};

use mcp_core::{Era, Revision};

use super::{
    ClientOverview, ConnectVia, NormalBehaviour,
    scenario_run::{ExitHabit, ScenarioRun, Setup},
    scenarios,
};
use crate::WireKind;

/// The first run of the client at each revision.
pub(crate) struct FirstRuns {
    pub(crate) overview: ClientOverview,
    /// The run at each revision that the client speaks.
    pub(crate) runs: Vec<(Revision, ScenarioRun)>,
}

/// Why a client could not be tested.
pub(crate) enum DiscoveryError {
    /// It could not be started.
    Start(io::Error),
    /// It never connected to the server.
    NoContact(ScenarioRun),
    /// It connected, but opened no conversation.
    NoRevision { reason: String, stderr: String },
}

pub(crate) async fn discover(setup: &Setup) -> Result<FirstRuns, DiscoveryError> {
    let chosen = &setup.settings.revisions;
    let mut overview: Option<ClientOverview> = None;
    let mut runs = Vec::new();
    let mut stderr = String::new();
    // Most clients speak the newest revision with a handshake.
    let order = [Revision::V2025_11_25, Revision::V2026_07_28];
    let rest = Revision::ALL.iter().rev().copied().filter(|revision| !order.contains(revision));
    let order = order.into_iter().chain(rest);
    for revision in order.filter(|revision| chosen.is_empty() || chosen.contains(revision)) {
        let wire = overview.as_ref().map(|overview| overview.wire);
        if wire == Some(WireKind::Http) && revision == Revision::V2024_11_05 {
            refuse(&mut overview, revision, "that revision has another HTTP transport");
            continue;
        }
        let run = setup.run_scenario(&scenarios::PLAIN, revision, ExitHabit::Unknown, false).await;
        let run = run.map_err(DiscoveryError::Start)?;
        if overview.is_none() && !run.is_contact() {
            return Err(DiscoveryError::NoContact(run));
        }
        if let Some(play) = run.main() {
            let wire = play.wire;
            overview.get_or_insert_with(|| ClientOverview {
                wire,
                normal: BTreeMap::new(),
                refused: BTreeMap::new(),
            });
        }
        if !speaks(&run, revision) {
            stderr.clone_from(&run.stderr);
            let how = run
                .exit
                .map_or_else(|| "it does not continue".to_owned(), super::process::Exit::text);
            refuse(&mut overview, revision, &how);
            continue;
        }
        let own_server = setup.client.connect_via == ConnectVia::CommandOrUrl
            && run.main().is_some_and(|play| play.wire == WireKind::Stdio);
        let normal = NormalBehaviour::of(&run, revision, own_server);
        if let Some(overview) = &mut overview {
            overview.normal.insert(revision, normal);
        }
        runs.push((revision, run));
    }
    match overview {
        Some(overview) if !overview.normal.is_empty() => Ok(FirstRuns { overview, runs }),
        other => {
            let refused = other.map(|overview| overview.refused).unwrap_or_default();
            let reason = refused.into_values().next_back().unwrap_or_default();
            Err(DiscoveryError::NoRevision { reason, stderr })
        }
    }
}

/// Whether the client continues at the revision. A client that requests it and stops although the
/// server agrees counts, too, since it was understood.
fn speaks(run: &ScenarioRun, revision: Revision) -> bool {
    run.is_open()
        || (revision.era() == Era::Legacy
            && run.plays.iter().any(|play| {
                let state = play.state();
                let goes_on = state.heard.iter().any(|message| {
                    message.method().is_some_and(|method| {
                        !matches!(method, "initialize" | "server/discover" | "ping")
                    })
                });
                state.requested.as_deref() == Some(revision.as_str())
                    || (state.requested.is_some() && goes_on)
            }))
}

fn refuse(overview: &mut Option<ClientOverview>, revision: Revision, reason: &str) {
    if let Some(overview) = overview {
        overview.refused.insert(revision, reason.to_owned());
    }
}
