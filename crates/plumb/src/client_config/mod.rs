//! The configuration files of clients: which servers they start or connect to, and how.

mod file;
mod jsonc;
mod listed;
mod servers;
mod variables;

use mcp_json::{Limits, Node, SyntaxError, Tape};

pub(crate) use self::{
    file::ConfigFile,
    listed::{Listed, Start, listed},
    servers::{Member, Server, servers},
};

const MAX_DEPTH: usize = 128;

/// Reads a configuration, which may have comments and trailing commas. Positions in what is read are
/// those in `text`.
pub(crate) fn read<T>(text: &[u8], of: impl FnOnce(Node<'_>) -> T) -> Result<T, SyntaxError> {
    let json = jsonc::to_json(text);
    let mut tape = Tape::new();
    let document = tape.parse(&json, Limits { max_bytes: text.len(), max_depth: MAX_DEPTH })?;
    Ok(of(document.root()))
}
