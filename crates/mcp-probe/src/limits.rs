use std::time::Duration;

/// How much a run may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "built by the command line, member by member")]
pub struct Limits {
    /// Everything together. What has not been tested by then is skipped, and said so.
    pub time: Duration,
    /// The time a server may take to start and answer for the first time.
    pub start: Duration,
    /// The time it may take for any other answer.
    pub answer: Duration,
    /// The time it may take to exit after its input was closed.
    pub exit: Duration,
    /// How long to wait for what should not come.
    pub quiet: Duration,
    /// Calls of tools, prompts and resources.
    pub calls: u64,
    /// Bytes of a message, either way.
    pub message_bytes: usize,
    /// Bytes of one recording; a server that says more is cut off.
    pub recording_bytes: usize,
    /// Bytes of standard error that are kept.
    pub stderr_bytes: usize,
    /// Pages of a list.
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
