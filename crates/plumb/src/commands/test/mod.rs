//! Tests a server or a client actively.

mod client;
mod human;
mod located;
mod recordings;
mod repeat;

use std::sync::Arc;

use mcp_probe::{
    Event, Launch, Limits, Report, Reporter, Run, RunError, Safety, Settings, Target,
    client::ClientRun,
};
use mcp_proxy::shutdown;
use mcp_rules::{Engine, Severity};

pub(crate) use self::client::test_server;
use self::{human::Human, located::Locator, repeat::Repeat};
use super::{Outcome, notes::Notes};
use crate::{
    args::{Color, FailOn, Format, TestArgs},
    baseline::Baseline,
    config::Config,
    failure::Failure,
    plan::{JudgingPlan, Verbosity},
    render,
    report::Summary,
    style::Palette,
    text::{counted, shown_path, visible_lines},
};

/// How a shell shows that a program was interrupted.
const INTERRUPTED: u8 = 130;

/// What is tested.
enum Subject {
    Server(Run),
    Client(Box<ClientRun>),
}

impl Subject {
    async fn report(self, reporter: &mut dyn Reporter) -> anyhow::Result<Report> {
        match self {
            Subject::Server(run) => run.run(reporter).await.map_err(|error| untestable(&error)),
            Subject::Client(run) => client::report(*run, reporter).await,
        }
    }
}

/// Tests a server or a client.
pub(crate) fn test(args: &TestArgs, color: Color) -> anyhow::Result<Outcome> {
    let config = Config::chosen(&args.judging)?;
    let plan = JudgingPlan::new(&args.judging, &config)?;
    let notes = Notes::new(Palette::of_stderr(color), Verbosity::Normal);
    let schemas = notes.load(&plan.overrides, plan.overrides_required)?;
    notes.without_effect(&plan.without_effect);
    let mut baseline = match (&args.baseline, &args.write_baseline) {
        (Some(path), _) => Some(Baseline::load(path)?),
        (None, Some(path)) => Some(Baseline::recording(path)?),
        (None, None) => None,
    };
    let recordings = args.record.as_deref().map(recordings::Directory::create).transpose()?;

    let message_bytes = plan.settings.limits.message_bytes;
    let engine = Arc::new(Engine::new(schemas, plan.settings));
    let subject = if args.client {
        let run = client::run(args, engine, message_bytes, plan.forced_revision)?;
        Subject::Client(Box::new(run))
    } else {
        let mut settings = settings(args, message_bytes);
        settings.revisions.extend(plan.forced_revision);
        Subject::Server(Run::new(target(args)?, engine, settings))
    };
    let repeat = Repeat::new(args);
    let palette = Palette::of_stdout(color);
    let mut human = (args.format == Format::Human).then(|| Human::new(palette, repeat));

    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let report = runtime.block_on(async {
        let mut reporter = |event: &Event<'_>| {
            if let Some(human) = &mut human {
                human.event(event);
            }
        };
        tokio::select! {
            report = subject.report(&mut reporter) => Some(report),
            () = shutdown::requested() => None,
        }
    });
    // What is still running must not keep us.
    runtime.shutdown_timeout(std::time::Duration::from_millis(500));
    let report = match report {
        None => return Ok(Outcome::Exit(INTERRUPTED)),
        Some(report) => report?,
    };
    if let Some(directory) = &recordings {
        directory.keep(&report)?;
    }

    let fail_on = args.fail_on.unwrap_or_default();
    let summary = summarise(&report, baseline.as_mut(), args.format, fail_on)?;
    if let Some(human) = &mut human {
        human.finish(&report, &summary, recordings.as_ref());
    }
    if let Some(baseline) = baseline.filter(Baseline::is_to_be_written) {
        let count = counted(baseline.write()?, "finding");
        notes.note(&format!("wrote {count} to the baseline {}", shown_path(baseline.path())));
        return Ok(Outcome::Clean);
    }
    Ok(if summary.fails(fail_on) { Outcome::Findings } else { Outcome::Clean })
}

/// Counts what was found, and shows it unless that was done while it was found.
fn summarise(
    report: &Report,
    mut baseline: Option<&mut Baseline>,
    format: Format,
    fail_on: FailOn,
) -> anyhow::Result<Summary> {
    let mut renderer = render::for_programs(format, fail_on);
    let mut summary = Summary { files: report.recordings.len() as u64, ..Summary::default() };
    summary.messages = report.recordings.iter().map(|recording| recording.len() as u64).sum();
    for result in &report.results {
        let locator = Locator::new(&result.name, result.revision);
        if let Some(baseline) = &mut baseline {
            baseline.enter(Some(locator.file().as_ref()));
        }
        for failure in &result.failures {
            if baseline.as_mut().is_some_and(|known| known.knows(&failure.finding)) {
                summary.known += 1;
                continue;
            }
            summary.add(&failure.finding);
            if let Some(renderer) = &mut renderer {
                let mut located = locator.locate(failure);
                if !renderer.wants_exact_text() {
                    located.make_visible();
                }
                renderer.finding(&located)?;
            }
        }
        if let Some(baseline) = &mut baseline {
            baseline.leave();
        }
    }
    if let Some(renderer) = &mut renderer {
        renderer.finish(&summary)?;
    }
    Ok(summary)
}

fn target(args: &TestArgs) -> anyhow::Result<Target> {
    if let Some(url) = &args.url {
        let headers = args.headers.iter().cloned().collect();
        return Target::url(url, headers).map_err(|error| {
            Failure::new("the server has no usable URL")
                .because(error)
                .hint("write it like http://127.0.0.1:3000/mcp, or start a program after `--`")
                .into()
        });
    }
    let (program, arguments) = args.command.split_first().ok_or_else(|| {
        Failure::new("no server to test").hint("name its URL, or a program after `--`")
    })?;
    Ok(Target::Command(Launch {
        program: program.clone(),
        arguments: arguments.to_vec(),
        environment: args.environment.clone(),
        directory: args.cwd.clone(),
    }))
}

fn settings(args: &TestArgs, message_bytes: usize) -> Settings {
    let limits = Limits {
        time: args.time_limit,
        answer: args.timeout,
        calls: args.max_calls,
        message_bytes,
        ..Limits::default()
    };
    Settings {
        seed: args.seed,
        limits,
        safety: Safety {
            allow_writes: args.allow_writes,
            allow_destructive: args.allow_destructive,
            tools: args.tools.clone(),
            skipped: args.skipped_tools.clone(),
        },
        phases: args.phases.clone(),
        only: args.only.clone(),
        skip: args.skip.clone(),
        revisions: Vec::new(),
        dry_run: args.dry_run,
        arguments: std::collections::BTreeMap::new(),
    }
}

fn untestable(error: &RunError) -> anyhow::Error {
    let (RunError::Unreachable { stderr, .. } | RunError::NoRevision { stderr, .. }) = error else {
        return Failure::new(error.to_string()).into();
    };
    let failure = Failure::new(error.to_string());
    let said: Vec<&str> = stderr.trim_end().lines().rev().take(5).collect();
    if said.is_empty() {
        return failure.hint("name it after `--` as you would start it, or by its URL").into();
    }
    let said: Vec<&str> = said.into_iter().rev().collect();
    failure.hint(format!("it said: {}", visible_lines(&said.join("\n")))).into()
}

/// What a severity is called in a report.
fn word(severity: Severity) -> &'static str {
    severity.as_str()
}
