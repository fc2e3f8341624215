use std::{ffi::OsString, path::PathBuf};

use clap::Args as ClapArgs;
use mcp_rules::redact::PointerPattern;

use super::{DiffFormat, JudgingArgs, OUTPUT};

#[derive(Debug, ClapArgs)]
pub(crate) struct ReplayArgs {
    /// The recording
    #[arg(value_name = "TRACE")]
    pub(crate) trace: PathBuf,
    /// The server to send it to, at a URL
    #[arg(value_name = "URL", required_unless_present = "command", conflicts_with = "command")]
    pub(crate) url: Option<String>,
    /// The server to start instead, with its arguments; once for each conversation
    #[arg(value_name = "COMMAND", last = true)]
    pub(crate) command: Vec<OsString>,
    /// Keep the new conversation in this file, or in a new file in this directory
    #[arg(long, value_name = "FILE|DIR")]
    pub(crate) record: Option<PathBuf>,
    /// Seconds that the server may take for an answer
    #[arg(long, value_name = "SECONDS", default_value_t = 30, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) timeout: u32,
    /// Wait before each message as long as the recorded client did, for servers that need time
    #[arg(long)]
    pub(crate) keep_pauses: bool,
    /// Do not compare what this JSON pointer leads to in messages; `*` is any one member or element;
    /// may be repeated
    #[arg(long = "ignore", value_name = "POINTER", help_heading = COMPARED)]
    pub(crate) ignored: Vec<PointerPattern>,
    /// Compare times, cursors and ids of tasks too
    #[arg(long, help_heading = COMPARED)]
    pub(crate) strict: bool,
    /// Compare only answers, not the notifications and requests of the server
    #[arg(long, help_heading = COMPARED)]
    pub(crate) answers_only: bool,
    #[command(flatten)]
    pub(crate) judging: JudgingArgs,
    /// human for reading, json for programs: one difference per line
    #[arg(long, value_name = "FORMAT", default_value = "human", help_heading = OUTPUT)]
    pub(crate) format: DiffFormat,
}

const COMPARED: &str = "What to compare";

pub(super) const REPLAY: &str = "\
Examples:
  plumb replay trace.jsonl -- npx my-server                 does the new version answer as before?
  plumb replay trace.jsonl http://127.0.0.1:3000/mcp
  plumb replay trace.jsonl --ignore /result/serverInfo --record new.jsonl -- ./my-server

Sends what the recorded client sent, in its order: each message as soon as every answer has come
that had come before it in the recording. What the server says now is compared with what it said
then, and so is what is wrong with it. Its own requests get the recorded answers, by method and
order; cursors, ids of tasks and the like are those of the new server.

Every request is made again, with all that it does: use a server that you may change.

Exit codes: 0 the same, 1 different, 2 could not run.";
