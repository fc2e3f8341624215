//! Writes recordings to files.

use std::{
    fmt,
    fs::{self, File, OpenOptions},
    io::{self, BufWriter, Write},
    path::{Path, PathBuf},
};

/// Why a recording could not be begun.
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
    #[error("could not keep the recording `{}` that is there already", path.display())]
    Keep {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
}

/// Writes a recording, one line after the other. After a crash it holds every line that was flushed.
pub struct Recorder {
    path: PathBuf,
    out: BufWriter<File>,
}

impl Recorder {
    /// Begins a recording.
    ///
    /// In a directory it gets a file of its own, named after `name`. A file that exists and is not
    /// empty is kept under another name. Only the owner may read recordings: they may hold secrets.
    ///
    /// # Errors
    ///
    /// If the file cannot be created.
    pub fn create(path: &Path, name: &str) -> Result<Recorder, RecordError> {
        let path = if path.is_dir() { path.join(format!("{name}.jsonl")) } else { path.to_owned() };
        keep_existing(&path)?;
        let mut options = OpenOptions::new();
        options.write(true).create(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file = options
            .open(&path)
            .map_err(|source| RecordError::Create { path: path.clone(), source })?;
        Ok(Recorder { path, out: BufWriter::new(file) })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes one line.
    pub(crate) fn write(&mut self, line: &[u8]) -> io::Result<()> {
        self.out.write_all(line)?;
        self.out.write_all(b"\n")
    }

    pub(crate) fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// Moves a recording out of the way. A device, a pipe or an empty file is used as it is.
fn keep_existing(path: &Path) -> Result<(), RecordError> {
    let Ok(metadata) = fs::metadata(path) else { return Ok(()) };
    if !metadata.is_file() || metadata.len() == 0 {
        return Ok(());
    }
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let extension = path.extension().map(|extension| extension.to_string_lossy());
    let extension = extension.map(|extension| format!(".{extension}")).unwrap_or_default();
    let free = (1..=MOST_KEPT)
        .map(|number| path.with_file_name(format!("{stem}.{number}{extension}")))
        .find(|other| !other.exists());
    let renamed = match free {
        Some(other) => fs::rename(path, other),
        None => Err(io::Error::other(format!("there are {MOST_KEPT} older ones"))),
    };
    renamed.map_err(|source| RecordError::Keep { path: path.to_owned(), source })
}

/// How many older recordings of one name may be kept.
const MOST_KEPT: u32 = 9999;

impl fmt::Debug for Recorder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Recorder").field("path", &self.path).finish_non_exhaustive()
    }
}
