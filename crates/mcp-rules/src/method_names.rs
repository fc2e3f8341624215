//! Method names beyond those of the revision.

use std::collections::BTreeSet;

use mcp_schema::MethodKind;

/// Methods accepted besides those of the revision. Their payloads are not judged, only whether a
/// request has an `id` and a notification has none.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "MCP has these two kinds of methods")]
pub struct ExtraMethods {
    /// Names of requests.
    pub requests: BTreeSet<String>,
    /// Names of notifications.
    pub notifications: BTreeSet<String>,
}

impl ExtraMethods {
    pub(crate) fn is_empty(&self) -> bool {
        self.requests.is_empty() && self.notifications.is_empty()
    }

    pub(crate) fn of(&self, kind: MethodKind) -> &BTreeSet<String> {
        match kind {
            MethodKind::Request => &self.requests,
            MethodKind::Notification => &self.notifications,
        }
    }
}

/// A profile's policy on names that the revision does not define.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Naming {
    /// Allowed for a peer that declares an extension.
    Open,
    /// Any name is allowed.
    Any,
    /// These names, and no others.
    Closed { requests: &'static [&'static str], notifications: &'static [&'static str] },
}

impl Naming {
    /// The names of the erlmcp stack, whatever the revision. Some are spelled differently in the
    /// specification, whose spellings are accepted as well.
    pub(crate) const ERLMCP: Naming = Naming::Closed {
        requests: &[
            "completion/complete",
            "initialize",
            "logging/set_level",
            "ping",
            "prompts/get",
            "prompts/list",
            "requests/cancel",
            "resources/list",
            "resources/read",
            "resources/subscribe",
            "resources/templates/list",
            "resources/unsubscribe",
            "roots/list",
            "sampling/create_message",
            "tasks/cancel",
            "tasks/create",
            "tasks/get",
            "tasks/list",
            "tasks/result",
            "tools/call",
            "tools/list",
        ],
        notifications: &[
            "notifications/cancelled",
            "notifications/initialized",
            "notifications/message",
            "notifications/progress",
            "notifications/prompts/list_changed",
            "notifications/resources/list_changed",
            "notifications/resourcesupdated",
            "notifications/roots/list_changed",
            "notifications/tasks/status",
            "notifications/tools/list_changed",
        ],
    };

    /// The names it lists itself.
    pub(crate) const fn listed(self, kind: MethodKind) -> &'static [&'static str] {
        match (self, kind) {
            (Naming::Closed { requests, .. }, MethodKind::Request) => requests,
            (Naming::Closed { notifications, .. }, MethodKind::Notification) => notifications,
            (Naming::Open | Naming::Any, _) => &[],
        }
    }
}
