use std::collections::HashMap;

use mcp_core::{Era, MessageHeaders};
use mcp_json::Node;
use mcp_jsonrpc::{Envelope, MessageKind};
use mcp_rules::HeaderParams;

use crate::bridge::outline::Message;

/// Maximum number of tools to remember.
const MAX_TOOLS: usize = 1000;

/// Tool arguments that must be mirrored in headers, as the server marks them in `tools/list`.
#[derive(Debug, Default)]
pub(super) struct MarkedTools(HashMap<String, HeaderParams>);

impl MarkedTools {
    /// Remembers the marked arguments of tools in a message of the server.
    pub(super) fn learn(&mut self, root: Node<'_>) {
        let tools = root.get("result").and_then(|result| result.get("tools"));
        let Some(tools) = tools.filter(|tools| tools.is_array()) else { return };
        for tool in tools.elements() {
            let Some(name) = tool.get("name").and_then(Node::as_str) else { continue };
            let marked = tool.get("inputSchema").and_then(|schema| HeaderParams::of(schema).ok());
            match marked.filter(|marked| !marked.is_empty()) {
                Some(marked) if self.0.len() < MAX_TOOLS || self.0.contains_key(&*name) => {
                    self.0.insert(name.into_owned(), marked);
                }
                Some(_) => {}
                None => {
                    self.0.remove(&*name);
                }
            }
        }
    }

    /// The headers for a message of the client.
    pub(super) fn headers(&self, message: &Message, root: Node<'_>) -> MessageHeaders {
        let method = message.method.clone();
        let revision = message.revision.filter(|_| !message.is(MessageKind::Request, "initialize"));
        let mut headers = MessageHeaders { revision, method, ..MessageHeaders::default() };
        if revision.is_none_or(|revision| revision.era() != Era::Modern) {
            return headers;
        }
        let params = Envelope::of(root).params;
        let member = |name| params.and_then(|params| params.get(name));
        let subject = match headers.method.as_deref() {
            Some("tools/call" | "prompts/get") => member("name"),
            Some("resources/read") => member("uri"),
            _ => None,
        };
        headers.name = subject.and_then(Node::as_str).map(std::borrow::Cow::into_owned);
        if let (Some("tools/call"), Some(tool)) = (headers.method.as_deref(), &headers.name)
            && let Some(marked) = self.0.get(tool)
        {
            let arguments = member("arguments");
            headers.arguments = marked
                .iter()
                .filter_map(|param| {
                    let value = param.value(arguments)?;
                    Some((param.name().to_owned(), value.to_text().into_owned()))
                })
                .collect();
        }
        headers
    }
}
