//! The standard error of a server.

use std::{
    io::{self, Read, Write as _},
    sync::mpsc::{self, Receiver},
    thread,
};

use super::{
    StderrMode,
    splitter::{Line, Splitter},
};
use crate::{Observation, Tap};

/// Longer lines are recorded only with their length.
const LONGEST: usize = 64 << 10;
const BUFFER: usize = 8 << 10;

/// Passes the lines of `stderr` to the tap until it ends; then the receiver completes.
pub(super) fn observe(
    stderr: impl Read + Send + 'static,
    tap: &Tap,
    mode: StderrMode,
) -> Receiver<()> {
    let (done, is_done) = mpsc::channel();
    let tap = tap.clone();
    thread::spawn(move || {
        observe_all(stderr, &tap, mode);
        let _ = done.send(());
    });
    is_done
}

fn observe_all(mut stderr: impl Read, tap: &Tap, mode: StderrMode) {
    let mut splitter = Splitter::new(LONGEST);
    let mut buffer = vec![0; BUFFER];
    let see = |line: Line<'_>| {
        if mode == StderrMode::Logged {
            log(line);
        }
        tap.observe(match line {
            Line::Whole(text) => Observation::stderr(text.to_owned()),
            Line::TooLong { length, .. } => Observation::stderr(Vec::new()).skipping(length),
        });
    };
    loop {
        let count = match stderr.read(&mut buffer) {
            Ok(0) => break,
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(_) => break,
        };
        let bytes = buffer.get(..count).unwrap_or_default();
        if mode == StderrMode::Passed {
            // If our standard error is closed, the server must not notice.
            let _ = io::stderr().write_all(bytes);
        }
        splitter.push(bytes, see);
    }
    splitter.finish(see);
}

fn log(line: Line<'_>) {
    match line {
        Line::Whole(text) => {
            tracing::info!(target: "server", "{}", String::from_utf8_lossy(text).trim_end());
        }
        Line::TooLong { length, .. } => tracing::info!(target: "server", length, "a long line"),
    }
}
