use std::{
    fs::{File, OpenOptions},
    io::{self, BufWriter, Write},
    path::{Path, PathBuf},
};

use super::{RecordSettings, numbered::Numbered};

/// The current file of a recording, and the older ones that it continues.
#[derive(Debug)]
pub(super) struct RecordFile {
    out: BufWriter<File>,
    numbered: Numbered,
    path: PathBuf,
    settings: RecordSettings,
    size: u64,
    /// A device or a pipe cannot be renamed.
    is_regular: bool,
}

/// The last line of a file that is continued in another one: it makes readers forget the state, so
/// that nothing is held against a peer that only the next file shows.
const CONTINUED: &[u8] = b"{\"from\":\"client\",\"lost\":0}\n";

impl RecordFile {
    /// Creates a file, or continues it.
    pub(super) fn create(path: &Path, settings: RecordSettings) -> io::Result<RecordFile> {
        let file = open(path)?;
        let metadata = file.metadata()?;
        Ok(RecordFile {
            out: BufWriter::new(file),
            numbered: Numbered::of(path),
            path: path.to_owned(),
            settings,
            size: metadata.len(),
            is_regular: metadata.is_file(),
        })
    }

    pub(super) fn write(&mut self, line: &[u8]) -> io::Result<()> {
        let length = line.len() as u64 + 1;
        let needed = self.size + length + CONTINUED.len() as u64;
        if self.size > 0 && self.settings.max_size.is_some_and(|max| needed > max) {
            self.rotate()?;
        }
        self.out.write_all(line)?;
        self.out.write_all(b"\n")?;
        self.size += length;
        Ok(())
    }

    pub(super) fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }

    fn rotate(&mut self) -> io::Result<()> {
        if !self.is_regular {
            return Ok(());
        }
        self.out.write_all(CONTINUED)?;
        self.out.flush()?;
        self.numbered.retire()?;
        self.out = BufWriter::new(open(&self.path)?);
        self.size = 0;
        if let Some(keep) = self.settings.keep
            && let Err(error) = self.numbered.prune(keep)
        {
            // Failing to delete is not fatal: the new file is what matters.
            tracing::warn!(%error, "could not delete an old recording");
        }
        Ok(())
    }
}

fn open(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.append(true).create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}
