use std::time::Duration;

use mcp_core::Revision;

use crate::Limits;

/// How to test a client.
#[derive(Debug, Clone)]
#[expect(clippy::exhaustive_structs, reason = "built by the command line, member by member")]
pub struct ClientSettings {
    /// How much to do at most.
    pub limits: Limits,
    /// How long a client that stays is given to do something more.
    pub idle: Duration,
    /// Only scenarios whose name is one of these, or begins with one and a `/`; empty for all.
    pub only: Vec<String>,
    /// Scenarios to leave out, named in the same way.
    pub skip: Vec<String>,
    /// The revisions to test at; empty for all, and for most scenarios the newest of each era.
    pub revisions: Vec<Revision>,
}

impl Default for ClientSettings {
    fn default() -> Self {
        ClientSettings {
            limits: Limits::default(),
            idle: Duration::from_secs(1),
            only: Vec::new(),
            skip: Vec::new(),
            revisions: Vec::new(),
        }
    }
}
