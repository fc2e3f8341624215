use std::ffi::OsString;

use clap::Args as ClapArgs;
use mcp_core::Side;

use super::{JudgingArgs, RULES, ServerOptions, values::side};

#[derive(Debug, ClapArgs)]
pub(crate) struct InspectArgs {
    /// A recording, which may still be growing, the URL of a server, or a client's configuration
    /// file with servers; without one and without a command, a built-in demonstration server
    #[arg(value_name = "TRACE|URL|CONFIG")]
    pub(crate) target: Option<OsString>,
    /// A server to start and speak to
    #[arg(last = true, value_name = "COMMAND", conflicts_with = "target")]
    pub(crate) command: Vec<OsString>,
    /// Begin with this server of the configuration file, instead of the first
    #[arg(long, value_name = "NAME", requires = "target")]
    pub(crate) server: Option<String>,
    #[command(flatten)]
    pub(crate) options: ServerOptions,
    /// Serve the page on this address
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:0")]
    pub(crate) listen: String,
    /// Listen beyond this machine: whoever knows the token can read along and speak to the server
    #[arg(long)]
    pub(crate) insecure: bool,
    /// Do not open a browser
    #[arg(long)]
    pub(crate) no_browser: bool,
    /// Who sent the messages, for files that do not say
    #[arg(long, value_name = "SIDE", value_parser = side(), help_heading = RULES)]
    pub(crate) from: Option<Side>,
    #[command(flatten)]
    pub(crate) judging: JudgingArgs,
}

pub(super) const INSPECT: &str = "\
Examples:
  plumb inspect                               a built-in server, to try things with
  plumb inspect -- ./server --option          your server, started here
  plumb inspect http://127.0.0.1:3000/mcp     your server over HTTP (or ws://)
  plumb inspect .mcp.json                     the servers of a client, to choose from
  plumb inspect trace.jsonl                   a recording, also while it grows
  plumb proxy --ui 127.0.0.1:0 -- ./server    a client's own conversation, as it happens

The address that is printed holds a token; without it nothing is shown. The page loads nothing from
anywhere else. --revision chooses the revision to open a conversation with; by default it is the
best that the server knows. Ctrl-C ends the server that was started.

Exit codes: 0 ended, 2 could not run.";
