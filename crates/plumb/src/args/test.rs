use std::{path::PathBuf, time::Duration};

use clap::Args as ClapArgs;
use mcp_probe::{Phase, Seed};

use super::{FailOn, JudgingArgs, OUTPUT, ServerArgs, TestFormat, values::fail_on};

#[derive(Debug, ClapArgs)]
pub(crate) struct TestArgs {
    #[command(flatten)]
    pub(crate) server: ServerArgs,
    /// Run this phase only; may be repeated
    #[arg(long = "phase", value_name = "PHASE", value_parser = phase, help_heading = WHAT)]
    pub(crate) phases: Vec<Phase>,
    /// Run only this probe, or those that begin with it and a slash; may be repeated
    #[arg(long, value_name = "PROBE", help_heading = WHAT)]
    pub(crate) only: Vec<String>,
    /// Leave out this probe, or those that begin with it and a slash; may be repeated
    #[arg(long, value_name = "PROBE", help_heading = WHAT)]
    pub(crate) skip: Vec<String>,
    /// What random choices follow from
    #[arg(long, value_name = "N", default_value_t = Seed::new(1), help_heading = WHAT)]
    pub(crate) seed: Seed,
    /// Also call tools that write, unless they may destroy something
    #[arg(long, help_heading = SAFETY)]
    pub(crate) allow_writes: bool,
    /// Call every tool, also those that do not say what they do
    #[arg(long, help_heading = SAFETY)]
    pub(crate) allow_destructive: bool,
    /// Call this tool, whatever it says of itself; may be repeated
    #[arg(long = "tool", value_name = "NAME", help_heading = SAFETY)]
    pub(crate) tools: Vec<String>,
    /// Never call this tool; may be repeated
    #[arg(long = "skip-tool", value_name = "NAME", help_heading = SAFETY)]
    pub(crate) skipped_tools: Vec<String>,
    /// Ask the server what it offers, and show what would be sent to it
    #[arg(long, help_heading = SAFETY)]
    pub(crate) dry_run: bool,
    /// Calls of tools, prompts and resources at most [default: 2000]
    #[arg(long, value_name = "N", help_heading = SAFETY)]
    pub(crate) max_calls: Option<u64>,
    /// Seconds for everything together; what is left then is skipped [default: 300]
    #[arg(long, value_name = "SECONDS", value_parser = seconds, help_heading = SAFETY)]
    pub(crate) time_limit: Option<Duration>,
    /// Seconds that the server may take for an answer [default: 5]
    #[arg(long, value_name = "SECONDS", value_parser = seconds, help_heading = SAFETY)]
    pub(crate) timeout: Option<Duration>,
    /// Compare what the server offers with what `plumb lock` has written [default: plumb.lock]
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true, help_heading = WHAT)]
    #[expect(clippy::option_option, reason = "the way of clap to say that the value is optional")]
    pub(crate) locked: Option<Option<PathBuf>>,
    #[command(flatten)]
    pub(crate) judging: JudgingArgs,
    /// Output format: for people, one finding per line, code scanning, test reports, workflow runs,
    /// a page
    #[arg(long, value_name = "FORMAT", default_value = "human", help_heading = OUTPUT)]
    pub(crate) format: TestFormat,
    /// The lowest severity that makes the exit code 1 [default: error]
    #[arg(long, value_name = "SEVERITY", value_parser = fail_on(), help_heading = OUTPUT)]
    pub(crate) fail_on: Option<FailOn>,
    /// Keep every conversation in this directory, as a recording that `plumb check` reads
    #[arg(long, value_name = "DIR", help_heading = OUTPUT)]
    pub(crate) record: Option<PathBuf>,
    /// Hide the findings listed in this file
    #[arg(long, value_name = "FILE", help_heading = OUTPUT)]
    pub(crate) baseline: Option<PathBuf>,
    /// Write a baseline of everything found, and do not fail on it
    #[arg(long, value_name = "FILE", conflicts_with = "baseline", help_heading = OUTPUT)]
    pub(crate) write_baseline: Option<PathBuf>,
}

const WHAT: &str = "What to test";
const SAFETY: &str = "Safety";

fn phase(text: &str) -> Result<Phase, String> {
    text.parse()
}

pub(super) fn seconds(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text.parse().map_err(|_| format!("`{text}` is not a number"))?;
    Duration::try_from_secs_f64(seconds)
        .ok()
        .filter(|duration| !duration.is_zero() && seconds < 1e6)
        .ok_or_else(|| "it must be more than 0 and less than a million".to_owned())
}

pub(super) const TEST: &str = "\
Examples:
  plumb test -- npx my-server                     a server over standard streams
  plumb test http://127.0.0.1:3000/mcp            a server at a URL
  plumb test --only requests --seed 7 -- ./server these probes again
  plumb test --allow-writes --record out -- ./server
  plumb test files                                the server of this name in plumb.toml
  plumb test                                      all servers in plumb.toml

Starts the server, finds out which revisions it speaks and what it offers, and asks it what clients
ask and what none should. Only tools that say of themselves that they only read are called, unless
told otherwise.

Exit codes: 0 nothing found, 1 findings, 2 could not run.";
