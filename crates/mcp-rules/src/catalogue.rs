use std::sync::LazyLock;

use crate::{Meta, features, http, payload, wire};

static CATALOGUE: LazyLock<Vec<&'static Meta>> = LazyLock::new(|| {
    let tables = wire::RULES.into_iter().chain([payload::RULES]).chain(features::rules());
    let mut rules: Vec<_> = tables.chain(http::FAMILIES).flatten().copied().collect();
    rules.sort_by_key(|rule| rule.layer);
    rules
});

/// Every rule, in the order of the layers.
pub fn catalogue() -> impl Iterator<Item = &'static Meta> {
    CATALOGUE.iter().copied()
}

/// The rule called `name`.
pub fn rule(name: &str) -> Option<&'static Meta> {
    catalogue().find(|meta| meta.name == name)
}
