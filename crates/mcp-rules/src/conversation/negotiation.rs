use mcp_json::Node;

use super::Event;

/// How a server answered the requested version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Negotiation {
    /// Name and version of the server.
    pub(crate) server: (Box<str>, Box<str>),
    pub(crate) requested: Box<str>,
    pub(crate) answered: Box<str>,
}

impl Negotiation {
    /// Reads the negotiation from an `initialize` result.
    pub(crate) fn of(event: &Event<'_>) -> Option<Box<Negotiation>> {
        let result = event.result()?;
        let text = |node: Option<Node<'_>>| Some(Box::from(node?.as_str()?.as_ref()));
        let server = result.get("serverInfo")?;
        Some(Box::new(Negotiation {
            server: (text(server.get("name"))?, text(server.get("version"))?),
            requested: event.answered()?.asked.requested_version.clone()?,
            answered: text(result.get("protocolVersion"))?,
        }))
    }
}
