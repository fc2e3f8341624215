use std::path::PathBuf;

use clap::Args as ClapArgs;

#[derive(Debug, ClapArgs)]
pub(crate) struct MockArgs {
    /// Recording to serve
    #[arg(value_name = "TRACE")]
    pub(crate) trace: PathBuf,
    /// Serve Streamable HTTP on this address, instead of one client on standard input and output
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) listen: Option<String>,
    /// Allow listening beyond this machine: anyone who can reach the address can read the recording
    #[arg(long, requires = "listen")]
    pub(crate) insecure: bool,
    /// Seconds to wait for the client to answer a recorded request of the server
    #[arg(long, value_name = "SECONDS", default_value_t = 30)]
    pub(crate) answer_wait: u16,
    /// Maximum memory for the recording, in MiB
    #[arg(long, value_name = "MIB", default_value_t = 256)]
    pub(crate) memory: u32,
}

pub(super) const MOCK: &str = "\
Examples:
  plumb mock trace.jsonl                            over stdio, for a client's configuration
  plumb mock trace.jsonl --listen 127.0.0.1:8080    at http://127.0.0.1:8080/mcp

Requests are matched by method and params; answers carry the ids and progress tokens of the client
that asks. A repeated request gets the recorded answers in order, then the last one again. A request
that was never recorded gets error -32603, which names the closest recorded request.

Notifications and requests that the server sent before an answer are sent before it again, and the
client has to answer the requests.

Exit codes: 0 stopped, 2 could not run.";
