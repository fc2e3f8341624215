//! The servers in the configuration of a client.

use std::borrow::Cow;

use mcp_json::{Node, Span};

/// Where clients keep their servers: most clients, VS Code, VS Code settings, Zed.
const PLACES: [&str; 4] = ["/mcpServers", "/servers", "/mcp/servers", "/context_servers"];

/// One server of a configuration.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Server<'a> {
    name: Node<'a>,
    entry: Node<'a>,
}

/// A member of an entry.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Member<'a> {
    pub(crate) key: Span,
    pub(crate) value: Node<'a>,
}

/// The servers in order; `None` if this is not the configuration of a client.
pub(crate) fn servers(root: Node<'_>) -> Option<Vec<Server<'_>>> {
    let groups: Vec<Node<'_>> = PLACES
        .into_iter()
        .filter_map(|place| root.pointer(place))
        .filter(|group| group.is_object())
        .collect();
    if groups.is_empty() {
        return None;
    }
    let servers = groups.into_iter().flat_map(Node::members);
    Some(servers.map(|(name, entry)| Server { name, entry }).collect())
}

impl<'a> Server<'a> {
    pub(crate) fn name(self) -> Cow<'a, str> {
        self.name.as_str().unwrap_or_default()
    }

    pub(crate) fn is_object(self) -> bool {
        self.entry.is_object()
    }

    /// The member with that name; `Err` with the name if there are two.
    pub(crate) fn member(self, name: &'static str) -> Result<Option<Member<'a>>, &'static str> {
        let mut found = None;
        for (key, value) in self.entry.members() {
            if key.str_eq(name) && found.replace(Member { key: key.span(), value }).is_some() {
                return Err(name);
            }
        }
        Ok(found)
    }

    /// The names of all members.
    pub(crate) fn member_names(self) -> impl Iterator<Item = Cow<'a, str>> {
        self.entry.members().filter_map(|(key, _)| key.as_str())
    }
}
