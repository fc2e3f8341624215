//! The arguments of `wrap`, `redact`, `tail` and `diff`.

use std::path::PathBuf;

use clap::{Args as ClapArgs, ValueEnum};
use mcp_core::Side;
use mcp_rules::redact::PointerPattern;

use super::{JudgingArgs, RULES, values::side};

#[derive(Debug, ClapArgs)]
pub(crate) struct WrapArgs {
    /// Configuration file of a client, with `mcpServers`, or `servers` as in VS Code
    #[arg(value_name = "CLIENT-CONFIG")]
    pub(crate) config: PathBuf,
    /// Servers to change [default: all that the client starts as a process]
    #[arg(value_name = "SERVER")]
    pub(crate) servers: Vec<String>,
    /// Remove the proxy again
    #[arg(long)]
    pub(crate) undo: bool,
    /// Show what would change, without changing it
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Path of the plumb that the client starts [default: this one]
    #[arg(long, value_name = "PATH")]
    pub(crate) plumb: Option<String>,
    /// Options to pass to `plumb proxy`
    #[arg(last = true, value_name = "OPTION", conflicts_with = "undo")]
    pub(crate) options: Vec<String>,
}

pub(super) const WRAP: &str = "\
Examples:
  plumb wrap claude_desktop_config.json                 all servers that the client starts
  plumb wrap .vscode/mcp.json github -- --record ~/traces
  plumb wrap --dry-run .cursor/mcp.json                 show the difference only
  plumb wrap --undo claude_desktop_config.json          as it was, byte for byte

Comments, layout and other settings stay as they are. A server at a URL is wrapped only if you name
it, and only if nothing is lost by it: its headers, for example, would have to go on a command
line, where other users can read them.

Exit codes: 0 changed or nothing to change, 2 could not run.";

#[derive(Debug, ClapArgs)]
pub(crate) struct RedactArgs {
    /// Recording to mask; `-` for standard input
    #[arg(value_name = "TRACE")]
    pub(crate) trace: PathBuf,
    /// File to write the masked recording to; it may be TRACE itself [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Also mask the value at this JSON pointer in every message; `*` matches any one member or
    /// element; may be repeated
    #[arg(long = "pointer", value_name = "POINTER")]
    pub(crate) pointers: Vec<PointerPattern>,
    /// Also mask members with this name; may be repeated
    #[arg(long = "name", value_name = "NAME")]
    pub(crate) names: Vec<String>,
    /// Also mask headers with this name; may be repeated
    #[arg(long = "header", value_name = "NAME")]
    pub(crate) headers: Vec<String>,
    /// Mask only what the other options name, not likely secrets
    #[arg(long)]
    pub(crate) only: bool,
}

pub(super) const REDACT: &str = "\
Examples:
  plumb redact trace.jsonl -o shared.jsonl
  plumb redact trace.jsonl --pointer '/params/arguments/*/note' > shared.jsonl
  plumb redact trace.jsonl --name customer --header X-Tenant -o trace.jsonl

Masked by default: members with names such as password, token, api_key, secret, authorization or
cookie; headers such as Authorization, Cookie and Mcp-Session-Id; credentials and secret parameters
in URLs and forms; and members with such names in JSON inside strings.

Letters are replaced by letters and digits by digits, so lengths, types and positions stay the same.
Equal values stay equal, so `plumb check` finds the same. Replacements differ from run to run.

Exit codes: 0 done, 2 could not run.";

#[derive(Debug, ClapArgs)]
pub(crate) struct TailArgs {
    /// Recording to follow; `-` for standard input
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// Stop at the end of the file instead of waiting for more
    #[arg(long)]
    pub(crate) no_follow: bool,
    /// The side that sent the messages, for files that do not say
    #[arg(long, value_name = "SIDE", value_parser = side(), help_heading = RULES)]
    pub(crate) from: Option<Side>,
    #[command(flatten)]
    pub(crate) judging: JudgingArgs,
}

pub(super) const TAIL: &str = "\
Examples:
  plumb tail trace.jsonl                  as it is written, until Ctrl-C
  plumb tail --no-follow trace.jsonl      what is in the file now
  my-recorder | plumb tail -

Prints one line per message: time, direction, method, id, size and the beginning of the text.
Findings follow the message that they are about.

Exit codes: 0 finished, 2 could not run.";

#[derive(Debug, ClapArgs)]
pub(crate) struct DiffArgs {
    /// Recording from one side of the middlebox
    #[arg(value_name = "A")]
    pub(crate) left: PathBuf,
    /// Recording from the other side
    #[arg(value_name = "B")]
    pub(crate) right: PathBuf,
    /// Output format; json prints one difference per line
    #[arg(long, value_name = "FORMAT", default_value = "human")]
    pub(crate) format: DiffFormat,
}

/// How `diff` reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum DiffFormat {
    Human,
    Json,
}

pub(super) const DIFF: &str = "\
Examples:
  plumb diff before-gateway.jsonl behind-gateway.jsonl
  plumb diff a.jsonl b.jsonl --format json | jq 'select(.kind == \"changed\")'

Messages are matched by sender, method, id and content, even if ids are rewritten, as long as they
are rewritten consistently. Times and the names of conversations are not compared.

Exit codes: 0 identical, 1 different, 2 could not run.";
