//! `plumb lock`: records what a server offers, and shows what has changed since.

use std::{
    fs::File,
    io::{self, Read as _, Write as _},
    path::Path,
    sync::Arc,
};

use mcp_probe::{LOCK_BYTES, Limits, LockDocument, Run, Settings};
use mcp_rules::{
    Engine,
    lock::{Change, Drift, Lock},
};
use mcp_schema::Schemas;

use super::{
    Outcome,
    interruptible::{INTERRUPTED, interruptible},
    server,
};
use crate::{
    args::{Color, LockArgs},
    config::Config,
    failure::Failure,
    replacement::Replacement,
    style::Palette,
    text::{Layout, counted, shown_path, visible_lines, write_json},
};

/// Writes a lock file, or compares a server with one.
pub(crate) fn lock(args: &LockArgs, color: Color) -> anyhow::Result<Outcome> {
    let config = Config::from_choice(args.config.as_deref(), args.no_config)?;
    let servers = server::chosen(&args.server, &config)?;
    if servers.len() > 1 && args.output.is_some() {
        let failure = Failure::new("one lock file cannot hold several servers");
        return Err(failure.hint("name one of them, or leave out `--output`").into());
    }
    let palette = Palette::of_stdout(color);
    let mut outcome = Outcome::Clean;
    for chosen in servers {
        let path = args.output.clone().unwrap_or(chosen.lock);
        let before = args.check.then(|| read(&path)).transpose()?;
        let mut limits = Limits::default();
        limits.answer = args.timeout.or(chosen.options.timeout).unwrap_or(limits.answer);
        let settings =
            Settings { limits, revisions: args.revisions.clone(), ..Settings::default() };
        let engine = Arc::new(Engine::new(Schemas::embedded(), mcp_rules::Settings::default()));
        let run = Run::new(chosen.target, engine, settings);
        let Some(found) = interruptible(run.discover())? else { return Ok(INTERRUPTED) };
        let found = found.map_err(|error| server::untestable(&error))?;
        let mut out = anstream::stdout().lock();
        if let Some(before) = before {
            let drifts = found.drifts_from(&before);
            show(&mut out, &path, &drifts, palette)?;
            if !drifts.is_empty() {
                outcome = Outcome::Findings;
            }
        } else {
            let lock = found.lock();
            write(&path, &lock)?;
            let revisions = counted(lock.revisions().count() as u64, "revision");
            writeln!(out, "locked {revisions} in {}", shown_path(&path))?;
        }
    }
    Ok(outcome)
}

/// Reads the lock at `path`.
pub(super) fn read(path: &Path) -> Result<Lock, Failure> {
    let mut text = Vec::new();
    File::open(path)
        .and_then(|file| file.take(LOCK_BYTES as u64 + 1).read_to_end(&mut text))
        .map_err(|error| {
            Failure::new(format!("could not read the lock {}", shown_path(path)))
                .because(error)
                .hint("`plumb lock` writes one")
        })?;
    LockDocument::read(&text).map_err(|error| {
        Failure::new(format!("the lock {} cannot be used", shown_path(path)))
            .because(error)
            .hint("if you trust the server as it is now, write a new one with `plumb lock`")
    })
}

/// Writes a lock file atomically. A file that is not a lock is not overwritten.
fn write(path: &Path, lock: &Lock) -> Result<(), Failure> {
    let unwritable = |error: io::Error| {
        Failure::new(format!("could not write the lock {}", shown_path(path))).because(error)
    };
    let is_foreign = match File::open(path) {
        Ok(file) => !begins_like_a_lock(file).map_err(unwritable)?,
        Err(_) => false,
    };
    if is_foreign {
        return Err(Failure::new(format!(
            "{} is not a lock file, so it was not overwritten",
            shown_path(path)
        ))
        .hint("choose another file with `--output`, or remove this one"));
    }
    let is_new = !path.exists();
    let mut text = Vec::new();
    write_json(&mut text, &LockDocument::of(lock), Layout::Pretty).map_err(unwritable)?;
    text.push(b'\n');
    let mut new = Replacement::begin(path).map_err(unwritable)?;
    new.file.write_all(&text).map_err(unwritable)?;
    // Unlike recordings, a lock file is meant to be shared.
    #[cfg(unix)]
    if is_new {
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o644);
        new.file.set_permissions(mode).map_err(unwritable)?;
    }
    new.finish().map_err(unwritable)
}

/// Whether a file is empty or a lock of any format, even one that this version cannot read.
fn begins_like_a_lock(file: File) -> io::Result<bool> {
    let mut head = Vec::new();
    file.take(4096).read_to_end(&mut head)?;
    let head: Vec<u8> = head.into_iter().filter(|byte| !byte.is_ascii_whitespace()).collect();
    Ok(head.is_empty() || head.starts_with(b"{\"plumbLock\":"))
}

fn show(
    out: &mut impl io::Write,
    path: &Path,
    drifts: &[Drift],
    palette: Palette,
) -> io::Result<()> {
    let Palette { good, error, bold, dim, .. } = palette;
    if drifts.is_empty() {
        return writeln!(out, "{good}as locked{good:#} in {}", shown_path(path));
    }
    let mut at = None;
    for drift in drifts {
        if at != Some(drift.revision) {
            at = Some(drift.revision);
            writeln!(out, "{bold}{}{bold:#}", drift.revision)?;
        }
        let subject = drift.subject();
        let subject = visible_lines(&subject);
        match &drift.change {
            Change::Added => writeln!(out, "  {good}+{good:#} {subject}")?,
            Change::Removed => writeln!(out, "  {error}-{error:#} {subject}")?,
            Change::Changed { pointer, before, now } => {
                writeln!(
                    out,
                    "  {bold}~{bold:#} {subject} {dim}{}{dim:#}",
                    visible_lines(pointer)
                )?;
                for (mark, style, value) in [("-", error, before), ("+", good, now)] {
                    let Some(value) = value else { continue };
                    let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                    for line in visible_lines(&text).lines() {
                        writeln!(out, "      {style}{mark}{style:#} {line}")?;
                    }
                }
            }
        }
    }
    let count = counted(drifts.len() as u64, "difference");
    writeln!(out, "{error}{count}{error:#} from {}", shown_path(path))
}
