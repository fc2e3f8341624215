use std::sync::Arc;

use mcp_rules::Finding;

use crate::Recording;

/// A fault of the server or client under test.
#[derive(Debug, Clone)]
#[expect(clippy::exhaustive_structs, reason = "whoever reports it needs everything")]
pub struct Failure {
    /// The finding, with its rule and line of the recording.
    pub finding: Finding,
    /// The recording of the conversation.
    pub recording: Arc<Recording>,
    /// The last lines of standard error, if the server died or does not answer.
    pub stderr: Option<String>,
}
