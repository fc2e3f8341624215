use std::time::Duration;

/// Limits of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "built by the command line, member by member")]
pub struct Limits {
    /// Time limit for the whole run. What has not been tested by then is reported as skipped.
    pub time: Duration,
    /// Time limit for starting and answering for the first time.
    pub start: Duration,
    /// Time limit for any other answer.
    pub answer: Duration,
    /// Time limit for exiting after the input was closed.
    pub exit: Duration,
    /// How long to wait for messages that should not come.
    pub quiet: Duration,
    /// Maximum number of tool calls, prompt requests and resource reads.
    pub calls: u64,
    /// Maximum size of a message in either direction, in bytes.
    pub message_bytes: usize,
    /// Maximum size of one recording, in bytes; beyond it the conversation is ended.
    pub recording_bytes: usize,
    /// Maximum bytes of standard error to keep.
    pub stderr_bytes: usize,
    /// Maximum pages of a list.
    pub pages: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            time: Duration::from_secs(300),
            start: Duration::from_secs(30),
            answer: Duration::from_secs(5),
            exit: Duration::from_secs(5),
            quiet: Duration::from_millis(250),
            calls: 2_000,
            message_bytes: 16 << 20,
            recording_bytes: 64 << 20,
            stderr_bytes: 64 << 10,
            pages: 100,
        }
    }
}
