//! The features of MCP, a module each: its rules as a table, the checks on single messages
//! (`message`), and the checks that need a conversation, with the state they keep (`conversation`).
//! A small feature is a single file.
//!
//! A feature reads the shared state of the conversation and never changes it. Code the features
//! have in common is here too: content, icons, metadata, and the walk over objects that have them.

pub(crate) mod caching;
pub(crate) mod cancellation;
pub(crate) mod capabilities;
pub(crate) mod completion;
mod content;
pub(crate) mod elicitation;
mod family;
pub(crate) mod icons;
pub(crate) mod ids;
pub(crate) mod inputs;
pub(crate) mod lifecycle;
pub(crate) mod locked;
pub(crate) mod logging;
pub(crate) mod meta;
pub(crate) mod modern;
pub(crate) mod pagination;
pub(crate) mod progress;
pub(crate) mod prompts;
mod repeated;
pub(crate) mod resources;
pub(crate) mod roots;
pub(crate) mod sampling;
mod shown;
pub(crate) mod subscriptions;
pub(crate) mod tasks;
pub(crate) mod tools;
mod walk;

pub(crate) use self::family::Family;
use crate::RuleMeta;

/// The rules about single messages.
static MESSAGE_RULES: [&[&RuleMeta]; 18] = [
    content::RULES,
    icons::RULES,
    resources::message::RULES,
    prompts::message::RULES,
    completion::RULES,
    sampling::message::RULES,
    elicitation::message::RULES,
    roots::RULES,
    tasks::message::RULES,
    meta::RULES,
    modern::message::RULES,
    modern::initiative::RULES,
    inputs::message::RULES,
    caching::RULES,
    tools::message::RULES,
    tools::schema::RULES,
    tools::x_mcp_header::RULES,
    tools::portability::RULES,
];

/// The rules that need a conversation.
static CONVERSATION_RULES: [&[&RuleMeta]; 16] = [
    ids::RULES,
    lifecycle::RULES,
    capabilities::RULES,
    tools::conversation::RULES,
    prompts::conversation::RULES,
    pagination::RULES,
    resources::conversation::RULES,
    sampling::conversation::RULES,
    elicitation::conversation::RULES,
    progress::RULES,
    cancellation::RULES,
    logging::RULES,
    tasks::conversation::RULES,
    modern::conversation::RULES,
    inputs::conversation::RULES,
    subscriptions::RULES,
];

/// The rule tables of all features.
pub(crate) fn rules() -> impl Iterator<Item = &'static [&'static RuleMeta]> {
    MESSAGE_RULES.into_iter().chain(CONVERSATION_RULES)
}
