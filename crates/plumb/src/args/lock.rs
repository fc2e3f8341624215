use std::{path::PathBuf, time::Duration};

use clap::Args as ClapArgs;
use mcp_core::Revision;

use super::{ServerArgs, test::seconds, values::revision};

/// The file that a lock is kept in.
pub(crate) const LOCK_FILE: &str = "plumb.lock";

#[derive(Debug, ClapArgs)]
pub(crate) struct LockArgs {
    #[command(flatten)]
    pub(crate) server: ServerArgs,
    /// The file to write, or to compare with [default: that of plumb.toml, or plumb.lock]
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Write nothing; show what differs from the lock, with exit code 1 if anything does
    #[arg(long)]
    pub(crate) check: bool,
    /// Only this revision; may be repeated
    #[arg(long = "revision", value_name = "REVISION", value_parser = revision())]
    pub(crate) revisions: Vec<Revision>,
    /// Seconds that the server may take for an answer
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub(crate) timeout: Option<Duration>,
    /// Read this file instead of the plumb.toml here or in a parent directory
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Read no plumb.toml
    #[arg(long, conflicts_with = "config")]
    pub(crate) no_config: bool,
}

pub(super) const LOCK: &str = "\
Examples:
  plumb lock -- npx my-server              write plumb.lock
  plumb lock --check http://127.0.0.1/mcp  compare with it
  plumb test --locked -- npx my-server     test, and compare with it

The lock has a readable copy of the capabilities, instructions, tools, prompts, resources and
resource templates of the server at every revision that it speaks, with digests. Commit it, and
review its differences: descriptions that change under your feet are an attack.

Exit codes: 0 written or the same, 1 different, 2 could not run.";
