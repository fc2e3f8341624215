use std::{ffi::OsString, path::PathBuf, sync::Arc, thread};

use mcp_inspector::{Log, LogLimits, Speaker, Target};
use mcp_recording::Tail;
use mcp_rules::{Engine, Origin};

use super::{Outcome, following::follow_forever, notes::Notes, page::Page};
use crate::{
    args::{Color, InspectArgs},
    config::Config,
    failure::Failure,
    plan::{JudgingPlan, Verbosity},
    style::Palette,
    text::shown_path,
};

/// Shows a conversation in a browser.
pub(crate) fn inspect(args: InspectArgs, color: Color) -> anyhow::Result<Outcome> {
    let InspectArgs { target, command, listen, insecure, no_browser, from, judging } = args;
    let config = Config::chosen(&judging)?;
    let plan = JudgingPlan::new(&judging, &config)?;
    let notes = Notes::new(Palette::of_stderr(color), Verbosity::Normal);
    let schemas = notes.load(&plan.overrides, plan.overrides_required)?;
    notes.without_effect(&plan.without_effect);
    let engine = Arc::new(Engine::new(schemas, plan.settings));
    let trace = match What::of(target, command)? {
        What::Server(server) => {
            let log = Log::new(LogLimits::default());
            let page = Page::bind(&listen, insecure)?;
            let name = server.shown.clone();
            let speaker = Speaker::new(log.clone(), Arc::clone(&engine), vec![server])
                .with_revision(plan.forced_revision);
            page.announce(!no_browser)?;
            return page
                .serve_speaking(log, name, engine, &speaker)
                .map(|()| Outcome::Clean)
                .map_err(|reason| Failure::new(reason).hint("name a program after `--`").into());
        }
        What::Recording(trace) => trace,
    };
    let mut origin = Origin::default();
    origin.revision = plan.forced_revision;
    origin.from = from;
    origin.from_start = config.from_start.unwrap_or(false);
    let log = Log::new(LogLimits::default());
    let page = Page::bind(&listen, insecure)?;
    page.announce(!no_browser)?;
    let (served, target) = (log.clone(), shown_path(&trace));
    let judging = Arc::clone(&engine);
    let reading = thread::spawn(move || {
        follow_forever(&notes, trace, || {
            log.begin_anew();
            Tail::new(&engine, origin, log.clone())
        })
        .map(|never| match never {})
    });
    page.serve(served, target, judging, || reading.is_finished());
    if reading.is_finished() {
        return reading.join().unwrap_or(Ok(Outcome::Clean));
    }
    Ok(Outcome::Clean)
}

/// What to look at.
enum What {
    Recording(PathBuf),
    Server(Target),
}

impl What {
    fn of(target: Option<OsString>, command: Vec<OsString>) -> anyhow::Result<What> {
        let mut words = command.into_iter();
        if let Some(program) = words.next() {
            return Ok(What::Server(Target::command(program, words.collect())));
        }
        let Some(target) = target else { return Ok(What::Server(Target::demo())) };
        let url = target.to_str().filter(|text| is_url(text));
        let Some(url) = url else { return Ok(What::Recording(target.into())) };
        let target = Target::url(url).map_err(|error| {
            Failure::new("the server cannot be used")
                .because(error)
                .hint("its URL is like http://127.0.0.1:3000/mcp or ws://127.0.0.1:3000/mcp")
        })?;
        Ok(What::Server(target))
    }
}

/// Whether it is meant as a URL and not as the name of a file.
fn is_url(text: &str) -> bool {
    let scheme = text.split_once("://").map(|(scheme, _)| scheme.to_ascii_lowercase());
    scheme.is_some_and(|scheme| ["http", "https", "ws", "wss"].contains(&&*scheme))
}
