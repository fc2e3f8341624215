mod subject;

use std::{
    fs::{self, File},
    io::Cursor,
    path::Path,
    sync::Arc,
    thread,
};

use mcp_inspector::{InspectorClient, Log, LogLimits};
use mcp_recording::{LineStream, Tail, har};
use mcp_rules::{Engine, RecordingInfo};

use self::subject::Subject;
use super::{
    Outcome,
    following::{broken, follow_forever},
    notes::Notes,
    page::Page,
};
use crate::{
    args::{Color, InspectArgs},
    check::CAPTURE,
    config::Config,
    failure::Failure,
    plan::{JudgingPlan, Verbosity},
    style::Palette,
    text::shown_path,
};

/// Runs `plumb inspect`.
pub(crate) fn inspect(args: &InspectArgs, color: Color) -> anyhow::Result<Outcome> {
    let InspectArgs { listen, judging, insecure, no_browser, from, .. } = args;
    let config = Config::chosen(judging)?;
    let plan = JudgingPlan::new(judging, &config)?;
    let notes = Notes::new(Palette::of_stderr(color), Verbosity::Normal);
    let schemas = notes.load(&plan.overrides, plan.overrides_required)?;
    notes.without_effect(&plan.without_effect);
    let engine = Arc::new(Engine::new(schemas, plan.settings));
    let trace = match Subject::of(args, &notes)? {
        Subject::Servers { name, targets } => {
            let log = Log::new(LogLimits::default());
            let page = Page::bind(listen, *insecure)?;
            let client = InspectorClient::new(log.clone(), Arc::clone(&engine), targets)
                .with_revision(plan.forced_revision);
            page.announce(!no_browser)?;
            return page
                .serve_with_client(log, name, engine, &client)
                .map(|()| Outcome::Clean)
                .map_err(|reason| Failure::new(reason).hint("give a command after `--`").into());
        }
        Subject::Recording(trace) => trace,
    };
    let mut info = RecordingInfo::default();
    info.revision = plan.forced_revision;
    info.from = *from;
    info.from_start = config.from_start.unwrap_or(false);
    let log = Log::new(LogLimits::default());
    let page = Page::bind(listen, *insecure)?;
    page.announce(!no_browser)?;
    let (served, target) = (log.clone(), shown_path(&trace));
    let judging = Arc::clone(&engine);
    if is_capture(&trace) {
        let max_bytes = engine.settings().limits.message_bytes.saturating_mul(CAPTURE);
        show_capture(&trace, max_bytes, Tail::new(&engine, info, log))?;
        page.serve(served, target, judging, || false);
        return Ok(Outcome::Clean);
    }
    let reading = thread::spawn(move || {
        follow_forever(&notes, trace, || {
            log.begin_anew();
            Tail::new(&engine, info, log.clone())
        })
        .map(|never| match never {})
    });
    page.serve(served, target, judging, || reading.is_finished());
    if reading.is_finished() {
        return reading.join().unwrap_or(Ok(Outcome::Clean));
    }
    Ok(Outcome::Clean)
}

/// Whether a file is a HAR capture. A file that cannot be read yet is not.
fn is_capture(path: &Path) -> bool {
    let is_file = fs::metadata(path).is_ok_and(|found| found.is_file());
    let capture = || har::sniff(File::open(path)?).map(|(is_capture, _)| is_capture);
    is_file && capture().unwrap_or(false)
}

fn show_capture(path: &Path, max_bytes: usize, mut tail: Tail<'_, Log>) -> anyhow::Result<()> {
    let name = shown_path(path);
    let unreadable = |error| Failure::new(format!("could not open {name}")).because(error);
    let capture = har::read(File::open(path).map_err(unreadable)?, max_bytes);
    let capture =
        capture.map_err(|error| Failure::new(format!("could not read {name}")).because(error))?;
    let mut lines = LineStream::new(Cursor::new(capture.text), tail.max_line());
    tail.read_all(&mut lines).map_err(|error| broken(error, &name))?;
    tail.finish(&mut lines)?;
    Ok(())
}
