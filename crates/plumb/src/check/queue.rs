//! Distributes the work: chunks of lines, from one file after the other.

use std::{
    fs::File,
    io::{self, Read},
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError, atomic::AtomicU64},
};

use mcp_rules::{Engine, Observer, Origin};

use super::{
    chunks::{Chunk, Chunks, Supply},
    inputs::{InputError, Source},
    lines::Lines,
    output::Sated,
    turns::Turns,
    worker::Following,
};

/// A file being checked, or standard input. There may be several at a time.
#[derive(Debug)]
pub(super) struct CheckedFile<'e> {
    pub(super) name: Arc<str>,
    pub(super) path: Option<PathBuf>,
    /// Taken when the file's output begins.
    lines: Mutex<Option<Lines>>,
    pub(super) following: Turns<Following<'e>>,
    pub(super) sated: Sated,
    /// Number of findings beyond the limit per message.
    pub(super) dropped: AtomicU64,
}

impl CheckedFile<'_> {
    pub(super) fn take_lines(&self) -> Option<Lines> {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// A chunk to be checked, or just the end of a file. The worker has the chunk itself.
#[derive(Debug)]
pub(super) struct Task<'e> {
    /// Position among all tasks, from 0.
    pub(super) number: u64,
    pub(super) file: Arc<CheckedFile<'e>>,
    /// Set if this is the last task of the file.
    pub(super) end: Option<End>,
}

/// How a file ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    Complete,
    /// The rest could not be read.
    BrokenOff,
}

/// Why a file was not checked, or not to the end.
#[derive(Debug, thiserror::Error)]
pub(super) enum Unreadable {
    #[error(transparent)]
    Input(InputError),
    #[error("could not read {0}")]
    Read(Arc<str>, #[source] io::Error),
}

/// A file, and the rest of it that is still to be read.
type Open<'e> = (Arc<CheckedFile<'e>>, Chunks<Box<dyn Read + Send>>);

/// What remains to be checked.
pub(super) struct Queue<'e> {
    engine: &'e Engine,
    origin: Origin,
    max_line: usize,
    sources: std::vec::IntoIter<Source>,
    open: Option<Open<'e>>,
    tasks: u64,
    failures: Vec<Unreadable>,
}

impl<'e> Queue<'e> {
    pub(super) fn new(engine: &'e Engine, origin: Origin, sources: Vec<Source>) -> Queue<'e> {
        // A record wraps a message, and may escape its bytes.
        let max_line =
            engine.settings().limits.message_bytes.saturating_mul(2).saturating_add(64 * 1024);
        let sources = sources.into_iter();
        Queue { engine, origin, max_line, sources, open: None, tasks: 0, failures: Vec::new() }
    }

    /// Fills `chunk` with the next lines and returns its task; `None` if nothing is left.
    pub(super) fn next(&mut self, chunk: &mut Chunk) -> Option<Task<'e>> {
        let (file, mut chunks) = match self.open.take() {
            Some(open) => open,
            None => self.open_next()?,
        };
        let end = match chunks.next(chunk) {
            Ok(true) if !chunk.is_last => None,
            Ok(_) => Some(End::Complete),
            Err(error) => {
                self.failures.push(Unreadable::Read(file.name.clone(), error));
                chunk.bytes.clear();
                chunk.too_long = false;
                Some(End::BrokenOff)
            }
        };
        if end.is_none() {
            self.open = Some((Arc::clone(&file), chunks));
        }
        self.tasks += 1;
        Some(Task { number: self.tasks - 1, file, end })
    }

    pub(super) fn into_failures(self) -> Vec<Unreadable> {
        self.failures
    }

    /// Opens the next file that can be opened.
    fn open_next(&mut self) -> Option<Open<'e>> {
        loop {
            let opened = match self.sources.next()? {
                Source::Stdin => {
                    let source: Box<dyn Read + Send> = Box::new(io::stdin());
                    Ok((Arc::from("-"), None, None, source))
                }
                Source::File(path) => match File::open(&path) {
                    Ok(file) => {
                        let name = Arc::from(path.to_string_lossy());
                        let lines = Lines::of(&path, &file);
                        Ok((name, Some(path), lines, Box::new(file) as Box<dyn Read + Send>))
                    }
                    Err(error) => Err(InputError::Open(path, error)),
                },
            };
            match opened {
                Err(error) => self.failures.push(Unreadable::Input(error)),
                Ok((name, path, lines, source)) => {
                    let supply = if lines.is_some() { Supply::Whole } else { Supply::Gradual };
                    let chunks = Chunks::new(source, supply, self.max_line);
                    let following = Turns::new(Following {
                        observer: Observer::new(self.engine, self.origin),
                        lines_before: 0,
                        max_line: self.max_line,
                    });
                    let file = CheckedFile {
                        name,
                        path,
                        lines: Mutex::new(lines),
                        following,
                        sated: Sated::default(),
                        dropped: AtomicU64::new(0),
                    };
                    return Some((Arc::new(file), chunks));
                }
            }
        }
    }
}
