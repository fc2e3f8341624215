//! The taps that see and record the traffic of each server.

use std::{
    hash::RandomState,
    path::{Path, PathBuf},
    process,
    sync::Arc,
    time::SystemTime,
};

use mcp_proxy::{Counts, RecordSettings, Recorder, Tap};
use mcp_rules::redact::Redactor;

use crate::{args::ProxyArgs, failure::Failure, text::shown_path};

/// One tap for everything, or one for each server if each has a recording of its own.
pub(super) struct Taps {
    first: Tap,
    /// The taps of the other servers, by name.
    others: Vec<(Arc<str>, Tap)>,
    records: Vec<PathBuf>,
}

impl Taps {
    /// Makes taps for the servers with these names.
    pub(super) fn new(
        names: &[Arc<str>],
        args: &ProxyArgs,
        make: impl Fn(Option<Recorder>) -> Tap,
    ) -> anyhow::Result<Taps> {
        let record = args.record.as_deref();
        let several = record.is_some_and(|path| names.len() > 1 && path.is_dir());
        let mut records = Vec::new();
        let mut begin = |name: Option<&str>| -> anyhow::Result<Tap> {
            let recorder = record.map(|path| begin(path, name, args)).transpose()?;
            records.extend(recorder.as_ref().map(|recorder| recorder.path().to_owned()));
            Ok(make(recorder))
        };
        let names = if several { names } else { &[] };
        let first = begin(names.first().map(|name| &**name))?;
        let mut others = Vec::new();
        for name in names.iter().skip(1) {
            others.push((Arc::clone(name), begin(Some(name))?));
        }
        Ok(Taps { first, others, records })
    }

    /// The tap for the traffic of a server.
    pub(super) fn of(&self, name: Option<Arc<str>>) -> Tap {
        let Some(name) = name else { return self.first.clone() };
        let own = self.others.iter().find(|(owner, _)| *owner == name);
        own.map_or(&self.first, |(_, tap)| tap).for_upstream(name)
    }

    /// All of them.
    pub(super) fn all(&self) -> Vec<Tap> {
        let others = self.others.iter().map(|(_, tap)| tap.clone());
        std::iter::once(self.first.clone()).chain(others).collect()
    }

    /// Ends all recordings.
    pub(super) fn finish(self) -> (Counts, Vec<PathBuf>) {
        let others = self.others.iter().map(|(_, tap)| tap.finish());
        (others.fold(self.first.finish(), Counts::and), self.records)
    }
}

fn begin(path: &Path, server: Option<&str>, args: &ProxyArgs) -> anyhow::Result<Recorder> {
    let server = server.map(|name| format!("-{}", name.replace('/', "-"))).unwrap_or_default();
    let name = format!("{}{server}", record_name());
    let recorder = Recorder::with(path, &name, settings(args)?).map_err(|error| {
        let place = shown_path(path);
        Failure::new(format!("could not record to {place}"))
            .because(error)
            .hint("choose a file or directory that you can write to")
    })?;
    if !args.redact && args.redact_pointer.is_empty() {
        return Ok(recorder);
    }
    let redactor = Redactor::new(RandomState::new());
    let patterns = args.redact_pointer.iter().cloned();
    Ok(recorder.redacting(patterns.fold(redactor, Redactor::pointer)))
}

/// How to divide recordings into files.
fn settings(args: &ProxyArgs) -> anyhow::Result<RecordSettings> {
    let mut settings = RecordSettings::default();
    settings.max_size = args.record_max_size;
    settings.per_conversation = args.record_per_session;
    settings.keep = args.record_keep.map(usize::from);
    if settings.keep.is_some() && settings.max_size.is_none() && !settings.per_conversation {
        return Err(Failure::new("--record-keep needs recordings in several files")
            .hint("add --record-max-size or --record-per-session")
            .into());
    }
    Ok(settings)
}

/// A file name for a recording that starts now.
#[expect(clippy::disallowed_methods, reason = "recordings are named after their beginning")]
pub(crate) fn record_name() -> String {
    let time = humantime::format_rfc3339_seconds(SystemTime::now()).to_string().replace(':', "");
    format!("{time}-{}", process::id())
}
