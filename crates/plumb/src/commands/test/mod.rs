//! `plumb test`: tests servers and clients.

mod client;
mod curl;
mod exchange;
mod html;
mod human;
mod junit;
mod located;
mod recordings;
mod repeat;
mod tested;

use std::{
    future::Future,
    io::{self, Write as _},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use mcp_core::Revision;
use mcp_probe::{Event, Limits, Report, Reporter, Run, Safety, Settings};
use mcp_rules::{Engine, Severity};

pub(crate) use self::client::test_server;
use self::{human::Human, repeat::Repeat, tested::Tested};
use super::{
    Outcome,
    interruptible::{INTERRUPTED, interruptible},
    lock,
    notes::Notes,
    server::{self, ChosenServer},
};
use crate::{
    args::{Color, FailOn, TestArgs, TestFormat},
    baseline::Baseline,
    config::Config,
    failure::{self, Failure},
    plan::{JudgingPlan, Verbosity},
    render,
    report::Summary,
    style::Palette,
    text::{counted, shown_path, visible_lines},
};

/// Tests a client, one server, or all servers in plumb.toml.
pub(crate) fn test(args: &TestArgs, color: Color) -> anyhow::Result<Outcome> {
    let config = Config::chosen(&args.judging)?;
    let plan = JudgingPlan::new(&args.judging, &config)?;
    let notes = Notes::new(Palette::of_stderr(color), Verbosity::Normal);
    let schemas = notes.load(&plan.overrides, plan.overrides_required)?;
    notes.without_effect(&plan.without_effect);
    let servers = server::chosen(&args.server, &config)?;
    let mut baseline = match (&args.baseline, &args.write_baseline) {
        (Some(path), _) => Some(Baseline::load(path)?),
        (None, Some(path)) => Some(Baseline::recording(path)?),
        (None, None) => None,
    };
    let fail_on = args.fail_on.or(config.fail_on).unwrap_or_default();
    let bench = TestSetup {
        args,
        message_bytes: plan.settings.limits.message_bytes,
        revision: plan.forced_revision,
        engine: Arc::new(Engine::new(schemas, plan.settings)),
        palette: Palette::of_stdout(color),
    };
    let is_one = servers.len() == 1;
    let (mut summary, mut tested, mut fails) = (Summary::default(), Vec::new(), false);
    let mut is_incomplete = false;
    for server in servers {
        let name = server.name.clone();
        match bench.test(server, baseline.as_mut(), &mut summary) {
            Ok(Some(done)) => tested.push(done),
            Ok(None) => return Ok(INTERRUPTED),
            Err(error) if is_one => return Err(error),
            Err(error) => {
                // Go on with the other servers.
                is_incomplete = true;
                let error = error.context(format!("`{}` was not tested", name.unwrap_or_default()));
                let text = failure::describe(&error, &Palette::of_stderr(color));
                io::stderr().write_all(text.as_bytes())?;
            }
        }
        fails = summary.fails(fail_on);
    }
    report(&tested, &summary, args.format, fail_on)?;
    if is_incomplete {
        return Ok(Outcome::Exit(2));
    }
    if let Some(baseline) = baseline.filter(Baseline::is_to_be_written) {
        let count = counted(baseline.write()?, "finding");
        notes.note(&format!("wrote {count} to the baseline {}", shown_path(baseline.path())));
        return Ok(Outcome::Clean);
    }
    Ok(if fails { Outcome::Findings } else { Outcome::Clean })
}

/// What the tests of all servers share.
struct TestSetup<'a> {
    args: &'a TestArgs,
    engine: Arc<Engine>,
    /// The only revision to test at.
    revision: Option<Revision>,
    message_bytes: usize,
    palette: Palette,
}

