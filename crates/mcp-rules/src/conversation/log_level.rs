use mcp_json::Node;
use serde::{Deserialize, Serialize};

/// The severity of a log message, `debug` being the lowest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
pub(crate) struct LogLevel(u8);

impl LogLevel {
    const NAMES: [&str; 8] =
        ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"];

    pub(crate) fn of(node: Node<'_>) -> Option<LogLevel> {
        (0..).zip(Self::NAMES).find(|(_, name)| node.str_eq(name)).map(|(rank, _)| LogLevel(rank))
    }

    pub(crate) fn name(self) -> &'static str {
        Self::NAMES.get(usize::from(self.0)).copied().unwrap_or("debug")
    }
}
