//! Names that official schema files give to whole messages: `CallToolRequest`, `PingRequest`.

use mcp_core::Revision;

use crate::method::{Method, MethodKind};
use crate::registry::methods;

/// Messages whose name cannot be derived from their params or their result.
const NAMED: [(&str, &str); 6] = [
    ("PingRequest", "ping"),
    ("InitializedNotification", "notifications/initialized"),
    ("PromptListChangedNotification", "notifications/prompts/list_changed"),
    ("ResourceListChangedNotification", "notifications/resources/list_changed"),
    ("RootsListChangedNotification", "notifications/roots/list_changed"),
    ("ToolListChangedNotification", "notifications/tools/list_changed"),
];

/// The method whose messages official schema files call `name`.
///
/// ```
/// use mcp_core::Revision;
///
/// let method = mcp_schema::method_of_message(Revision::V2025_11_25, "CallToolRequest");
/// assert_eq!(method.map(|method| method.name), Some("tools/call"));
/// ```
pub fn method_of_message(revision: Revision, name: &str) -> Option<&'static Method> {
    methods(revision).iter().find(|method| {
        let by_params = method.params.is_some_and(|params| {
            params.name.strip_suffix("Params") == Some(name) && !is_shared(name)
        });
        let by_result = method.kind == MethodKind::Request
            && method.result.is_some_and(|result| {
                let subject = result.name.strip_suffix("Result");
                let subject = subject.filter(|subject| !matches!(*subject, "" | "Empty"));
                subject.is_some() && subject == name.strip_suffix("Request")
            });
        by_params || by_result || NAMED.contains(&(name, method.name))
    })
}

/// Whether several methods share these params, so that the name identifies none of them.
fn is_shared(name: &str) -> bool {
    matches!(name, "Request" | "Notification" | "PaginatedRequest")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(revision: Revision, name: &str, method: Option<&str>) {
        let found = method_of_message(revision, name).map(|method| method.name);
        assert_eq!(found, method, "{revision} {name}");
    }

    #[test]
    fn names_follow_from_params_results_or_the_list() {
        for revision in Revision::ALL {
            check(revision, "CallToolRequest", Some("tools/call"));
            check(revision, "ListToolsRequest", Some("tools/list"));
            check(revision, "ListResourceTemplatesRequest", Some("resources/templates/list"));
            check(revision, "ProgressNotification", Some("notifications/progress"));
            check(revision, "LoggingMessageNotification", Some("notifications/message"));
            check(
                revision,
                "ToolListChangedNotification",
                Some("notifications/tools/list_changed"),
            );
            for none in
                ["Request", "PaginatedRequest", "Notification", "Result", "EmptyRequest", ""]
            {
                check(revision, none, None);
            }
        }
        check(Revision::V2025_11_25, "PingRequest", Some("ping"));
        check(Revision::V2026_07_28, "InitializeRequest", None);
        check(Revision::V2025_06_18, "ElicitRequest", Some("elicitation/create"));
    }
}
