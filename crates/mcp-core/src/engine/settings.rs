use std::time::Duration;

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
    /// How arguments that break a tool's contract are answered.
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

/// How arguments that break a tool's contract are answered. They never reach the tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[expect(clippy::exhaustive_enums, reason = "one or the other")]
pub enum InvalidArguments {
    /// With an error of the protocol, which says exactly what is wrong.
    #[default]
    ProtocolError,
    /// With a result that a model reads, so that it can correct itself.
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
