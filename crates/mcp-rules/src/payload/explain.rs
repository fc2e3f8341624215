//! Why a payload does not match its definition, and what to do about it.

use mcp_json::Node;
use mcp_schema::{Definition, Schemas, Violation};

use crate::{features::elicitation, null_member};

/// Returns why `payload` does not match. Where one member selects between definitions, only the
/// selected one is used.
pub(crate) fn explain(
    schemas: &Schemas,
    definition: &'static Definition,
    payload: Node<'_>,
) -> Vec<Violation> {
    if definition.name == "ElicitRequestParams" {
        let chosen = if elicitation::is_url_mode(payload) {
            "ElicitRequestURLParams"
        } else {
            "ElicitRequestFormParams"
        };
        if let Some(chosen) = mcp_schema::definition(definition.revision, chosen) {
            let mut violations = schemas.violations(chosen, payload);
            if !violations.is_empty() {
                elicitation::explain_mode(payload, &mut violations);
                null_member::mark_optional(schemas, chosen, payload, &mut violations);
                return violations;
            }
        }
    }
    let mut violations = schemas.violations(definition, payload);
    null_member::mark_optional(schemas, definition, payload, &mut violations);
    violations
}
