mod admin;
mod control;
mod gateway;
mod listener;
mod policy;
mod program;
mod remote;
mod report;
mod rulebook;
mod secrets;
mod servers;
mod sharing;
mod spans;
mod taps;
mod ui;
mod workers;

use std::{ffi::OsString, process::ExitStatus, sync::Arc, time::Duration};

use mcp_proxy::{
    OpenRequests, Tap, TapSettings,
    shutdown::{self, Drain, Phase},
    stdio::{self, StderrMode, StdioSettings},
};

pub(super) use self::taps::record_name;
use self::{
    admin::Admin,
    control::Control,
    gateway::GatewayPlan,
    report::{Report, ReportStyle},
    rulebook::Rulebook,
    servers::{Server, Target},
    sharing::Sharing,
    spans::Spans,
    taps::Taps,
    ui::Ui,
};
use super::{Outcome, notes::Notes};
use crate::{
    args::{Color, LogFormat, LogLevel, ProxyArgs, ReportFormat},
    failure::{self, Failure},
    logs,
    plan::Verbosity,
    style::Palette,
};

/// Runs `plumb proxy`.
pub(crate) fn proxy(args: ProxyArgs, color: Color) -> anyhow::Result<Outcome> {
    let format = args.log_format;
    let is_terse = format == LogFormat::Text && (args.quiet || args.format == ReportFormat::Json);
    let level = if is_terse { LogLevel::Error } else { LogLevel::Info };
    logs::start(format, args.log_level.unwrap_or(level));
    let verbosity = if args.quiet { Verbosity::Quiet } else { Verbosity::Normal };
    let notes = Notes::new(Palette::of_stderr(color), verbosity);
    let notes = if format == LogFormat::Json { notes.logging() } else { notes };
    // Handle signals from the start.
    let control = Control::new(args, notes);
    let wait = Duration::from_secs(control.args().drain_wait.into());
    let drain = shutdown::on_signals(wait, control.clone())?;
    let outcome = run(&control, &drain, Palette::of_stderr(color), verbosity);
    match (outcome, format) {
        (Err(error), LogFormat::Json) => {
            tracing::error!("{}", failure::one_line(&error));
            Ok(Outcome::Exit(2))
        }
        (outcome, _) => outcome,
    }
}

fn run(
    control: &Control,
    drain: &Drain,
    palette: Palette,
    verbosity: Verbosity,
) -> anyhow::Result<Outcome> {
    let args = control.args();
    let (rulebook, _) = Rulebook::read(args, control.notes(), None)?;
    let Rulebook { engine, policy, fixed, config } = rulebook;
    let servers = servers::chosen(args, &config)?;
    if servers.len() > 1 && args.locked.is_some() {
        let failure = Failure::new("a lock file holds one server, but several are configured");
        return Err(failure.hint("leave out `--locked`, or run a proxy for each server").into());
    }
    let names: Vec<Arc<str>> = servers.iter().filter_map(Server::name).collect();
    let report = Report::new(palette, verbosity, style_of(args));
    let sharing = Sharing::of(args, &servers)?;
    let admin = Admin::start(args.admin.as_deref(), &names, args.log_format)?;
    let ui = Ui::start(args, &servers, &engine)?;
    let spans = Spans::start(args.otlp.as_deref(), admin.spans())?;
    let open = OpenRequests::new();
    let limits = &fixed.limits;
    let mut taps = Taps::new(&names, args, |recorder| {
        let waiting = args.listen.is_none().then(|| open.watcher());
        let seen = [report.watcher(limits), ui.watcher(limits), waiting];
        let counted = [admin.watcher(), spans.watcher()];
        let settings = TapSettings {
            policy: policy.clone(),
            revision: fixed.revision,
            recorder,
            watchers: seen.into_iter().chain(counted).flatten().collect(),
            backlog: 0,
            store: sharing.as_ref().and_then(Sharing::memory),
        };
        Tap::new(Arc::clone(&engine), settings)
    })?;
    control.attach(taps.all(), fixed, admin.clone());
    let ending = Ending { drain, open };
    let outcome = pass(args, servers, (&mut taps, &admin), limits.message_bytes, (ending, sharing));
    let (counts, records) = taps.finish();
    // Nothing to report if nothing began.
    if outcome.is_ok() || counts.lines > 0 {
        report.finish(&counts, &records);
    }
    spans.finish(verbosity);
    outcome
}

