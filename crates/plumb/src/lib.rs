//! The `plumb` command, and the only crate that decides on console wording, colours and exit codes.
//!
//! It is a library only so that parts of it can be fuzzed; everything else is private.

mod args;
mod baseline;
mod check;
mod client_config;
mod commands;
mod config;
mod diff;
mod failure;
#[cfg(fuzzing)]
pub mod fuzzing;
mod levels;
mod live;
mod logs;
mod markdown;
mod message_name;
mod names;
mod plan;
mod progress;
mod render;
mod replacement;
mod replay;
mod report;
mod selector;
mod style;
mod tail;
mod text;
mod wrap;

use std::{
    io::{self, Write as _},
    process::ExitCode,
};

use clap::Parser as _;

use crate::{
    args::{Args, Command},
    commands::Outcome,
    style::Palette,
};

/// Runs the command given on the command line. Exit code: 0 clean, 1 findings, 2 could not run. A
/// closed output pipe is not a failure.
pub fn main() -> ExitCode {
    let args = Args::parse();
    let palette = Palette::of_stderr(args.color);
    match run(args) {
        Ok(Outcome::Clean) => ExitCode::SUCCESS,
        Ok(Outcome::Findings) => ExitCode::from(1),
        Ok(Outcome::Exit(code)) => ExitCode::from(code),
        Err(error) if failure::is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            // If standard error is gone too, only the exit code is left.
            let _ = io::stderr().write_all(failure::describe(&error, &palette).as_bytes());
            ExitCode::from(2)
        }
    }
}

fn run(args: Args) -> anyhow::Result<Outcome> {
    let color = args.color;
    match args.command {
        Command::Check(args) => commands::check(&args, color),
        Command::Test(args) => commands::test(&args, color),
        Command::TestServer(args) => commands::test_server(&args),
        Command::Lock(args) => commands::lock(&args, color),
        Command::Proxy(args) => commands::proxy(*args, color),
        Command::Schema(args) => commands::schema(&args, color),
        Command::Rules(args) => commands::rules(&args, color),
        Command::Explain(args) => commands::explain(&args, color),
        Command::Wrap(args) => commands::wrap(&args, color),
        Command::Inspect(args) => commands::inspect(&args, color),
        Command::Tail(args) => commands::tail(args, color),
        Command::Diff(args) => commands::diff(&args, color),
        Command::Redact(args) => commands::redact(args),
        Command::Mock(args) => commands::mock(&args),
        Command::Replay(args) => commands::replay(&args, color),
        Command::Completions(args) => commands::completions(&args),
    }
}
