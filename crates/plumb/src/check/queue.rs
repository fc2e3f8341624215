//! Distributes the work: chunks of lines, from one file after the other.

use std::{
    fs::File,
    io::{self, Cursor, Read},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError, atomic::AtomicU64},
};

use mcp_recording::har::{self, HarError, HarTrace};
use mcp_rules::{Engine, Finding, Observer, RecordingInfo};

use super::{
    chunks::{Chunk, Chunks, Supply},
    inputs::{InputError, Skipped, Source},
    lines::Lines,
    output::Sated,
    turns::Turns,
    worker::Following,
};

/// Maximum size of a capture, which is held in memory, as a multiple of the message limit.
pub(crate) const CAPTURE: usize = 8;

/// A file being checked, or standard input. There may be several at a time.
#[derive(Debug)]
pub(super) struct CheckedFile<'e> {
    pub(super) name: Arc<str>,
    pub(super) path: Option<PathBuf>,
    /// Taken when the file's output begins.
    lines: Mutex<Option<Lines>>,
    pub(super) following: Turns<Following<'e>>,
    pub(super) sated: Sated,
    /// For a recording converted from a capture: the line of the capture that each line comes from.
    pub(super) captured: Option<Vec<u64>>,
    /// Number of findings beyond the limit per message.
    pub(super) dropped: AtomicU64,
}

impl CheckedFile<'_> {
    pub(super) fn take_lines(&self) -> Option<Lines> {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Makes a finding refer to lines of the capture it was converted from, if any.
    pub(super) fn lead_back(&self, finding: &mut Finding) {
        let Some(lines) = &self.captured else { return };
        let line_of = |line: u64| {
            let index = usize::try_from(line).ok().and_then(|line| line.checked_sub(1));
            index.and_then(|index| lines.get(index)).copied().unwrap_or(line)
        };
        finding.line = finding.line.map(line_of);
        if let Some(related) = &mut finding.related {
            related.line = line_of(related.line);
        }
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
    #[error("could not read {0}")]
    Capture(Arc<str>, #[source] HarError),
}

/// An open file, and the chunks still to be read from it.
type Open<'e> = (Arc<CheckedFile<'e>>, Chunks<Box<dyn Read + Send>>);

/// A stream in the recording format, and the lines of the capture that it was converted from.
type Converted = (Box<dyn Read + Send>, Option<Vec<u64>>);

/// The files that remain to be checked.
pub(super) struct Queue<'e> {
    engine: &'e Engine,
    info: RecordingInfo,
    max_line: usize,
    sources: std::vec::IntoIter<Source>,
    open: Option<Open<'e>>,
    tasks: u64,
    failures: Vec<Unreadable>,
    skipped: Vec<Skipped>,
}

impl<'e> Queue<'e> {
    pub(super) fn new(engine: &'e Engine, info: RecordingInfo, sources: Vec<Source>) -> Queue<'e> {
        // A record wraps a message, and may escape its bytes.
        let max_line =
            engine.settings().limits.message_bytes.saturating_mul(2).saturating_add(64 * 1024);
        let sources = sources.into_iter();
        let (failures, skipped) = (Vec::new(), Vec::new());
        Queue { engine, info, max_line, sources, open: None, tasks: 0, failures, skipped }
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

    /// Inputs that could not be read, and files that were skipped.
    pub(super) fn into_rest(self) -> (Vec<Unreadable>, Vec<Skipped>) {
        (self.failures, self.skipped)
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
            let (name, path, lines, source) = match opened {
                Ok(opened) => opened,
                Err(error) => {
                    self.failures.push(Unreadable::Input(error));
                    continue;
                }
            };
            let Some((source, captured)) = self.convert_capture(&name, path.as_deref(), source)
            else {
                continue;
            };
            let supply = if lines.is_some() { Supply::Whole } else { Supply::Gradual };
            let chunks = Chunks::new(source, supply, self.max_line);
            let following = Turns::new(Following {
                observer: Observer::new(self.engine, self.info),
                lines_before: 0,
                max_line: self.max_line,
            });
            let file = CheckedFile {
                name,
                path,
                // The lines judged are not lines of the capture.
                lines: Mutex::new(lines.filter(|_| captured.is_none())),
                following,
                sated: Sated::default(),
                captured,
                dropped: AtomicU64::new(0),
            };
            return Some((Arc::new(file), chunks));
        }
    }

    /// Converts a capture to a recording, and leaves everything else as it is. `None` if it cannot
    /// be read.
    fn convert_capture(
        &mut self,
        name: &Arc<str>,
        path: Option<&Path>,
        source: Box<dyn Read + Send>,
    ) -> Option<Converted> {
        let is_named = path.and_then(Path::extension).is_some_and(|it| it == "har");
        let (is_capture, source) = match har::sniff(source) {
            Ok(sniffed) => sniffed,
            Err(error) => {
                self.failures.push(Unreadable::Read(name.clone(), error));
                return None;
            }
        };
        if !is_capture && !is_named {
            return Some((Box::new(source), None));
        }
        let max_bytes = self.engine.settings().limits.message_bytes.saturating_mul(CAPTURE);
        match har::read(source, max_bytes) {
            Ok(HarTrace { text, lines, entries, skipped }) => {
                if skipped > 0 {
                    self.skipped.push(Skipped::entries(name, skipped, entries));
                }
                Some((Box::new(Cursor::new(text)), Some(lines)))
            }
            Err(error) => {
                self.failures.push(Unreadable::Capture(name.clone(), error));
                None
            }
        }
    }
}
