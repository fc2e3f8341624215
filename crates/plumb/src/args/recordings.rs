//! The arguments of the commands around recordings.

use std::path::PathBuf;

use clap::Args as ClapArgs;
use mcp_rules::redact::PointerPattern;

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
  plumb wrap .vscode/mcp.json github -- --record /tmp/traces
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
