//! Starts the server with a fault and tests it.

use std::{
    process::{Child, Command, Stdio},
    sync::{Arc, LazyLock},
    time::Duration,
};

use http::HeaderMap;
use mcp_core::Revision;
use mcp_probe::{Event, Launch, Limits, Report, Run, RunError, Settings, Target};
use mcp_rules::{Engine, LineReader, Observer, RecordingInfo, Setting, Severity};
use mcp_schema::Schemas;

/// The engine that judges messages; created once, since that takes a while.
pub(crate) static ENGINE: LazyLock<Arc<Engine>> = LazyLock::new(|| {
    let mut settings = mcp_rules::Settings::default();
    // Off by default, as the specification leaves the choice.
    for rule in ["parse-error-unreported", "version-header-required"] {
        settings.rules.insert(rule.to_owned(), Setting::On(Severity::Warning));
    }
    Arc::new(Engine::new(Schemas::embedded(), settings))
});

/// The transport.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Wire {
    Stdio,
    Http,
}

impl Wire {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Wire::Stdio => "stdio",
            Wire::Http => "http",
        }
    }

    pub(crate) fn named(name: &str) -> Option<Wire> {
        [Wire::Stdio, Wire::Http].into_iter().find(|wire| wire.name() == name)
    }
}

/// A finding: the probe that made it, and the rule.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Found {
    pub(crate) probe: String,
    pub(crate) rule: String,
    pub(crate) message: String,
}

/// A process that is killed on drop.
struct Listening(Child);

impl Drop for Listening {
    fn drop(&mut self) {
        // It may have died already, because of its fault.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Tests the server with this fault, or without.
pub(crate) async fn test(
    fault: Option<&str>,
    wire: Wire,
    settings: Settings,
) -> Result<Report, RunError> {
    let mut arguments: Vec<String> = Vec::new();
    if let Some(fault) = fault {
        arguments.extend(["--fault".to_owned(), fault.to_owned()]);
    }
    let mut ignored = |_: &Event<'_>| {};
    let program = env!("CARGO_BIN_EXE_faulty-server");
    match wire {
        Wire::Stdio => {
            let arguments = arguments.into_iter().map(Into::into).collect();
            let target =
                Target::Command(Launch { program: program.into(), arguments, ..Launch::default() });
            Run::new(target, Arc::clone(&ENGINE), settings).run(&mut ignored).await
        }
        Wire::Http => {
            let mut child = Command::new(program)
                .args(&arguments)
                .args(["--listen", "127.0.0.1:0"])
                .stdout(Stdio::piped())
                .spawn()
                .unwrap();
            let mut stdout = std::io::BufReader::new(child.stdout.take().unwrap());
            let _listening = Listening(child);
            let mut url = String::new();
            std::io::BufRead::read_line(&mut stdout, &mut url).unwrap();
            let target = Target::url(url.trim(), HeaderMap::new()).unwrap();
            Run::new(target, Arc::clone(&ENGINE), settings).run(&mut ignored).await
        }
    }
}

/// Everything that was found.
pub(crate) fn findings(report: &Report) -> Vec<Found> {
    let mut found: Vec<Found> = report
        .results
        .iter()
        .flat_map(|result| {
            result.failures.iter().map(|failure| Found {
                probe: result.name.clone(),
                rule: failure.finding.rule.name.to_owned(),
                message: failure.finding.message.clone(),
            })
        })
        .collect();
    found.sort();
    found
}

/// The rules by which `plumb check` finds something in a recording.
pub(crate) fn found_in(recording: &[u8]) -> Vec<&'static str> {
    let mut observer = Observer::new(&ENGINE, RecordingInfo::default());
    let mut reader = LineReader::new(&ENGINE.settings().limits);
    let mut found = Vec::new();
    for (number, line) in (1..).zip(recording.split(|byte| *byte == b'\n')) {
        let ruling = reader.read(line, |read| observer.decide(number, read, |_| Some(false)));
        found.extend(ruling.findings().map(|finding| finding.rule.name));
    }
    found
}

/// Settings that test everything at one revision, with short timeouts.
pub(crate) fn settings(revision: &str, only: &[&str]) -> Settings {
    let limits = Limits {
        answer: Duration::from_secs(2),
        exit: Duration::from_secs(2),
        start: Duration::from_secs(10),
        ..Limits::default()
    };
    Settings {
        limits,
        only: only.iter().map(|name| (*name).to_owned()).collect(),
        revisions: vec![revision.parse::<Revision>().unwrap()],
        ..Settings::default()
    }
}
