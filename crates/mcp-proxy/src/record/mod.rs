//! Writes recordings to files.
//!
//! ```text
//! Recorder ─┬─ one RecordFile ─► trace.jsonl, trace.1.jsonl, trace.2.jsonl, …
//!           └─ Split: a RecordFile for each conversation
//! ```

mod file;
mod numbered;
mod split;

use std::{
    fmt, fs,
    hash::RandomState,
    io,
    path::{Path, PathBuf},
};

use mcp_rules::redact::Redactor;

use self::{file::RecordFile, numbered::Numbered, split::Split};

/// Why a recording could not be created.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
#[non_exhaustive]
pub enum RecordError {
    #[error("could not create the recording `{}`", path.display())]
    Create {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error("could not rename the existing recording `{}`", path.display())]
    Keep {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error("`{}` is not a directory, so it cannot hold a file for each conversation", path.display())]
    NotADirectory { path: PathBuf },
}

/// How a recording is divided into files.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct RecordSettings {
    /// Maximum size of a file in bytes. A file that would grow larger is renamed with a number, and
    /// a new one is started. Lines are never split. Default: no limit.
    pub max_size: Option<u64>,
    /// Whether every conversation gets its own file; the recording is a directory then.
    pub per_conversation: bool,
    /// Number of finished files to keep; older ones are deleted. Default: all.
    pub keep: Option<usize>,
}

/// Writes a recording line by line. After a crash it contains every line that was flushed.
pub struct Recorder {
    path: PathBuf,
    out: Output,
    redactor: Option<Redactor<RandomState>>,
}

enum Output {
    File(RecordFile),
    Split(Box<Split>),
}

impl Recorder {
    /// Creates a recording.
    ///
    /// In a directory it becomes a new file, named after `name`. An existing file that is not empty
    /// is renamed. Only the owner can read recordings, since they may contain secrets.
    ///
    /// # Errors
    ///
    /// If the file cannot be created.
    pub fn create(path: &Path, name: &str) -> Result<Recorder, RecordError> {
        Recorder::with(path, name, RecordSettings::default())
    }

    /// Creates a recording that may consist of several files.
    ///
    /// # Errors
    ///
    /// If the file cannot be created.
    pub fn with(
        path: &Path,
        name: &str,
        settings: RecordSettings,
    ) -> Result<Recorder, RecordError> {
        if settings.per_conversation {
            if !path.exists() {
                fs::create_dir(path)
                    .map_err(|source| RecordError::Create { path: path.to_owned(), source })?;
            }
            if !path.is_dir() {
                return Err(RecordError::NotADirectory { path: path.to_owned() });
            }
            let split = Split::new(path, name, settings);
            let out = Output::Split(Box::new(split));
            return Ok(Recorder { path: path.to_owned(), out, redactor: None });
        }
        let path = if path.is_dir() { path.join(format!("{name}.jsonl")) } else { path.to_owned() };
        Numbered::of(&path)
            .set_aside()
            .map_err(|source| RecordError::Keep { path: path.clone(), source })?;
        let file = RecordFile::create(&path, settings)
            .map_err(|source| RecordError::Create { path: path.clone(), source })?;
        Ok(Recorder { path, out: Output::File(file), redactor: None })
    }

    /// Masks secrets before they are written. Lengths, types and positions stay, so that a recording
    /// gives the findings that the traffic gave.
    #[must_use]
    pub fn redacting(mut self, redactor: Redactor<RandomState>) -> Recorder {
        self.redactor = Some(redactor);
        self
    }

    /// Its path: a file, or a directory if every conversation has its own file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes one line.
    pub(crate) fn write(&mut self, line: &[u8]) -> io::Result<()> {
        let masked = self.redactor.as_ref().map(|redactor| {
            let mut masked = line.to_owned();
            redactor.line(&mut masked);
            masked
        });
        let shown = masked.as_deref().unwrap_or(line);
        match &mut self.out {
            Output::File(file) => file.write(shown),
            // Use the unmasked line to find the conversation, since masked values may identify it.
            Output::Split(split) => split.write(line, shown),
        }
    }

    pub(crate) fn flush(&mut self) -> io::Result<()> {
        match &mut self.out {
            Output::File(file) => file.flush(),
            Output::Split(split) => split.flush(),
        }
    }
}

impl fmt::Debug for Recorder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Recorder").field("path", &self.path).finish_non_exhaustive()
    }
}