/// When to stop, and what has to be told about it.
struct Ending<'a> {
    drain: &'a Drain,
    open: OpenRequests,
}

/// Relays traffic until it ends.
fn pass(
    args: &ProxyArgs,
    servers: Vec<Server>,
    (taps, admin): (&mut Taps, &Admin),
    limit: usize,
    (Ending { drain, open }, sharing): (Ending<'_>, Option<Sharing<'_>>),
) -> anyhow::Result<Outcome> {
    if let Some(listen) = &args.listen {
        let with_tap = |server: Server| {
            let tap = taps.of(server.name());
            (server, tap)
        };
        let servers: Vec<(Server, Tap)> = servers.into_iter().map(with_tap).collect();
        GatewayPlan::new(listen, args, &servers, limit, admin, (drain, sharing))?.run()?;
        return Ok(Outcome::Clean);
    }
    let tap = taps.of(None);
    let Some(Server { target, access, .. }) = servers.into_iter().next() else {
        return Ok(Outcome::Clean);
    };
    match target {
        Target::Url(url) => {
            remote::run(&url, &access, args, &tap, limit, drain)?;
            Ok(Outcome::Clean)
        }
        Target::Command(command) => {
            let mut settings = StdioSettings::default();
            settings.exit_wait = Duration::from_secs(args.exit_wait.into());
            settings.max_line = limit;
            (settings.drain, settings.open) = (drain.clone(), open);
            settings.stderr = match args.log_format {
                LogFormat::Json => StderrMode::Logged,
                // If standard error is a terminal, the server should see one too, unless its output
                // is recorded.
                LogFormat::Text if args.record.is_none() && args.ui.is_none() => {
                    StderrMode::Inherited
                }
                LogFormat::Text => StderrMode::Passed,
            };
            run_stdio(&command, &tap, &settings)
        }
    }
}

fn style_of(args: &ProxyArgs) -> ReportStyle {
    match args.format {
        _ if args.log_format == LogFormat::Json => ReportStyle::Log,
        _ if args.tail => ReportStyle::EveryMessage,
        ReportFormat::Human => ReportStyle::Findings,
        ReportFormat::Json => ReportStyle::Json,
    }
}

/// Relays for one client on our standard streams.
fn run_stdio(command: &[OsString], tap: &Tap, settings: &StdioSettings) -> anyhow::Result<Outcome> {
    let Some((program, arguments)) = command.split_first() else {
        return Err(Failure::new("no server to start")
            .hint("give the command that starts it after `--`")
            .into());
    };
    let status = stdio::run(program, arguments, tap, settings)?;
    Ok(match settings.drain.phase() {
        Phase::Serving => Outcome::Exit(code_of(status)),
        // It ended because the proxy was asked to stop, which is not a failure.
        Phase::Draining | Phase::Stopping | Phase::Forced => Outcome::Clean,
    })
}

/// The exit code as a shell would report it.
fn code_of(status: ExitStatus) -> u8 {
    let code = status.code().or_else(|| signal_of(status).map(|signal| 128 + signal));
    code.and_then(|code| u8::try_from(code).ok()).unwrap_or(1)
}

#[cfg(unix)]
fn signal_of(status: ExitStatus) -> Option<i32> {
    std::os::unix::process::ExitStatusExt::signal(&status)
}

#[cfg(not(unix))]
fn signal_of(_: ExitStatus) -> Option<i32> {
    None
}
