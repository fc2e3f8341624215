use std::{io, thread};

use mcp_inspector::{Log, LogLimits};
use mcp_rules::{Engine, Finding, Origin};

use super::{Outcome, following::follow_forever, notes::Notes, page::Page};
use crate::{
    args::{Color, InspectArgs},
    config::Config,
    plan::{JudgingPlan, Verbosity},
    style::Palette,
    tail::{Audience, Shown, Tail},
    text::shown_path,
};

/// Shows a conversation in a browser.
pub(crate) fn inspect(args: InspectArgs, color: Color) -> anyhow::Result<Outcome> {
    let InspectArgs { trace, listen, insecure, no_browser, from, judging } = args;
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
    let log = Log::new(LogLimits::default());
    let page = Page::bind(&listen, insecure)?;
    page.announce(!no_browser)?;
    let (served, target) = (log.clone(), shown_path(&trace));
    let reading = thread::spawn(move || {
        follow_forever(&notes, trace, || {
            log.begin_anew();
            Tail::new(&engine, origin, Logged(log.clone()))
        })
        .map(|never| match never {})
    });
    page.serve(served, target, || reading.is_finished());
    if reading.is_finished() {
        return reading.join().unwrap_or(Ok(Outcome::Clean));
    }
    Ok(Outcome::Clean)
}

/// Puts the lines of a recording into a log.
struct Logged(Log);

impl Audience for Logged {
    fn line(&mut self, number: u64, shown: Shown<'_>) -> io::Result<()> {
        match shown.line {
            Some(line) => {
                let messages = shown.followed.map(|followed| line.identities(followed));
                self.0.append(number, line, &messages.unwrap_or_default(), |_| {});
            }
            None => self.0.append_too_long(number),
        }
        self.0.add_findings(shown.findings);
        Ok(())
    }

    fn end(&mut self, findings: Vec<Finding>) -> io::Result<()> {
        self.0.add_findings(findings);
        Ok(())
    }
}
