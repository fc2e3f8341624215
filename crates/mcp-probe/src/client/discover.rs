//! What a client does when nothing is unusual, at each revision.

use std::{collections::BTreeMap, io};

use mcp_core::{Era, Revision};

use super::{
    Acquaintance, Meeting, Met, scenarios,
    visit::{Habit, Setup, Visit},
};
use crate::WireKind;

/// The first visits.
pub(crate) struct Introduction {
    pub(crate) acquaintance: Acquaintance,
    /// Each visit of a revision that the client speaks.
    pub(crate) visits: Vec<(Revision, Visit)>,
}

/// Why a client could not be met.
pub(crate) enum Unmet {
    /// It could not be started.
    Start(io::Error),
    /// It never came to the server.
    NoContact(Visit),
    /// It came and opened no conversation.
    NoRevision { reason: String, stderr: String },
}

pub(crate) async fn acquaint(setup: &Setup) -> Result<Introduction, Unmet> {
    let chosen = &setup.settings.revisions;
    let mut acquaintance: Option<Acquaintance> = None;
    let mut visits = Vec::new();
    let mut stderr = String::new();
    // The newest with a handshake is what most clients speak.
    let order = [Revision::V2025_11_25, Revision::V2026_07_28];
    let rest = Revision::ALL.iter().rev().copied().filter(|revision| !order.contains(revision));
    let order = order.into_iter().chain(rest);
    for revision in order.filter(|revision| chosen.is_empty() || chosen.contains(revision)) {
        let wire = acquaintance.as_ref().map(|acquaintance| acquaintance.wire);
        if wire == Some(WireKind::Http) && revision == Revision::V2024_11_05 {
            refuse(&mut acquaintance, revision, "it has another HTTP transport");
            continue;
        }
        let visit = setup.visit(&scenarios::PLAIN, revision, Habit::Unknown, false).await;
        let visit = visit.map_err(Unmet::Start)?;
        if acquaintance.is_none() && !visit.is_contact() {
            return Err(Unmet::NoContact(visit));
        }
        if let Some(play) = visit.main() {
            let wire = play.wire;
            acquaintance.get_or_insert_with(|| Acquaintance {
                wire,
                met: BTreeMap::new(),
                refused: BTreeMap::new(),
            });
        }
        if !speaks(&visit, revision) {
            stderr.clone_from(&visit.stderr);
            let how = visit
                .exit
                .map_or_else(|| "it does not go on".to_owned(), super::process::Exit::text);
            refuse(&mut acquaintance, revision, &how);
            continue;
        }
        let own_server = setup.client.meeting == Meeting::Either
            && visit.main().is_some_and(|play| play.wire == WireKind::Stdio);
        let met = Met::of(&visit, revision, own_server);
        if let Some(acquaintance) = &mut acquaintance {
            acquaintance.met.insert(revision, met);
        }
        visits.push((revision, visit));
    }
    match acquaintance {
        Some(acquaintance) if !acquaintance.met.is_empty() => {
            Ok(Introduction { acquaintance, visits })
        }
        other => {
            let refused = other.map(|acquaintance| acquaintance.refused).unwrap_or_default();
            let reason = refused.into_values().next_back().unwrap_or_default();
            Err(Unmet::NoRevision { reason, stderr })
        }
    }
}

/// Whether the client goes on at the revision. One that asks for it and then stops, although the
/// server agrees, counts too: it has been understood.
fn speaks(visit: &Visit, revision: Revision) -> bool {
    visit.is_open()
        || (revision.era() == Era::Legacy
            && visit.plays.iter().any(|play| {
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

fn refuse(acquaintance: &mut Option<Acquaintance>, revision: Revision, reason: &str) {
    if let Some(acquaintance) = acquaintance {
        acquaintance.refused.insert(revision, reason.to_owned());
    }
}
