//! Adds the proxy to the configuration of a client, and removes it again.
//!
//! Only the bytes that must change are changed, so comments, layout and all other settings stay.
//! Undoing restores the original bytes from the text alone.

mod edits;
mod remote;
mod shape;
mod stdio;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use mcp_json::SyntaxError;

pub(crate) use self::edits::Edits;
use self::shape::{Entry, Inner};
use crate::{
    client_config::{self, Server, servers},
    names::UnknownName,
};

/// The proxy to insert.
#[derive(Debug, Clone)]
pub(crate) struct Proxy {
    /// The plumb executable.
    pub(crate) plumb: String,
    /// Options of `plumb proxy`.
    pub(crate) options: Vec<String>,
}

/// What to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Direction {
    Wrap,
    Undo,
}

/// The result for one server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Done {
    /// Wrapped or unwrapped.
    Changed,
    /// Already as wanted.
    AsWanted,
    /// Not changed, with the reason.
    LeftAlone(String),
}

/// The changes to make, and the result for each server concerned.
#[derive(Debug, Clone, Default)]
pub(crate) struct Plan {
    pub(crate) edits: Edits,
    pub(crate) servers: Vec<(String, Done)>,
}

/// Why a configuration cannot be changed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum WrapError {
    #[error("{kind}, on line {line}, column {column}", kind = .0.kind, line = .1.line, column = .1.column)]
    Syntax(SyntaxError, mcp_json::Position),
    #[error(
        "it has neither `mcpServers` nor `servers`, so it is not the configuration of a client"
    )]
    NoServers,
    #[error(transparent)]
    Unknown(#[from] UnknownName),
    #[error("`{0}` cannot be wrapped: {1}")]
    Refused(String, String),
    #[error("the result would no longer be valid JSON ({0}), so nothing was changed")]
    Broken(SyntaxError),
}

/// What to change in `text`. Without `names` all servers are concerned; remote ones are wrapped only
/// if they are named, since the client may sign in to them by itself.
pub(crate) fn plan(
    text: &[u8],
    names: &[String],
    direction: Direction,
    proxy: &Proxy,
) -> Result<Plan, WrapError> {
    let plan = client_config::read(text, |root| {
        let servers = servers(root).ok_or(WrapError::NoServers)?;
        plan_all(text, &servers, names, direction, proxy)
    })
    .map_err(|error| WrapError::Syntax(error, error.position(text)))??;
    client_config::read(&plan.edits.apply(text), |_| ()).map_err(WrapError::Broken)?;
    Ok(plan)
}

fn plan_all(
    text: &[u8],
    servers: &[Server<'_>],
    names: &[String],
    direction: Direction,
    proxy: &Proxy,
) -> Result<Plan, WrapError> {
    let known: Vec<_> = servers.iter().map(|server| server.name()).collect();
    for name in names {
        if !known.iter().any(|known| known == name) {
            let candidates = known.iter().map(AsRef::as_ref);
            return Err(UnknownName::new("server", name, candidates).into());
        }
    }
    let chosen: BTreeSet<&str> = names.iter().map(String::as_str).collect();
    let mut plan = Plan::default();
    for server in servers {
        let name = server.name();
        let is_named = chosen.contains(name.as_ref());
        if !chosen.is_empty() && !is_named {
            continue;
        }
        let done = match change(text, *server, is_named, direction, proxy) {
            Ok(Some(edits)) => {
                plan.edits.extend(edits);
                Done::Changed
            }
            Ok(None) => Done::AsWanted,
            Err(reason) if is_named => return Err(WrapError::Refused(name.into_owned(), reason)),
            Err(reason) => Done::LeftAlone(reason),
        };
        plan.servers.push((name.into_owned(), done));
    }
    Ok(plan)
}

/// The changes to one server; `None` if there is nothing to do, `Err` with the reason if it cannot
/// be changed.
fn change(
    text: &[u8],
    server: Server<'_>,
    is_named: bool,
    direction: Direction,
    proxy: &Proxy,
) -> Result<Option<Edits>, String> {
    if !server.is_object() {
        return Err("it is not an object".to_owned());
    }
    let entry = Entry::of(server).map_err(|name| format!("it has `{name}` twice"))?;
    match (entry.wrapped(proxy), direction) {
        (Some(_), Direction::Wrap) | (None, Direction::Undo) => Ok(None),
        (Some(wrapped), Direction::Undo) => match wrapped.inner {
            Inner::Command(command, next) => Ok(Some(stdio::undo(text, &wrapped, command, next))),
            Inner::Url(url) => remote::undo(text, &entry, &wrapped, url).map(Some),
        },
        (None, Direction::Wrap) if entry.command.is_none() && entry.url.is_some() => {
            if !is_named {
                return Err("it is remote; name it to wrap it".to_owned());
            }
            remote::wrap(text, &entry, proxy).map(Some)
        }
        (None, Direction::Wrap) => stdio::wrap(text, &entry, proxy).map(Some),
    }
}

impl Proxy {
    /// Whether `command` runs plumb.
    fn is(&self, command: &str) -> bool {
        let name = command.rsplit(['/', '\\']).next().unwrap_or(command);
        let name = name.strip_suffix(".exe").unwrap_or(name);
        command == self.plumb || name == "plumb" || name.starts_with("plumb-")
    }

    /// The executable as a JSON string.
    fn command(&self) -> Vec<u8> {
        json_string(&self.plumb)
    }

    /// The first arguments, as JSON strings.
    fn arguments(&self) -> Vec<Vec<u8>> {
        let options = self.options.iter().map(String::as_str);
        std::iter::once("proxy").chain(options).map(json_string).collect()
    }
}

fn json_string(text: &str) -> Vec<u8> {
    serde_json::Value::from(text).to_string().into_bytes()
}
