use std::sync::LazyLock;

use crate::{
    Meta,
    rules::{
        caching, completion, content, elicitation, error_code, framing, icons, initiative,
        input_required, json, jsonrpc, meta, payload, portability, prompts, resources, roots,
        sampling, stateless, tasks, tool_schema, tools, x_mcp_header,
    },
    session,
};

static FAMILIES: [&[&Meta]; 23] = [
    framing::RULES,
    json::RULES,
    jsonrpc::RULES,
    error_code::RULES,
    payload::RULES,
    content::RULES,
    icons::RULES,
    resources::RULES,
    prompts::RULES,
    completion::RULES,
    sampling::RULES,
    elicitation::RULES,
    roots::RULES,
    tasks::RULES,
    meta::RULES,
    stateless::RULES,
    initiative::RULES,
    input_required::RULES,
    caching::RULES,
    tools::RULES,
    tool_schema::RULES,
    x_mcp_header::RULES,
    portability::RULES,
];

static CATALOGUE: LazyLock<Vec<&'static Meta>> = LazyLock::new(|| {
    let families = FAMILIES.into_iter().chain(session::RULES).chain(session::http::FAMILIES);
    let mut rules: Vec<_> = families.flatten().copied().collect();
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
