use std::time::Duration;

use mcp_core::Revision;

use crate::Limits;

/// Settings of a client test.
#[derive(Debug, Clone)]
#[expect(clippy::exhaustive_structs, reason = "built by the command line, member by member")]
pub struct ClientSettings {
    /// Limits of the run.
    pub limits: Limits,
    /// How long to wait for further messages of a client that does not exit.
    pub idle: Duration,
    /// Scenarios to run: those with one of these names, or below one; empty for all.
    pub only: Vec<String>,
    /// Scenarios to skip, named in the same way.
    pub skip: Vec<String>,
    /// The revisions to test at. Empty for all; most scenarios only run at the newest of each era.
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
