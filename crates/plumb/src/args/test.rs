use std::{path::PathBuf, time::Duration};

use clap::Args as ClapArgs;
use mcp_probe::{Phase, Seed};

use super::{FailOn, JudgingArgs, OUTPUT, ServerArgs, TestFormat, values::fail_on};

#[derive(Debug, ClapArgs)]
#[expect(clippy::struct_excessive_bools, reason = "each is a command-line flag")]
pub(crate) struct TestArgs {
    #[command(flatten)]
    pub(crate) server: ServerArgs,
    /// Test a client: COMMAND starts it, and it talks to a scripted server
    #[arg(long, requires = "command", help_heading = CLIENT)]
    pub(crate) client: bool,
    /// Talk to the client over its own standard input and output, as if it had started the server
    #[arg(long, requires = "client", help_heading = CLIENT)]
    pub(crate) stdio: bool,
    /// Seconds of silence after which a client that does not exit counts as finished
    #[arg(long, value_name = "SECONDS", default_value = "1", value_parser = seconds, requires = "client", help_heading = CLIENT)]
    pub(crate) idle: Duration,
    /// Run only this phase: protocol, tools or stateful; may be repeated
    #[arg(long = "phase", value_name = "PHASE", value_parser = phase, help_heading = WHAT)]
    pub(crate) phases: Vec<Phase>,
    /// Run only this probe, or all probes below it (`ids` runs `ids/zero`); may be repeated
    #[arg(long, value_name = "PROBE", help_heading = WHAT)]
    pub(crate) only: Vec<String>,
    /// Skip this probe, or all probes below it; may be repeated
    #[arg(long, value_name = "PROBE", help_heading = WHAT)]
    pub(crate) skip: Vec<String>,
    /// Seed for random choices
    #[arg(long, value_name = "N", default_value_t = Seed::new(1), help_heading = WHAT)]
    pub(crate) seed: Seed,
    /// Also call tools that write, unless they may be destructive
    #[arg(long, help_heading = SAFETY)]
    pub(crate) allow_writes: bool,
    /// Call every tool, even those that may be destructive
    #[arg(long, help_heading = SAFETY)]
    pub(crate) allow_destructive: bool,
    /// Call this tool whatever its annotations say; may be repeated
    #[arg(long = "tool", value_name = "NAME", help_heading = SAFETY)]
    pub(crate) tools: Vec<String>,
    /// Never call this tool; may be repeated
    #[arg(long = "skip-tool", value_name = "NAME", help_heading = SAFETY)]
    pub(crate) skipped_tools: Vec<String>,
    /// Only ask the server what it offers, and show what would be sent
    #[arg(long, help_heading = SAFETY)]
    pub(crate) dry_run: bool,
    /// Maximum number of tool calls, prompt requests and resource reads [default: 2000]
    #[arg(long, value_name = "N", help_heading = SAFETY)]
    pub(crate) max_calls: Option<u64>,
    /// Seconds for the whole run; what is left after that is skipped [default: 300]
    #[arg(long, value_name = "SECONDS", value_parser = seconds, help_heading = SAFETY)]
    pub(crate) time_limit: Option<Duration>,
    /// Seconds to wait for each answer [default: 5]
    #[arg(long, value_name = "SECONDS", value_parser = seconds, help_heading = SAFETY)]
    pub(crate) timeout: Option<Duration>,
    /// Compare what the server offers with a lock file written by `plumb lock` [default:
    /// plumb.lock]
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true, help_heading = WHAT)]
    #[expect(clippy::option_option, reason = "the way of clap to say that the value is optional")]
    pub(crate) locked: Option<Option<PathBuf>>,
    #[command(flatten)]
    pub(crate) judging: JudgingArgs,
    /// Output format: human, JSON Lines, SARIF for code scanning, test reports in XML, GitHub
    /// annotations, or an HTML page
    #[arg(long, value_name = "FORMAT", default_value = "human", help_heading = OUTPUT)]
    pub(crate) format: TestFormat,
    /// Lowest severity that sets exit code 1 [default: error]
    #[arg(long, value_name = "SEVERITY", value_parser = fail_on(), help_heading = OUTPUT)]
    pub(crate) fail_on: Option<FailOn>,
    /// Record every conversation to a file in this directory, for `plumb check`
    #[arg(long, value_name = "DIR", help_heading = OUTPUT)]
    pub(crate) record: Option<PathBuf>,
    /// Hide the findings listed in this file
    #[arg(long, value_name = "FILE", help_heading = OUTPUT)]
    pub(crate) baseline: Option<PathBuf>,
    /// Write all findings to this baseline file, and exit with 0
    #[arg(long, value_name = "FILE", conflicts_with = "baseline", help_heading = OUTPUT)]
    pub(crate) write_baseline: Option<PathBuf>,
}

/// The address and token by which the server that a client under test starts reaches the test.
#[derive(Debug, ClapArgs)]
pub(crate) struct TestServerArgs {
    pub(crate) address: String,
    pub(crate) token: String,
}

const WHAT: &str = "What to test";
const CLIENT: &str = "Testing a client";
const SAFETY: &str = "Safety";

fn phase(text: &str) -> Result<Phase, String> {
    text.parse()
}

pub(super) fn seconds(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text.parse().map_err(|_| format!("`{text}` is not a number"))?;
    Duration::try_from_secs_f64(seconds)
        .ok()
        .filter(|duration| !duration.is_zero() && seconds < 1e6)
        .ok_or_else(|| "must be more than 0 and less than a million".to_owned())
}

pub(super) const TEST: &str = "\
Examples:
  plumb test -- npx my-server                     a server over standard streams
  plumb test http://127.0.0.1:3000/mcp            a server at a URL
  plumb test --only requests --seed 7 -- ./server repeat these probes
  plumb test --allow-writes --record out -- ./server
  plumb test files                                the server with this name in plumb.toml
  plumb test                                      all servers in plumb.toml
  plumb test --client -- my-client {server}       a client that starts a server
  plumb test --client -- my-client --url {url}    a client that connects to one

Starts the server, finds out which revisions it supports and what it offers, then sends requests
that clients send, and some that no client should. By default, only tools that are annotated as
read-only are called.

With --client, the client is started once for each scenario. {server} is replaced by the command of
a scripted server: as separate arguments, or within a longer argument as one line for a shell.
{url} is replaced by its URL. The environment variables PLUMB_SERVER and PLUMB_URL hold the same.

Exit codes: 0 nothing found, 1 findings (see --fail-on), 2 could not run.";
