use std::path::PathBuf;

use clap::Args as ClapArgs;

#[derive(Debug, ClapArgs)]
pub(crate) struct MockArgs {
    /// The recording
    #[arg(value_name = "TRACE")]
    pub(crate) trace: PathBuf,
    /// Serve Streamable HTTP on this address, instead of one client on the standard streams
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) listen: Option<String>,
    /// Listen beyond this machine: whoever reaches the address can read the recording
    #[arg(long, requires = "listen")]
    pub(crate) insecure: bool,
    /// Seconds that a client may take to answer a recorded request of the server
    #[arg(long, value_name = "SECONDS", default_value_t = 30)]
    pub(crate) answer_wait: u16,
    /// How much of the recording may be kept in memory, in MiB
    #[arg(long, value_name = "MIB", default_value_t = 256)]
    pub(crate) memory: u32,
}

pub(super) const MOCK: &str = "\
Examples:
  plumb mock trace.jsonl                            on the standard streams, for a client's settings
  plumb mock trace.jsonl --listen 127.0.0.1:8080    at http://127.0.0.1:8080/mcp

Requests are matched by method and params; ids and progress tokens are those of the client that
asks. The same request gets the recorded answers in their order, and then the last one again. What
was never recorded gets error -32603, which names the nearest request that was.

Notifications and requests that the server sent before an answer are sent before it again; the
client has to answer the requests.

Exit codes: 0 ended, 2 could not run.";
