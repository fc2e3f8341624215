//! Finds the shortest walk that still fails.

use futures_util::future::BoxFuture;
use tokio::time::Instant;

use super::{
    menu::Menu,
    step::{Step, are_valid},
};

/// Checks whether a walk fails in the same way as the first one.
pub(super) trait Trial: Send {
    /// Performs the steps.
    fn fails<'a>(&'a mut self, steps: &'a [Step]) -> BoxFuture<'a, bool>;
}

/// Limits of shrinking.
#[derive(Debug, Clone, Copy)]
pub(super) struct Budget {
    attempts: usize,
    until: Instant,
}

impl Budget {
    pub(super) fn new(attempts: usize, until: Instant) -> Budget {
        Budget { attempts, until }
    }

    fn spend(&mut self) -> bool {
        let may = self.attempts > 0 && Instant::now() < self.until;
        self.attempts = self.attempts.saturating_sub(1);
        may
    }
}

/// Finds the shortest failing walk: removes the tail first, then steps from the back in ever
/// smaller pieces, and finally simplifies the rest. Only valid walks are tried.
pub(super) async fn shrink(
    steps: Vec<Step>,
    menu: &Menu,
    mut budget: Budget,
    trial: &mut dyn Trial,
) -> Vec<Step> {
    let mut steps = without_tail(steps, &mut budget, trial).await;
    let mut size = steps.len().div_ceil(2);
    while size > 0 {
        let (shorter, has_progress) = without_pieces(steps, size, &mut budget, trial).await;
        steps = shorter;
        // A step may only have been needed by one that is gone now.
        size = if size == 1 && has_progress { 1 } else { size / 2 };
    }
    for index in 0..steps.len() {
        for simpler in menu.simpler(&steps[index]) {
            let mut candidate = steps.clone();
            candidate[index] = simpler;
            if budget.spend() && trial.fails(&candidate).await {
                steps = candidate;
                break;
            }
        }
    }
    steps
}

/// Finds the shortest failing prefix: steps after the failure do not matter.
async fn without_tail(
    mut steps: Vec<Step>,
    budget: &mut Budget,
    trial: &mut dyn Trial,
) -> Vec<Step> {
    let (mut passes, mut known_to_fail) = (None::<usize>, steps.len());
    loop {
        let least = passes.map_or(0, |length| length + 1);
        if least >= known_to_fail {
            break;
        }
        // Try the empty walk first, since that is quick.
        let middle = if passes.is_none() { 0 } else { usize::midpoint(least, known_to_fail - 1) };
        if !budget.spend() {
            break;
        }
        if trial.fails(&steps[..middle]).await {
            known_to_fail = middle;
        } else {
            passes = Some(middle);
        }
    }
    steps.truncate(known_to_fail);
    steps
}

