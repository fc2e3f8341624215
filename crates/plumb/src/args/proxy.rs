use std::{ffi::OsString, path::PathBuf};

use clap::Args as ClapArgs;

use super::{JudgingArgs, OUTPUT, ReportFormat};

#[derive(Debug, ClapArgs)]
pub(crate) struct ProxyArgs {
    /// The server to start, with its arguments
    #[arg(value_name = "COMMAND", last = true, required = true)]
    pub(crate) command: Vec<OsString>,
    /// Hold back what breaks the protocol, and answer in the other side's place
    #[arg(long)]
    pub(crate) enforce: bool,
    /// Write the traffic to this file, or to a new file in this directory
    #[arg(long, value_name = "FILE|DIR")]
    pub(crate) record: Option<PathBuf>,
    /// Seconds that the server may stay silent after the client has left, before it is ended
    #[arg(long, value_name = "SECONDS", default_value_t = 5)]
    pub(crate) exit_wait: u16,
    #[command(flatten)]
    pub(crate) judging: JudgingArgs,
    /// Print findings for people, or as JSON, one per line; always on standard error
    #[arg(long, value_name = "FORMAT", default_value = "human", help_heading = OUTPUT)]
    pub(crate) format: ReportFormat,
    /// Print no findings and no summary
    #[arg(short, long, help_heading = OUTPUT)]
    pub(crate) quiet: bool,
}
