use std::{ffi::OsString, path::PathBuf};

use clap::Args as ClapArgs;
use mcp_rules::redact::PointerPattern;

use super::{DiffFormat, JudgingArgs, OUTPUT};

#[derive(Debug, ClapArgs)]
pub(crate) struct ReplayArgs {
    /// Recording to replay
    #[arg(value_name = "TRACE")]
    pub(crate) trace: PathBuf,
    /// URL of the server to send it to
    #[arg(value_name = "URL", required_unless_present = "command", conflicts_with = "command")]
    pub(crate) url: Option<String>,
    /// Command that starts the server, with its arguments; started once for each conversation
    #[arg(value_name = "COMMAND", last = true)]
    pub(crate) command: Vec<OsString>,
    /// Record the new conversation to this file, or to a new file in this directory
    #[arg(long, value_name = "FILE|DIR")]
    pub(crate) record: Option<PathBuf>,
    /// Seconds to wait for each answer
    #[arg(long, value_name = "SECONDS", default_value_t = 30, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) timeout: u32,
    /// Wait before each message as long as the recorded client did
    #[arg(long)]
    pub(crate) keep_pauses: bool,
    /// Do not compare the value at this JSON pointer in messages; `*` matches any one member or
    /// element; may be repeated
    #[arg(long = "ignore", value_name = "POINTER", help_heading = COMPARED)]
    pub(crate) ignored: Vec<PointerPattern>,
    /// Also compare times, cursors and task ids
    #[arg(long, help_heading = COMPARED)]
    pub(crate) strict: bool,
    /// Compare only answers, not the server's notifications and requests
    #[arg(long, help_heading = COMPARED)]
    pub(crate) answers_only: bool,
    #[command(flatten)]
    pub(crate) judging: JudgingArgs,
    /// Output format; json prints one difference per line
    #[arg(long, value_name = "FORMAT", default_value = "human", help_heading = OUTPUT)]
    pub(crate) format: DiffFormat,
}

const COMPARED: &str = "What to compare";

pub(super) const REPLAY: &str = "\
Examples:
  plumb replay trace.jsonl -- npx my-server                 does the new version answer as before?
  plumb replay trace.jsonl http://127.0.0.1:3000/mcp
  plumb replay trace.jsonl --ignore /result/serverInfo --record new.jsonl -- ./my-server

Sends the recorded client's messages in order, each as soon as all answers that preceded it in the
recording have arrived. The server's messages, and the findings about them, are compared with the
recorded ones. Requests of the server get the recorded answers, by method and order; cursors, task
ids and the like are replaced by those of the new server.

Every request is made again, with all its effects: use a server that you can afford to change.

Exit codes: 0 identical, 1 different, 2 could not run.";
