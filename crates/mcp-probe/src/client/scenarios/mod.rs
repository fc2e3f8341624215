//! The scenarios, by group.

mod answers;
mod cancellation;
mod ending;
mod handshake;
mod http;
mod lists;
mod notifications;
mod requests;
mod stateless;

use mcp_core::{Revision, Revisions};

pub(crate) use self::handshake::PLAIN;
use super::scenario::Scenario;

const LEGACY: Revisions = Revisions::LEGACY;
const MODERN: Revisions = Revisions::from(Revision::V2026_07_28);
const SESSIONS: Revisions = Revisions::between(Revision::V2025_03_26, Revision::V2025_11_25);

/// All scenarios but the plain one, in order.
pub(crate) fn all() -> impl Iterator<Item = &'static Scenario> {
    let families: [&'static [Scenario]; 9] = [
        handshake::SCENARIOS,
        requests::SCENARIOS,
        notifications::SCENARIOS,
        cancellation::SCENARIOS,
        answers::SCENARIOS,
        lists::SCENARIOS,
        http::SCENARIOS,
        stateless::SCENARIOS,
        ending::SCENARIOS,
    ];
    families.into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_scenario_has_a_name_of_its_own() {
        let names: BTreeSet<_> = all().chain([&PLAIN]).map(|scenario| scenario.name).collect();
        assert_eq!(names.len(), all().count() + 1);
        assert!(names.iter().all(|name| name.contains('/')), "{names:?}");
        assert!(all().all(|scenario| !scenario.about.ends_with('.')));
    }
}
