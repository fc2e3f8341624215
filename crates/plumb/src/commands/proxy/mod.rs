mod admin;
mod gateway;
mod listener;
mod remote;
mod report;
mod secrets;
mod servers;
mod sharing;
mod spans;
mod taps;
mod ui;

use std::{ffi::OsString, process::ExitStatus, sync::Arc, time::Duration};

use mcp_proxy::{
    Policy, Tap, TapSettings,
    stdio::{self, StdioSettings},
};
use mcp_rules::Engine;

pub(super) use self::taps::record_name;
use self::{
    admin::Admin,
    gateway::GatewayPlan,
    report::{Report, ReportStyle},
    servers::{Server, Target},
    sharing::Sharing,
    spans::Spans,
    taps::Taps,
    ui::Ui,
};
use super::{Outcome, notes::Notes};
use crate::{
    args::{Color, ProxyArgs, ReportFormat},
    config::Config,
    failure::Failure,
    plan::{JudgingPlan, Verbosity},
    style::Palette,
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
    let servers = servers::chosen(args, &config)?;
    let names: Vec<Arc<str>> = servers.iter().filter_map(Server::name).collect();
    let report = Report::new(Palette::of_stderr(color), verbosity, style_of(args));
    let sharing = Sharing::of(args, &servers)?;
    let admin = Admin::start(args.admin.as_deref(), &names)?;
    let ui = Ui::start(args, &servers)?;
    let spans = Spans::start(args.otlp.as_deref(), admin.spans())?;
    let mut taps = Taps::new(&names, args, |recorder| {
        let shared = sharing.as_ref().and_then(Sharing::watcher);
        let shown = ui.watcher(&limits);
        let watchers = [report.watcher(&limits), admin.watcher(), spans.watcher(), shared, shown];
        let settings = TapSettings {
            policy: if args.enforce { Policy::enforce() } else { Policy::observe() },
            revision: plan.forced_revision,
            recorder,
            watchers: watchers.into_iter().flatten().collect(),
            backlog: 0,
            store: sharing.as_ref().and_then(Sharing::memory),
        };
        Tap::new(Arc::clone(&engine), settings)
    })?;
    let outcome = pass(args, servers, &mut taps, limit, sharing);
    let (counts, records) = taps.finish();
    report.finish(&counts, &records);
    spans.finish(verbosity);
    outcome
}

/// Passes traffic until it ends.
fn pass(
    args: &ProxyArgs,
    servers: Vec<Server>,
    taps: &mut Taps,
    limit: usize,
    sharing: Option<Sharing<'_>>,
) -> anyhow::Result<Outcome> {
    if let Some(listen) = &args.listen {
        let with_tap = |server: Server| {
            let tap = taps.of(server.name());
            (server, tap)
        };
        let servers: Vec<(Server, Tap)> = servers.into_iter().map(with_tap).collect();
        GatewayPlan::new(listen, args, &servers, limit, sharing)?.run()?;
        return Ok(Outcome::Clean);
    }
    let tap = taps.of(None);
    let Some(Server { target, access, .. }) = servers.into_iter().next() else {
        return Ok(Outcome::Clean);
    };
    match target {
        Target::Url(url) => {
            remote::run(&url, &access, args, &tap, limit)?;
            Ok(Outcome::Clean)
        }
        Target::Command(command) => run_stdio(&command, args, &tap, limit),
    }
}

fn style_of(args: &ProxyArgs) -> ReportStyle {
    match args.format {
        _ if args.tail => ReportStyle::EveryMessage,
        ReportFormat::Human => ReportStyle::Findings,
        ReportFormat::Json => ReportStyle::Json,
    }
}

/// Passes the traffic of one client on our standard streams.
fn run_stdio(
    command: &[OsString],
    args: &ProxyArgs,
    tap: &Tap,
    limit: usize,
) -> anyhow::Result<Outcome> {
    let mut settings = StdioSettings::default();
    settings.exit_wait = Duration::from_secs(args.exit_wait.into());
    settings.max_line = limit;
    let Some((program, arguments)) = command.split_first() else {
        return Err(Failure::new("no server to start").hint("name it after `--`").into());
    };
    let status = stdio::run(program, arguments, tap, &settings)?;
    Ok(Outcome::Exit(code_of(status)))
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
