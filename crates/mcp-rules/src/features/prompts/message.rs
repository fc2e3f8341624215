//! Prompts: listings and expanded messages.

use mcp_core::Revisions;
use mcp_json::Node;

use crate::{
    Findings, Level,
    features::{
        repeated::repeated,
        walk::{self, Home, Thing},
    },
    findings::Fault,
};

rules! {
    NAME_DUPLICATE: "prompt-name-duplicate", Schema, Level::Warning, Revisions::ALL, "server/prompts#prompt";
}

/// Checks the result of `prompts/list`.
pub(crate) fn check_list(result: Node<'_>, findings: &mut Findings<'_>) {
    let Some(list) = result.get("prompts") else {
        return;
    };
    for prompt in list.elements() {
        walk::described(prompt, Thing::ToolOrPrompt, findings);
    }
    for name in repeated(list, "name") {
        findings.report(
            Fault::new(&NAME_DUPLICATE, "the page already lists a prompt with this name")
                .at(name.span())
                .help("`prompts/get` finds prompts by name: give each prompt a unique one"),
        );
    }
}

/// Checks the result of `prompts/get`.
pub(crate) fn check_get(result: Node<'_>, findings: &mut Findings<'_>) {
    walk::messages(result.get("messages"), Home::Prompt, findings);
}