impl TestSetup<'_> {
    /// Tests one server; `None` if the user has interrupted it.
    fn test(
        &self,
        server: ChosenServer,
        shared: Option<&mut Baseline>,
        summary: &mut Summary,
    ) -> anyhow::Result<Option<Tested>> {
        let mut own = match (&server.options.baseline, &shared) {
            (Some(path), None) => Some(Baseline::load(path)?),
            _ => None,
        };
        let directory = match (&self.args.record, &server.name) {
            (Some(path), Some(name)) => Some(path.join(recordings::file_name(name))),
            (path, _) => path.clone(),
        };
        let directory = directory.as_deref().map(recordings::Directory::create).transpose()?;
        let repeat = Repeat::new(self.args, &server);
        let is_human = self.args.format == TestFormat::Human;
        let mut human = is_human.then(|| Human::new(self.palette, repeat.clone()));
        if let Some((human, name)) = human.as_mut().zip(server.name.as_ref()) {
            human.title(name);
        }
        let mut left_out = Vec::new();
        let is_heard = AtomicBool::new(false);
        let mut reporter = |event: &Event<'_>| {
            is_heard.store(true, Ordering::Relaxed);
            if let Event::Skipped { what, reason, flag } = event {
                let flag = if flag.is_empty() { String::new() } else { format!(" ({flag})") };
                left_out.push(format!("{what}: {reason}{flag}"));
            }
            if let Some(human) = &mut human {
                human.event(event);
            }
        };
        let report = interruptible(patiently(self.run(&server, &mut reporter), &is_heard))?;
        let Some(report) = report else { return Ok(None) };
        let report = report?;
        refuse_unknown(&report.unknown, self.args.only.len())?;
        if let Some(directory) = &directory {
            directory.keep(&report)?;
        }
        let baseline = shared.or(own.as_mut());
        let mut counts = Summary::default();
        let tested = Tested::new(server.name, report, repeat, left_out, baseline, &mut counts);
        if let Some(human) = &mut human {
            human.finish(&tested, &counts, directory.as_ref());
        }
        summary.merge(counts);
        Ok(Some(tested))
    }

    async fn run(
        &self,
        server: &ChosenServer,
        reporter: &mut dyn Reporter,
    ) -> anyhow::Result<Report> {
        let engine = Arc::clone(&self.engine);
        let settings = self.settings(server)?;
        if self.args.client {
            return client::run(self.args, &server.target, engine, settings, reporter).await;
        }
        let run = Run::new(server.target.clone(), engine, settings);
        run.run(reporter).await.map_err(|error| server::untestable(&error))
    }

    fn settings(&self, server: &ChosenServer) -> anyhow::Result<Settings> {
        let (args, options) = (self.args, &server.options);
        let mut limits = Limits { message_bytes: self.message_bytes, ..Limits::default() };
        limits.time = args.time_limit.or(options.time_limit).unwrap_or(limits.time);
        limits.answer = args.timeout.or(options.timeout).unwrap_or(limits.answer);
        limits.calls = args.max_calls.or(options.max_calls).unwrap_or(limits.calls);
        let lock = match &args.locked {
            Some(Some(path)) => Some(lock::read(path)?),
            Some(None) => Some(lock::read(&server.lock)?),
            None => options.lock.as_deref().map(lock::read).transpose()?,
        };
        let joined = |typed: &[String], of_file: &[String]| [typed, of_file].concat();
        Ok(Settings {
            seed: args.seed,
            limits,
            safety: Safety {
                allow_writes: args.allow_writes || options.allow_writes == Some(true),
                allow_destructive: args.allow_destructive
                    || options.allow_destructive == Some(true),
                tools: joined(&args.tools, &options.tools),
                skipped: joined(&args.skipped_tools, &options.skip_tools),
            },
            phases: args.phases.clone(),
            only: args.only.clone(),
            skip: joined(&args.skip, &options.skip),
            revisions: self.revision.into_iter().collect(),
            dry_run: args.dry_run,
            arguments: options.arguments.clone(),
            lock: lock.map(Arc::new),
        })
    }
}

/// How long a server may be silent before the user is told what we wait for.
const SILENCE: Duration = Duration::from_secs(5);

/// Runs `work`, and prints a note if nothing happens for a while.
async fn patiently<T>(work: impl Future<Output = T>, is_heard: &AtomicBool) -> T {
    let notice = async {
        tokio::time::sleep(SILENCE).await;
        if !is_heard.load(Ordering::Relaxed) {
            // Nobody may be reading.
            let _ = writeln!(io::stderr(), "note: still waiting for the first answer");
        }
        std::future::pending().await
    };
    tokio::select! {
        done = work => done,
        never = notice => never,
    }
}

/// Reports names that match no probe, and fails if none matches.
fn refuse_unknown(unknown: &[String], count: usize) -> anyhow::Result<()> {
    let names: Vec<String> =
        unknown.iter().map(|name| format!("`{}`", visible_lines(name))).collect();
    let message = format!("there is no probe {}", names.join(" or "));
    if unknown.is_empty() {
        return Ok(());
    }
    if unknown.len() < count {
        writeln!(io::stderr(), "note: {message}")?;
        return Ok(());
    }
    let hint =
        "run the test without --only to see the names; `--only ids` runs all probes below `ids/`";
    Err(Failure::new(message).hint(hint).into())
}

/// Writes the report, unless it was printed during the test.
fn report(
    tested: &[Tested],
    summary: &Summary,
    format: TestFormat,
    fail_on: FailOn,
) -> anyhow::Result<()> {
    let stdout = &mut io::stdout().lock();
    match format {
        TestFormat::Junit => junit::write(stdout, tested, fail_on)?,
        TestFormat::Html => html::write(stdout, tested, summary)?,
        _ => {}
    }
    let Some(mut renderer) = render::for_programs(format) else { return Ok(()) };
    for server in tested {
        for (result, failures) in server.results() {
            let locator = server.locator(result);
            for (failure, _) in failures.filter(|(_, is_known)| !is_known) {
                let mut located = locator.locate(failure);
                if !renderer.wants_exact_text() {
                    located.make_visible();
                }
                renderer.finding(&located)?;
            }
        }
    }
    renderer.finish(summary)?;
    Ok(())
}

/// The word for a severity in a report.
fn word(severity: Severity) -> &'static str {
    severity.as_str()
}
