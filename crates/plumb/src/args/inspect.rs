use std::ffi::OsString;

use clap::Args as ClapArgs;
use mcp_core::Side;

use super::{JudgingArgs, RULES, ServerOptions, values::side};

#[derive(Debug, ClapArgs)]
pub(crate) struct InspectArgs {
    /// Recording to show (it may still be growing), URL of a server, or configuration file of a
    /// client [default: a built-in demonstration server]
    #[arg(value_name = "TRACE|URL|CONFIG")]
    pub(crate) target: Option<OsString>,
    /// Command that starts a server to talk to
    #[arg(last = true, value_name = "COMMAND", conflicts_with = "target")]
    pub(crate) command: Vec<OsString>,
    /// Server in the configuration file to start with [default: the first]
    #[arg(long, value_name = "NAME", requires = "target")]
    pub(crate) server: Option<String>,
    #[command(flatten)]
    pub(crate) options: ServerOptions,
    /// Serve the page on this address
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:0")]
    pub(crate) listen: String,
    /// Allow listening beyond this machine: anyone who has the token can see the traffic and talk
    /// to the server
    #[arg(long)]
    pub(crate) insecure: bool,
    /// Do not open a browser
    #[arg(long)]
    pub(crate) no_browser: bool,
    /// The side that sent the messages, for files that do not say
    #[arg(long, value_name = "SIDE", value_parser = side(), help_heading = RULES)]
    pub(crate) from: Option<Side>,
    #[command(flatten)]
    pub(crate) judging: JudgingArgs,
}

pub(super) const INSPECT: &str = "\
Examples:
  plumb inspect                               a built-in server to try things out on
  plumb inspect -- ./server --option          your server, started here
  plumb inspect http://127.0.0.1:3000/mcp     your server over HTTP (or ws://)
  plumb inspect .mcp.json                     a client's servers, to choose from
  plumb inspect trace.jsonl                   a recording, even while it grows
  plumb proxy --ui 127.0.0.1:0 -- ./server    a client's own conversation, live

The address that is printed contains a token, without which the page shows nothing. The page loads
nothing from other sites. --revision sets the revision to request from the server; by default it is
the newest that the server supports. Ctrl-C also ends the server that was started.

Exit codes: 0 stopped, 2 could not run.";
