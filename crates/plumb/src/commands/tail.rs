use std::{
    io::{self, Read},
    path::{Path, PathBuf},
    process, thread,
    time::Duration,
};

use mcp_rules::{Engine, Origin};

use super::{Outcome, notes::Notes};
use crate::{
    args::{Color, TailArgs},
    config::Config,
    failure::Failure,
    line_stream::LineStream,
    live::LiveView,
    plan::{JudgingPlan, Verbosity},
    style::{Palette, stdout_width},
    tail::{Growing, Growth, Tail, TailError},
    text::shown_path,
};

/// How often to look for more.
const POLL: Duration = Duration::from_millis(100);

/// Shows the messages of a recording as it is written.
pub(crate) fn tail(args: TailArgs, color: Color) -> anyhow::Result<Outcome> {
    let TailArgs { file, no_follow, from, judging } = args;
    let config = Config::chosen(&judging)?;
    let plan = JudgingPlan::new(&judging, &config)?;
    let notes = Notes::new(Palette::of_stderr(color), Verbosity::Normal);
    let schemas = notes.load(&plan.overrides, plan.overrides_required)?;
    notes.without_effect(&plan.without_effect);
    let mut origin = Origin::default();
    origin.revision = plan.forced_revision;
    origin.from = from;
    origin.from_start = config.from_start.unwrap_or(false);
    let engine = Engine::new(schemas, plan.settings);
    let name = shown_path(&file);
    let view = LiveView { palette: Palette::of_stdout(color), width: stdout_width() };
    end_on_interrupt()?;
    if file == Path::new("-") {
        let tail = Tail::new(&engine, origin, view, io::stdout());
        show_to_end(tail, io::stdin(), "standard input")?;
        return Ok(Outcome::Clean);
    }
    let unreadable = |error| Failure::new(format!("could not open {name}")).because(error);
    if no_follow {
        let growing = Growing::open(file).map_err(unreadable)?;
        let growing = growing.ok_or_else(|| unreadable(io::ErrorKind::NotFound.into()))?;
        show_to_end(Tail::new(&engine, origin, view, io::stdout()), growing, &name)?;
        return Ok(Outcome::Clean);
    }
    let mut path = file;
    loop {
        let growing = open_when_there(&notes, &path, &name).map_err(unreadable)?;
        let view = LiveView { width: stdout_width(), ..view };
        let tail = Tail::new(&engine, origin, view, io::stdout());
        path = follow(&notes, tail, growing, &name)?;
    }
}

fn show_to_end(
    mut tail: Tail<'_, io::Stdout>,
    source: impl Read,
    name: &str,
) -> anyhow::Result<()> {
    let mut lines = LineStream::new(source, tail.max_line());
    tail.show_all(&mut lines).map_err(|error| broken(error, name))?;
    Ok(tail.finish(&mut lines)?)
}

/// Shows a file until another one takes its place, or until it begins anew.
fn follow(
    notes: &Notes,
    mut tail: Tail<'_, io::Stdout>,
    growing: Growing,
    name: &str,
) -> anyhow::Result<PathBuf> {
    let mut lines = LineStream::new(growing, tail.max_line());
    loop {
        tail.show_all(&mut lines).map_err(|error| broken(error, name))?;
        let growth = lines.source().growth();
        match growth.map_err(|error| broken(TailError::Read(error), name))? {
            Growth::Same => thread::sleep(POLL),
            Growth::Truncated => {
                notes.note(&format!("{name} was cut off; it is read from its start"));
                return Ok(lines.into_source().into_path());
            }
            Growth::Replaced => {
                notes.note(&format!("{name} was replaced; the new file is read from its start"));
                return Ok(lines.into_source().into_path());
            }
        }
    }
}

fn open_when_there(notes: &Notes, path: &Path, name: &str) -> io::Result<Growing> {
    let mut has_waited = false;
    loop {
        if let Some(growing) = Growing::open(path.to_owned())? {
            return Ok(growing);
        }
        if !std::mem::replace(&mut has_waited, true) {
            notes.note(&format!("waiting for {name}, which does not exist yet"));
        }
        thread::sleep(POLL);
    }
}

fn broken(error: TailError, name: &str) -> anyhow::Error {
    match error {
        TailError::Read(error) => {
            Failure::new(format!("could not read {name}")).because(error).into()
        }
        TailError::Write(error) => error.into(),
    }
}

/// Ends the process with exit code 0 on Ctrl-C, between two lines.
fn end_on_interrupt() -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build()?;
    // From here on, not only once the thread runs.
    let mut interrupts = {
        let _inside = runtime.enter();
        interrupts()?
    };
    thread::spawn(move || {
        if runtime.block_on(interrupts.recv()).is_some() {
            let _between_lines = io::stdout().lock();
            process::exit(0);
        }
    });
    Ok(())
}

#[cfg(unix)]
fn interrupts() -> io::Result<tokio::signal::unix::Signal> {
    tokio::signal::unix::signal(tokio::signal::unix::SignalKind::interrupt())
}

#[cfg(windows)]
fn interrupts() -> io::Result<tokio::signal::windows::CtrlC> {
    tokio::signal::windows::ctrl_c()
}
