use std::{fmt, str::FromStr};

/// The layers a message passes through, in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Layer {
    /// The recording itself, not the traffic in it.
    Trace,
    /// Splitting bytes into messages.
    Framing,
    /// RFC 8259.
    Json,
    /// The JSON-RPC 2.0 envelope, as MCP tightens it.
    JsonRpc,
    /// Params and results by method and revision.
    Schema,
    /// Order, ids, capabilities.
    Session,
    /// The contracts that tools state.
    ToolSchema,
    /// Headers, status codes, streams.
    Http,
    /// The behaviour of a peer under active testing.
    Behaviour,
}

impl Layer {
    /// Every layer, in the order a message passes through them.
    pub const ALL: [Layer; 9] = [
        Layer::Trace,
        Layer::Framing,
        Layer::Json,
        Layer::JsonRpc,
        Layer::Schema,
        Layer::Session,
        Layer::ToolSchema,
        Layer::Http,
        Layer::Behaviour,
    ];

    /// The name used in findings.
    pub const fn as_str(self) -> &'static str {
        match self {
            Layer::Trace => "trace",
            Layer::Framing => "framing",
            Layer::Json => "json",
            Layer::JsonRpc => "jsonrpc",
            Layer::Schema => "schema",
            Layer::Session => "session",
            Layer::ToolSchema => "tool-schema",
            Layer::Http => "http",
            Layer::Behaviour => "behaviour",
        }
    }
}

impl fmt::Display for Layer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for Layer {
    type Err = UnknownLayer;

    fn from_str(text: &str) -> Result<Self, UnknownLayer> {
        Layer::ALL
            .into_iter()
            .find(|layer| layer.as_str() == text)
            .ok_or_else(|| UnknownLayer(text.into()))
    }
}

/// The error for a layer that does not exist.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is not a layer: trace, framing, json, jsonrpc, schema, session, tool-schema, http, behaviour"
)]
pub struct UnknownLayer(Box<str>);
