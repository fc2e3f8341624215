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
    /// How long clients may keep lists and resources, in revisions that say so. Default zero: ask
    /// again each time.
    pub time_to_live: Duration,
    /// Whether what is served is the same for everybody and may be kept by shared caches.
    pub shared_cache: bool,
    /// How arguments that do not fit a tool are answered. Default: as the revision says.
    pub invalid_arguments: InvalidArguments,
    /// How calls name what they want.
    pub dispatch: Dispatch,
    /// Whether tools may send log messages to clients. Default yes.
    pub logging: bool,
    /// Whether clients are told when lists change. Default yes.
    pub list_changes: bool,
    /// Whether clients can subscribe to changes of single resources. Default yes, if there are
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
    /// Whether arguments that do not fit are answered with an error of the protocol at `revision`.
    /// Bare calls have nothing else.
    pub(super) fn refuses_arguments_at(&self, revision: Revision) -> bool {
        let by_revision = self.invalid_arguments == InvalidArguments::ByRevision;
        self.prefers_protocol_errors() || (by_revision && revision < Revision::V2025_11_25)
    }

    /// Whether errors of the protocol were chosen, whatever the revision prefers.
    pub(super) fn prefers_protocol_errors(&self) -> bool {
        self.dispatch == Dispatch::Bare || self.invalid_arguments == InvalidArguments::ProtocolError
    }
}

/// How arguments that do not fit a tool are answered. They never reach it.
///
/// An error of the protocol is `-32602` with the findings in `data`. A result has `isError` and one
/// line for every fault, which models read to correct themselves; the findings are in its `_meta`
/// under [`Meta::FINDINGS`](crate::Meta::FINDINGS). Tools that do not exist, and calls that are no
/// proper calls, are errors of the protocol always. So is everything in bare calls
/// ([`Dispatch::Bare`]), which have no results of that kind.
///
/// Where errors of the protocol are chosen, a tool that panics or fails with
/// [`Error::Internal`](crate::Error::Internal) is one as well (`-32603`), instead of a result with
/// `isError`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[expect(clippy::exhaustive_enums, reason = "one or the other, or as the revision says")]
pub enum InvalidArguments {
    /// As the revision in use wants it: with an error of the protocol up to 2025-06-18, with a
    /// result from 2025-11-25 on.
    #[default]
    ByRevision,
    /// With an error of the protocol.
    ProtocolError,
    /// With a result.
    ToolResult,
}

/// How calls name what they want. It is chosen once, in the settings of the engine; whatever serves
/// and writes for it follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[expect(clippy::exhaustive_enums, reason = "one or the other")]
pub enum Dispatch {
    /// The methods of MCP: `tools/call` with the name of the tool in its params.
    #[default]
    Mcp,
    /// Base JSON-RPC: the method is the name of the tool, the params are its arguments, the result is
    /// what it gives back. A notification runs the tool too, and nobody hears what came of it. Ids may
    /// be null or fractional, and there are batches.
    Bare,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_choice_can_be_written_in_settings() {
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
    fn the_revision_decides_unless_somebody_else_does() {
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
