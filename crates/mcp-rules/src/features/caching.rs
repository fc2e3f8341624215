//! Cache hints on results of 2026-07-28. Missing and malformed hints are schema violations, which
//! the refinement table maps to their rules.

use mcp_core::{Revision, Revisions};
use mcp_json::Node;

use crate::{Findings, Level, findings::Fault};

const MODERN: Revisions = Revisions::only(Revision::V2026_07_28);

rules! {
    HINTS_MISSING: "cache-hints-missing", Schema, Level::Error, MODERN, "server/utilities/caching#cacheable-results";
    HINTS_INVALID: "cache-hints-invalid", Schema, Level::Error, MODERN, "server/utilities/caching#time-to-live-ttl-field";
    HINTS_ON_INPUT_REQUIRED: "cache-hints-on-input-required", Schema, Level::Warning, MODERN, "server/utilities/caching#cacheable-results";
}

/// The methods whose complete results carry hints.
pub(crate) const CACHEABLE: &[&str] = &[
    "server/discover",
    "tools/list",
    "prompts/list",
    "resources/list",
    "resources/templates/list",
    "resources/read",
];

/// Checks a result that asks for input.
pub(crate) fn check_input_required(result: Node<'_>, findings: &mut Findings<'_>) {
    let hint = ["ttlMs", "cacheScope"].into_iter().find_map(|member| result.get(member));
    if let Some(hint) = hint {
        findings.report(
            Fault::new(
                &HINTS_ON_INPUT_REQUIRED,
                "the result asks for input, so it must not have cache hints",
            )
            .at(hint.span())
            .help("send `ttlMs` and `cacheScope` only with complete results"),
        );
    }
}
