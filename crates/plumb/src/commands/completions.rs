use std::io::{self, Write as _};

use clap::CommandFactory as _;

use super::Outcome;
use crate::args::{Args, CompletionsArgs};

/// Writes a completion script.
pub(crate) fn completions(args: &CompletionsArgs) -> anyhow::Result<Outcome> {
    // `generate` panics when it cannot write, so it gets a buffer.
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Args::command(), "plumb", &mut script);
    let mut stdout = io::stdout().lock();
    stdout.write_all(&script)?;
    stdout.flush()?;
    Ok(Outcome::Clean)
}
