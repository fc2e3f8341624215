use std::{path::PathBuf, time::Duration};

use clap::Args as ClapArgs;
use mcp_core::Revision;

use super::{ServerArgs, test::seconds, values::revision};

/// The default name of a lock file.
pub(crate) const LOCK_FILE: &str = "plumb.lock";

#[derive(Debug, ClapArgs)]
pub(crate) struct LockArgs {
    #[command(flatten)]
    pub(crate) server: ServerArgs,
    /// Lock file to write or to compare with [default: the one in plumb.toml, or plumb.lock]
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Show what differs from the lock instead of writing it; exit with 1 if anything does
    #[arg(long)]
    pub(crate) check: bool,
    /// Lock or compare only this revision; may be repeated
    #[arg(long = "revision", value_name = "REVISION", value_parser = revision())]
    pub(crate) revisions: Vec<Revision>,
    /// Seconds to wait for each answer
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub(crate) timeout: Option<Duration>,
    /// Configuration file [default: plumb.toml in this directory or the nearest parent]
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Ignore plumb.toml
    #[arg(long, conflicts_with = "config")]
    pub(crate) no_config: bool,
}

pub(super) const LOCK: &str = "\
Examples:
  plumb lock -- npx my-server              write plumb.lock
  plumb lock --check http://127.0.0.1/mcp  compare with it
  plumb test --locked -- npx my-server     test, and compare with it

The lock file is a readable copy of the server's capabilities, instructions, tools, prompts,
resources and resource templates at every revision that it supports, with digests. Commit it and
review changes to it: a tool description that changes after you approved it can be an attack.

Exit codes: 0 written or identical, 1 different, 2 could not run.";
