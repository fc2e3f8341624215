use std::{
    io::{self, Read},
    path::Path,
    process, thread,
};

use mcp_recording::{LineStream, Tail};
use mcp_rules::{Engine, RecordingInfo};

use super::{
    Outcome,
    following::{broken, follow_forever},
    notes::Notes,
};
use crate::{
    args::{Color, TailArgs},
    config::Config,
    failure::Failure,
    live::LiveView,
    plan::{JudgingPlan, Verbosity},
    style::{Palette, stdout_width},
    tail::{Growing, Printed},
    text::shown_path,
};

/// Runs `plumb tail`.
pub(crate) fn tail(args: TailArgs, color: Color) -> anyhow::Result<Outcome> {
    let TailArgs { file, no_follow, from, judging } = args;
    let config = Config::chosen(&judging)?;
    let plan = JudgingPlan::new(&judging, &config)?;
    let notes = Notes::new(Palette::of_stderr(color), Verbosity::Normal);
    let schemas = notes.load(&plan.overrides, plan.overrides_required)?;
    notes.without_effect(&plan.without_effect);
    let mut info = RecordingInfo::default();
    info.revision = plan.forced_revision;
    info.from = from;
    info.from_start = config.from_start.unwrap_or(false);
    let engine = Engine::new(schemas, plan.settings);
    let name = shown_path(&file);
    let view = LiveView { palette: Palette::of_stdout(color), width: stdout_width() };
    end_on_interrupt()?;
    if file == Path::new("-") {
        let tail = Tail::new(&engine, info, Printed { view, out: io::stdout() });
        show_to_end(tail, io::stdin(), "standard input")?;
        return Ok(Outcome::Clean);
    }
    let unreadable = |error| Failure::new(format!("could not open {name}")).because(error);
    if no_follow {
        let growing = Growing::open(file).map_err(unreadable)?;
        let growing = growing.ok_or_else(|| unreadable(io::ErrorKind::NotFound.into()))?;
        let tail = Tail::new(&engine, info, Printed { view, out: io::stdout() });
        show_to_end(tail, growing, &name)?;
        return Ok(Outcome::Clean);
    }
    follow_forever(&notes, file, || {
        let view = LiveView { width: stdout_width(), ..view };
        Tail::new(&engine, info, Printed { view, out: io::stdout() })
    })
    .map(|never| match never {})
}

fn show_to_end(
    mut tail: Tail<'_, Printed<io::Stdout>>,
    source: impl Read,
    name: &str,
) -> anyhow::Result<()> {
    let mut lines = LineStream::new(source, tail.max_line());
    tail.read_all(&mut lines).map_err(|error| broken(error, name))?;
    Ok(tail.finish(&mut lines)?)
}

/// Ends the process with exit code 0 on Ctrl-C, between two lines.
fn end_on_interrupt() -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build()?;
    // Installed here, so that no signal is missed before the thread runs.
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
