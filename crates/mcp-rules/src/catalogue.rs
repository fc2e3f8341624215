use std::sync::LazyLock;

use crate::{RuleMeta, behaviour, client_behaviour, features, http, payload, wire};

static CATALOGUE: LazyLock<Vec<&'static RuleMeta>> = LazyLock::new(|| {
    let tables = wire::RULES.into_iter().chain([payload::RULES]).chain(features::rules());
    let mut rules: Vec<_> = tables
        .chain(http::FAMILIES)
        .chain([behaviour::RULES, client_behaviour::RULES])
        .flatten()
        .copied()
        .collect();
    rules.sort_by_key(|rule| rule.layer);
    rules
});

/// Every rule, in layer order.
pub fn catalogue() -> impl Iterator<Item = &'static RuleMeta> {
    CATALOGUE.iter().copied()
}

/// The rule called `name`.
pub fn rule(name: &str) -> Option<&'static RuleMeta> {
    catalogue().find(|meta| meta.name == name)
}
