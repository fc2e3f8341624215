use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::Revision;

/// How a server behaves where the protocol leaves a choice.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "independent choices, each with its name")]
#[non_exhaustive]
pub struct McpSettings {
    /// Entries on one page of a list. Default 100.
    pub page_size: usize,
    /// How long clients may cache lists and resources, in revisions that have caching. Default zero:
    /// no caching.
    pub time_to_live: Duration,
    /// Whether responses are the same for every client and may be kept by shared caches.
    pub shared_cache: bool,
    /// How invalid tool arguments are answered. Default: as the revision requires.
    pub invalid_arguments: InvalidArguments,
    /// How calls are dispatched.
    pub dispatch: Dispatch,
    /// Whether tools may send log messages to clients. Default yes.
    pub logging: bool,
    /// Whether clients are notified when lists change. Default yes.
    pub list_changes: bool,
    /// Whether clients can subscribe to changes of individual resources. Default yes, if there are
    /// resources.
    pub resource_subscriptions: bool,
}

impl Default for McpSettings {
    fn default() -> Self {
        McpSettings {
            page_size: 100,
            time_to_live: Duration::ZERO,
            shared_cache: false,
            invalid_arguments: InvalidArguments::default(),
            dispatch: Dispatch::default(),
            logging: true,
            list_changes: true,
            resource_subscriptions: true,
        }
    }
}

impl McpSettings {
    /// Whether invalid arguments are answered with a protocol error at `revision`. Bare calls have
    /// no alternative.
    pub(super) fn refuses_arguments_at(&self, revision: Revision) -> bool {
        let by_revision = self.invalid_arguments == InvalidArguments::ByRevision;
        self.prefers_protocol_errors() || (by_revision && revision < Revision::V2025_11_25)
    }

    /// Whether protocol errors were chosen regardless of the revision.
    pub(super) fn prefers_protocol_errors(&self) -> bool {
        self.dispatch == Dispatch::Bare || self.invalid_arguments == InvalidArguments::ProtocolError
    }
}

/// How invalid tool arguments are answered. They never reach the tool.
///
/// A protocol error is `-32602` with the findings in `data`. A tool result has `isError` and one
/// line per violation, which models read to correct themselves; the findings are in its `_meta`
/// under [`Meta::FINDINGS`](crate::Meta::FINDINGS). Unknown tools and malformed calls are always
/// protocol errors, and so is every error of a bare call ([`Dispatch::Bare`]), which has no results
/// of that kind.
///
/// If protocol errors are chosen, a tool that panics or fails with
/// [`Error::Internal`](crate::Error::Internal) also gives one (`-32603`) rather than a result with
/// `isError`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[expect(clippy::exhaustive_enums, reason = "one or the other, or as the revision says")]
pub enum InvalidArguments {
    /// As the negotiated revision requires: with a protocol error up to 2025-06-18, with a tool
    /// result from 2025-11-25 on.
    #[default]
    ByRevision,
    /// With a protocol error.
    ProtocolError,
    /// With a tool result.
    ToolResult,
}

/// How calls are dispatched. Chosen once, in the engine's settings; adapters follow it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[expect(clippy::exhaustive_enums, reason = "one or the other")]
pub enum Dispatch {
    /// The methods of MCP: `tools/call` with the name of the tool in its params.
    #[default]
    Mcp,
    /// Plain JSON-RPC: the method is the name of the tool, the params are its arguments and the
    /// result is its output. A notification runs the tool and discards the outcome. Ids may be null
    /// or fractional, and batches are allowed.
    Bare,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_choice_deserializes_from_its_name() {
        for (name, choice) in [
            ("by-revision", InvalidArguments::ByRevision),
            ("protocol-error", InvalidArguments::ProtocolError),
            ("tool-result", InvalidArguments::ToolResult),
        ] {
            let read: InvalidArguments = serde_json::from_str(&format!("\"{name}\"")).unwrap();
            assert_eq!(read, choice);
        }
    }

    #[test]
    fn the_revision_decides_unless_overridden() {
        use InvalidArguments::{ByRevision, ProtocolError, ToolResult};
        let refuses = |invalid_arguments, dispatch| {
            let settings = McpSettings { invalid_arguments, dispatch, ..McpSettings::default() };
            Revision::ALL.map(|revision| settings.refuses_arguments_at(revision))
        };
        assert_eq!(refuses(ByRevision, Dispatch::Mcp), [true, true, true, false, false]);
        assert_eq!(refuses(ProtocolError, Dispatch::Mcp), [true; 5]);
        assert_eq!(refuses(ToolResult, Dispatch::Mcp), [false; 5]);
        assert_eq!(refuses(ToolResult, Dispatch::Bare), [true; 5]);
    }
}
