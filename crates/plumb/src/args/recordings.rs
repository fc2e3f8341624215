//! The arguments of the commands around recordings.

use std::path::PathBuf;

use clap::{Args as ClapArgs, ValueEnum};
use mcp_core::Side;
use mcp_rules::redact::PointerPattern;

use super::{JudgingArgs, RULES, values::side};

#[derive(Debug, ClapArgs)]
pub(crate) struct WrapArgs {
    /// The configuration file of a client: `mcpServers`, or `servers` as VS Code has it
    #[arg(value_name = "CLIENT-CONFIG")]
    pub(crate) config: PathBuf,
    /// Only these servers [default: all that the client starts as a process]
    #[arg(value_name = "SERVER")]
    pub(crate) servers: Vec<String>,
    /// Take the proxy out again
    #[arg(long)]
    pub(crate) undo: bool,
    /// Only show what would change
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// The plumb that the client starts [default: this one]
    #[arg(long, value_name = "PATH")]
    pub(crate) plumb: Option<String>,
    /// Options of `plumb proxy`
    #[arg(last = true, value_name = "OPTION", conflicts_with = "undo")]
    pub(crate) options: Vec<String>,
}

pub(super) const WRAP: &str = "\
Examples:
  plumb wrap claude_desktop_config.json                 all servers that are processes
  plumb wrap .vscode/mcp.json github -- --record ~/traces
  plumb wrap --dry-run .cursor/mcp.json                 only show the difference
  plumb wrap --undo claude_desktop_config.json          as it was, byte for byte

Only what has to change is changed: comments, layout and other settings stay. A server at a URL is
wrapped only if it is named, and only if that loses nothing: headers, for example, would have to
stand in an argument list, where others can read them.

Exit codes: 0 done or nothing to do, 2 could not run.";

#[derive(Debug, ClapArgs)]
pub(crate) struct RedactArgs {
    /// The recording; `-` is standard input
    #[arg(value_name = "TRACE")]
    pub(crate) trace: PathBuf,
    /// Where to write the masked recording, which may be the same file [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Also mask what this JSON pointer leads to in messages; `*` is any one member or element; may
    /// be repeated
    #[arg(long = "pointer", value_name = "POINTER")]
    pub(crate) pointers: Vec<PointerPattern>,
    /// Also mask members with this name; may be repeated
    #[arg(long = "name", value_name = "NAME")]
    pub(crate) names: Vec<String>,
    /// Also mask headers with this name; may be repeated
    #[arg(long = "header", value_name = "NAME")]
    pub(crate) headers: Vec<String>,
    /// Mask only what is asked for, not what looks like a secret
    #[arg(long)]
    pub(crate) only: bool,
}

pub(super) const REDACT: &str = "\
Examples:
  plumb redact trace.jsonl -o shared.jsonl
  plumb redact trace.jsonl --pointer '/params/arguments/*/note' > shared.jsonl
  plumb redact trace.jsonl --name customer --header X-Tenant -o trace.jsonl

Masked by default: members with names such as password, token, api_key, secret, authorization or
cookie, headers such as Authorization, Cookie and Mcp-Session-Id, credentials and secret parameters
in URLs and forms, and such members in JSON that is the text of a string.

Letters become letters and digits digits, so lengths, types and positions stay; equal values stay
equal, so `plumb check` finds the same. The replacements differ from run to run.

Exit codes: 0 done, 2 could not run.";

#[derive(Debug, ClapArgs)]
pub(crate) struct TailArgs {
    /// The recording, which may still be growing; `-` is standard input
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// Stop at the end of the file instead of waiting for more
    #[arg(long)]
    pub(crate) no_follow: bool,
    /// Who sent the messages, for files that do not say
    #[arg(long, value_name = "SIDE", value_parser = side(), help_heading = RULES)]
    pub(crate) from: Option<Side>,
    #[command(flatten)]
    pub(crate) judging: JudgingArgs,
}

pub(super) const TAIL: &str = "\
Examples:
  plumb tail trace.jsonl                  as the recorder writes it, until Ctrl-C
  plumb tail --no-follow trace.jsonl      what is there already
  my-recorder | plumb tail -

One line per message: time, direction, method, id, size and the beginning of the text; findings
stand below the message they are about.

Exit codes: 0 ended, 2 could not run.";

#[derive(Debug, ClapArgs)]
pub(crate) struct DiffArgs {
    /// The recording from one side of the middlebox
    #[arg(value_name = "A")]
    pub(crate) left: PathBuf,
    /// The recording from the other side
    #[arg(value_name = "B")]
    pub(crate) right: PathBuf,
    /// human for reading, json for programs: one difference per line
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

Messages are matched by sender, method, id and content, also if ids are rewritten, as long as that
is done consistently. Times and names of conversations are not compared.

Exit codes: 0 the same, 1 different, 2 could not run.";
