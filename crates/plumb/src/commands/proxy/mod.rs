mod admin;
mod gateway;
mod listener;
mod remote;
mod report;
mod spans;

use std::{
    ffi::OsString,
    hash::RandomState,
    path::Path,
    process::{self, ExitStatus},
    sync::Arc,
    time::{Duration, SystemTime},
};

use mcp_proxy::{
    Policy, RecordSettings, Recorder, Tap, TapSettings,
    stdio::{self, StdioSettings},
};
use mcp_rules::{Engine, redact::Redactor};

use self::{
    admin::Admin,
    gateway::GatewayPlan,
    report::{Report, ReportStyle},
    spans::Spans,
};
use super::{Outcome, notes::Notes};
use crate::{
    args::{Color, ProxyArgs, ReportFormat},
    config::Config,
    failure::Failure,
    plan::{JudgingPlan, Verbosity},
    style::Palette,
    text::shown_path,
};

/// Passes traffic between a client and a server.
pub(crate) fn proxy(args: &ProxyArgs, color: Color) -> anyhow::Result<Outcome> {
    let config = Config::chosen(&args.judging)?;
    let plan = JudgingPlan::new(&args.judging, &config)?;
    let verbosity = if args.quiet { Verbosity::Quiet } else { Verbosity::Normal };
    let notes = Notes::new(Palette::of_stderr(color), verbosity);
    let schemas = notes.load(&plan.overrides, plan.overrides_required)?;
    notes.without_effect(&plan.without_effect);
    let limits = plan.settings.limits;
    let limit = limits.message_bytes;
    let engine = Arc::new(Engine::new(schemas, plan.settings));
    let recorder = args.record.as_deref().map(|path| begin_record(path, args)).transpose()?;
    let record = recorder.as_ref().map(|recorder| recorder.path().to_owned());
    let report = Report::new(Palette::of_stderr(color), verbosity, style_of(args));
    let admin = Admin::start(args.admin.as_deref())?;
    let spans = Spans::start(args.otlp.as_deref(), admin.spans())?;
    let watchers = [report.watcher(&limits), admin.watcher(), spans.watcher()];
    let tap = Tap::new(
        engine,
        TapSettings {
            policy: if args.enforce { Policy::enforce() } else { Policy::observe() },
            revision: plan.forced_revision,
            recorder,
            watchers: watchers.into_iter().flatten().collect(),
            backlog: 0,
        },
    );
    let outcome = match (args.listen.as_deref(), args.upstream.as_deref()) {
        (Some(listen), _) => {
            GatewayPlan::new(listen, args, &tap, limit)?.run().map(|()| Outcome::Clean)
        }
        (None, Some(upstream)) => remote::run(upstream, args, &tap, limit).map(|()| Outcome::Clean),
        (None, None) => run_stdio(args, &tap, limit),
    };
    report.finish(&tap.finish(), record.as_deref());
    spans.finish(verbosity);
    outcome
}

fn style_of(args: &ProxyArgs) -> ReportStyle {
    match args.format {
        _ if args.tail => ReportStyle::EveryMessage,
        ReportFormat::Human => ReportStyle::Findings,
        ReportFormat::Json => ReportStyle::Json,
    }
}

/// Passes the traffic of one client on our standard streams.
fn run_stdio(args: &ProxyArgs, tap: &Tap, limit: usize) -> anyhow::Result<Outcome> {
    let mut settings = StdioSettings::default();
    settings.exit_wait = Duration::from_secs(args.exit_wait.into());
    settings.max_line = limit;
    let (program, arguments) = command(args)?;
    let status = stdio::run(program, arguments, tap, &settings)?;
    Ok(Outcome::Exit(code_of(status)))
}

/// The server to start, and its arguments.
fn command(args: &ProxyArgs) -> anyhow::Result<(&OsString, &[OsString])> {
    let command = args.command.split_first();
    command.ok_or_else(|| Failure::new("no server to start").hint("name it after `--`").into())
}

fn begin_record(path: &Path, args: &ProxyArgs) -> anyhow::Result<Recorder> {
    let mut settings = RecordSettings::default();
    settings.max_size = args.record_max_size;
    settings.per_conversation = args.record_per_session;
    settings.keep = args.record_keep.map(usize::from);
    if settings.keep.is_some() && settings.max_size.is_none() && !settings.per_conversation {
        return Err(Failure::new("--record-keep has nothing to count")
            .hint("add --record-max-size or --record-per-session")
            .into());
    }
    let recorder = Recorder::with(path, &record_name(), settings).map_err(|error| {
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
