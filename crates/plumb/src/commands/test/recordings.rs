//! Saves the conversations of a test.

use std::{
    fs,
    io::Write as _,
    path::{Path, PathBuf},
};

use mcp_probe::Report;

use crate::{failure::Failure, text::shown_path};

/// The directory for recordings of conversations.
pub(super) struct Directory(PathBuf);

impl Directory {
    pub(super) fn create(path: &Path) -> Result<Directory, Failure> {
        fs::create_dir_all(path).map_err(|error| unwritable(path, error))?;
        Ok(Directory(path.to_owned()))
    }

    /// The file of a recording.
    pub(super) fn file(&self, name: &str) -> PathBuf {
        self.0.join(format!("{name}.jsonl"))
    }

    /// Writes every conversation that has messages.
    pub(super) fn keep(&self, report: &Report) -> Result<(), Failure> {
        for recording in report.recordings.iter().filter(|recording| !recording.is_empty()) {
            let path = self.file(recording.name());
            let mut options = fs::OpenOptions::new();
            options.write(true).create(true).truncate(true);
            // Messages may contain secrets.
            #[cfg(unix)]
            std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
            options
                .open(&path)
                .and_then(|mut file| file.write_all(&recording.text()))
                .map_err(|error| unwritable(&path, error))?;
        }
        Ok(())
    }
}

/// Turns a name into a file name.
pub(super) fn file_name(name: &str) -> String {
    name.replace(|c: char| !c.is_ascii_alphanumeric() && !"-_".contains(c), "-")
}

fn unwritable(path: &Path, error: std::io::Error) -> Failure {
    Failure::new(format!("could not record to {}", shown_path(path)))
        .because(error)
        .hint("choose a directory that you can write to")
}
