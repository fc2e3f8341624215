use std::sync::Arc;

use mcp_rules::Finding;

use crate::Recording;

/// Something that is wrong with the server.
#[derive(Debug, Clone)]
#[expect(clippy::exhaustive_structs, reason = "whoever reports it needs everything")]
pub struct Failure {
    /// What is wrong, by which rule, and on which line of the recording.
    pub finding: Finding,
    /// The conversation in which it was seen.
    pub recording: Arc<Recording>,
    /// The last lines of standard error, if the server has died or does not answer.
    pub stderr: Option<String>,
}
