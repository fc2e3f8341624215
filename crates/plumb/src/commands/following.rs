//! Waiting for more of a recording.

use std::{
    convert::Infallible,
    io,
    path::{Path, PathBuf},
    thread,
    time::Duration,
};

use mcp_recording::{LineHandler, LineStream, Tail, TailError};

use super::notes::Notes;
use crate::{
    failure::Failure,
    tail::{Growing, Growth},
    text::shown_path,
};

/// How often to look for more.
const POLL: Duration = Duration::from_millis(100);

/// Shows a file as it grows, and any file that replaces it. Returns only on an error.
pub(super) fn follow_forever<'e, A: LineHandler>(
    notes: &Notes,
    file: PathBuf,
    mut tail: impl FnMut() -> Tail<'e, A>,
) -> anyhow::Result<Infallible> {
    let name = shown_path(&file);
    let unreadable = |error| Failure::new(format!("could not open {name}")).because(error);
    let mut path = file;
    loop {
        let growing = open_when_there(notes, &path, &name).map_err(unreadable)?;
        path = follow(notes, tail(), growing, &name)?;
    }
}

/// Shows a file until it is replaced or truncated.
fn follow(
    notes: &Notes,
    mut tail: Tail<'_, impl LineHandler>,
    growing: Growing,
    name: &str,
) -> anyhow::Result<PathBuf> {
    let mut lines = LineStream::new(growing, tail.max_line());
    loop {
        tail.read_all(&mut lines).map_err(|error| broken(error, name))?;
        let growth = lines.source().growth();
        match growth.map_err(|error| broken(TailError::Read(error), name))? {
            Growth::Same => thread::sleep(POLL),
            Growth::Truncated => {
                notes.note(&format!("{name} was truncated; reading it again from the start"));
                return Ok(lines.into_source().into_path());
            }
            Growth::Replaced => {
                notes.note(&format!("{name} was replaced; reading the new file from the start"));
                return Ok(lines.into_source().into_path());
            }
        }
    }
}

fn open_when_there(notes: &Notes, path: &Path, name: &str) -> io::Result<Growing> {
    let mut has_waited = false;
    loop {
        if let Some(growing) = Growing::open(path.to_owned())? {
            return Ok(growing);
        }
        if !std::mem::replace(&mut has_waited, true) {
            notes.note(&format!("waiting for {name}, which does not exist yet"));
        }
        thread::sleep(POLL);
    }
}

pub(super) fn broken(error: TailError, name: &str) -> anyhow::Error {
    match error {
        TailError::Read(error) => {
            Failure::new(format!("could not read {name}")).because(error).into()
        }
        TailError::Write(error) => error.into(),
    }
}
