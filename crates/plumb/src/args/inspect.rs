use std::path::PathBuf;

use clap::Args as ClapArgs;
use mcp_core::Side;

use super::{JudgingArgs, RULES, values::side};

#[derive(Debug, ClapArgs)]
pub(crate) struct InspectArgs {
    /// The recording, which may still be growing
    #[arg(value_name = "TRACE")]
    pub(crate) trace: PathBuf,
    /// Serve the page on this address
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:0")]
    pub(crate) listen: String,
    /// Listen beyond this machine: whoever knows the token can read the recording
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
  plumb inspect trace.jsonl                   a recording, also while it grows
  plumb proxy --ui 127.0.0.1:0 -- ./server    a client's own conversation, as it happens

The address that is printed holds a token; without it nothing is shown. The page loads nothing from
anywhere else.

Exit codes: 0 ended, 2 could not run.";