/// Removes pieces of a given size from the back as long as the rest fails.
async fn without_pieces(
    mut steps: Vec<Step>,
    size: usize,
    budget: &mut Budget,
    trial: &mut dyn Trial,
) -> (Vec<Step>, bool) {
    let mut has_progress = false;
    let mut end = steps.len();
    while end > 0 {
        let start = end.saturating_sub(size);
        let mut candidate = steps.clone();
        candidate.drain(start..end);
        if are_valid(&candidate) && budget.spend() && trial.fails(&candidate).await {
            steps = candidate;
            has_progress = true;
        }
        end = start;
    }
    (steps, has_progress)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use mcp_core::Revision;
    use serde_json::json;

    use super::*;
    use crate::{Offer, Random, Seed, Settings, wire::WireKind};

    fn menu() -> Menu {
        let offer = Offer {
            capabilities: json!({ "tools": {}, "resources": { "subscribe": true }, "logging": {} }),
            tools: vec![json!({ "name": "add", "annotations": { "readOnlyHint": true },
                "inputSchema": { "type": "object", "required": ["a"],
                    "properties": { "a": { "type": "integer" }, "b": { "type": "string" } } } })],
            resources: vec![json!({ "uri": "a://1" }), json!({ "uri": "a://2" })],
            pages: [("tools/list", 2), ("resources/list", 1)].into(),
            ..Offer::default()
        };
        Menu::new(&offer, Revision::V2025_11_25, WireKind::Stdio, &Settings::default())
    }

    fn budget(attempts: usize) -> Budget {
        Budget::new(attempts, Instant::now() + Duration::from_secs(60))
    }

    fn random(seed: u64) -> Random {
        Seed::new(seed).stream("walk/1")
    }

    /// A trial that needs no server.
    struct Told {
        fails: fn(&[Step]) -> bool,
        asked: usize,
    }

    impl Trial for Told {
        fn fails<'a>(&'a mut self, steps: &'a [Step]) -> BoxFuture<'a, bool> {
            assert!(are_valid(steps), "{steps:?}");
            self.asked += 1;
            Box::pin(std::future::ready((self.fails)(steps)))
        }
    }

    /// Shrinks the first walk that fails.
    async fn shortest(fails: fn(&[Step]) -> bool) -> Vec<Step> {
        let (menu, budget) = (menu(), budget(500));
        let walks = (0..100).map(|seed| menu.walk(&mut random(seed), 40));
        let steps = walks.into_iter().find(|steps| fails(steps)).unwrap();
        shrink(steps, &menu, budget, &mut Told { fails, asked: 0 }).await
    }

    #[test]
    fn walks_are_valid_and_follow_from_the_seed() {
        let menu = menu();
        for seed in 0..50 {
            let walk = menu.walk(&mut random(seed), 30);
            assert!(walk.len() == 30 && are_valid(&walk), "{walk:?}");
            assert_eq!(walk, menu.walk(&mut random(seed), 30));
        }
        assert_ne!(menu.walk(&mut random(1), 30), menu.walk(&mut random(2), 30));
    }

    #[tokio::test]
    async fn what_is_needed_stays_in_its_order() {
        let list_after_subscribe = |steps: &[Step]| {
            let subscribed = steps.iter().position(|step| matches!(step, Step::Subscribe(_)));
            let listed = steps.iter().rposition(|step| *step == Step::List(0));
            subscribed.zip(listed).is_some_and(|(subscribed, listed)| subscribed < listed)
        };
        let found = shortest(list_after_subscribe).await;
        assert!(matches!(found.as_slice(), [Step::Subscribe(_), Step::List(0)]), "{found:?}");
        let third_call = |steps: &[Step]| {
            steps.iter().filter(|step| matches!(step, Step::Call { .. })).count() >= 3
        };
        let found = shortest(third_call).await;
        let least = json!({ "a": found[0].params()["arguments"]["a"] });
        assert_eq!(found.len(), 3, "{found:?}");
        assert!(found.iter().all(|step| step.params()["arguments"] == least), "{found:?}");
        assert!(
            found
                .iter()
                .all(|step| matches!(step, Step::Call { progress: false, cancel: false, .. })),
            "{found:?}"
        );
    }

    #[tokio::test]
    async fn a_step_stays_with_what_it_needs() {
        let unsubscribes =
            |steps: &[Step]| steps.iter().any(|step| matches!(step, Step::Unsubscribe(_)));
        let found = shortest(unsubscribes).await;
        assert!(
            matches!(found.as_slice(), [Step::Subscribe(_), Step::Unsubscribe(_)]),
            "{found:?}"
        );
    }

    #[tokio::test]
    async fn what_fails_from_the_start_needs_no_steps() {
        assert_eq!(shortest(|_| true).await, []);
    }

    #[tokio::test]
    async fn a_budget_ends_it() {
        let menu = menu();
        let steps = menu.walk(&mut random(1), 40);
        let budget = budget(5);
        let mut told = Told { fails: |steps| steps.len() > 30, asked: 0 };
        let found = shrink(steps, &menu, budget, &mut told).await;
        assert!(found.len() > 30 && told.asked == 5, "{}", told.asked);
    }
}
