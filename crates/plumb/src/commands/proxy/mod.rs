mod admin;
mod control;
mod gateway;
mod listener;
mod policy;
mod remote;
mod report;
mod rulebook;
mod served;

use std::{
    ffi::OsString,
    hash::RandomState,
    path::Path,
    process::{self, ExitStatus},
    time::{Duration, SystemTime},
};

use mcp_proxy::{
    OpenRequests, Recorder, Tap, TapSettings,
    shutdown::{self, Drain, Phase},
    stdio::{self, StdioSettings},
};
use mcp_rules::redact::Redactor;

use self::{
    admin::Admin,
    control::Control,
    gateway::GatewayPlan,
    report::{Report, ReportStyle},
    rulebook::Rulebook,
    served::ServedPlan,
};
use super::{Outcome, notes::Notes};
use crate::{
    args::{Color, LogFormat, LogLevel, ProxyArgs, ReportFormat},
    failure::{self, Failure},
    logs,
    plan::Verbosity,
    style::Palette,
    text::shown_path,
};

/// Passes traffic between a client and a server.
pub(crate) fn proxy(args: ProxyArgs, color: Color) -> anyhow::Result<Outcome> {
    let format = args.log_format;
    let is_terse = format == LogFormat::Text && (args.quiet || args.format == ReportFormat::Json);
    let level = if is_terse { LogLevel::Error } else { LogLevel::Info };
    logs::start(format, args.log_level.unwrap_or(level));
    let verbosity = if args.quiet { Verbosity::Quiet } else { Verbosity::Normal };
    let notes = Notes::new(Palette::of_stderr(color), verbosity);
    let notes = if format == LogFormat::Json { notes.logging() } else { notes };
    // Signals count from the beginning.
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
    let (Rulebook { engine, policy, fixed }, _) = Rulebook::read(args, control.notes(), None)?;
    let limit = fixed.limits.message_bytes;
    let recorder = args.record.as_deref().map(|path| begin_record(path, args)).transpose()?;
    let record = recorder.as_ref().map(|recorder| recorder.path().to_owned());
    let report = Report::new(palette, verbosity, style_of(args));
    let admin = Admin::start(args.admin.as_deref(), args.log_format)?;
    let open = OpenRequests::new();
    let is_stdio = args.listen.is_none() && args.upstream.is_none();
    let watchers = report
        .watcher(&fixed.limits)
        .into_iter()
        .chain(admin.watcher())
        .chain(is_stdio.then(|| open.watcher()));
    let settings = TapSettings {
        policy,
        revision: fixed.revision,
        recorder,
        watchers: watchers.collect(),
        backlog: 0,
    };
    let tap = Tap::new(engine, settings);
    control.attach(tap.clone(), fixed, admin.health());
    let outcome = match (args.listen.as_deref(), args.upstream.as_deref()) {
        (Some(listen), Some(upstream)) => {
            let plan = GatewayPlan::new(upstream, listen, args, limit, drain)?;
            plan.run(&tap).map(|()| Outcome::Clean)
        }
        (Some(listen), None) => {
            let plan = ServedPlan::new(listen, args, limit, drain)?;
            plan.run(&tap).map(|()| Outcome::Clean)
        }
        (None, Some(upstream)) => {
            remote::run(upstream, args, &tap, limit, drain).map(|()| Outcome::Clean)
        }
        (None, None) => run_stdio(args, &tap, limit, drain, open),
    };
    report.finish(&tap.finish(), record.as_deref());
    outcome
}

fn style_of(args: &ProxyArgs) -> ReportStyle {
    match args.format {
        _ if args.log_format == LogFormat::Json => ReportStyle::Log,
        _ if args.tail => ReportStyle::EveryMessage,
        ReportFormat::Human => ReportStyle::Findings,
        ReportFormat::Json => ReportStyle::Json,
    }
}

/// Passes the traffic of one client on our standard streams.
fn run_stdio(
    args: &ProxyArgs,
    tap: &Tap,
    limit: usize,
    drain: &Drain,
    open: OpenRequests,
) -> anyhow::Result<Outcome> {
    let mut settings = StdioSettings::default();
    settings.exit_wait = Duration::from_secs(args.exit_wait.into());
    settings.max_line = limit;
    (settings.drain, settings.open) = (drain.clone(), open);
    settings.log_stderr = args.log_format == LogFormat::Json;
    let (program, arguments) = command(args)?;
    let status = stdio::run(program, arguments, tap, &settings)?;
    Ok(match drain.phase() {
        Phase::Serving => Outcome::Exit(code_of(status)),
        // It ended because we were told to, and that went well.
        Phase::Draining | Phase::Stopping | Phase::Forced => Outcome::Clean,
    })
}

/// The server to start, and its arguments.
fn command(args: &ProxyArgs) -> anyhow::Result<(&OsString, &[OsString])> {
    let command = args.command.split_first();
    command.ok_or_else(|| Failure::new("no server to start").hint("name it after `--`").into())
}

fn begin_record(path: &Path, args: &ProxyArgs) -> anyhow::Result<Recorder> {
    let recorder = Recorder::create(path, &record_name()).map_err(|error| {
        let place = shown_path(path);
        Failure::new(format!("could not record to {place}"))
            .because(error)
            .hint("name a file or a directory that you may write to")
    })?;
    if !args.redact && args.redact_pointer.is_empty() {
        return Ok(recorder);
    }
    let redactor = Redactor::new(RandomState::new());
    let patterns = args.redact_pointer.iter().cloned();
    Ok(recorder.redacting(patterns.fold(redactor, Redactor::pointer)))
}

/// The name of a recording that begins now.
#[expect(clippy::disallowed_methods, reason = "recordings are named after their beginning")]
pub(super) fn record_name() -> String {
    let time = humantime::format_rfc3339_seconds(SystemTime::now()).to_string().replace(':', "");
    format!("{time}-{}", process::id())
}

/// The exit code that a shell would show.
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
