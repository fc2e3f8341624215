//! What a server writes to its standard error.

use std::{
    io::{self, Read, Write as _},
    sync::mpsc::{self, Receiver},
    thread,
};

use super::{
    Errors,
    splitter::{Line, Splitter},
};
use crate::{Observation, Tap};

/// Longer lines are only counted.
const LONGEST: usize = 64 << 10;
const BUFFER: usize = 8 << 10;

/// Shows the lines of `errors` to the tap until it ends; then the receiver is told.
pub(super) fn observe(
    errors: impl Read + Send + 'static,
    tap: &Tap,
    treatment: Errors,
) -> Receiver<()> {
    let (done, is_done) = mpsc::channel();
    let tap = tap.clone();
    thread::spawn(move || {
        observe_all(errors, &tap, treatment);
        let _ = done.send(());
    });
    is_done
}

fn observe_all(mut errors: impl Read, tap: &Tap, treatment: Errors) {
    let mut splitter = Splitter::new(LONGEST);
    let mut buffer = vec![0; BUFFER];
    let see = |line: Line<'_>| {
        if treatment == Errors::Logged {
            log(line);
        }
        tap.observe(match line {
            Line::Whole(text) => Observation::stderr(text.to_owned()),
            Line::TooLong { length, .. } => Observation::stderr(Vec::new()).skipping(length),
        });
    };
    loop {
        let count = match errors.read(&mut buffer) {
            Ok(0) => break,
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(_) => break,
        };
        let bytes = buffer.get(..count).unwrap_or_default();
        if treatment == Errors::Passed {
            // If nobody reads ours, the server must not notice.
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
