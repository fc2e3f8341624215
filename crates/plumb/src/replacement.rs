//! Atomic replacement of a file.

use std::{
    fs::{self, File, OpenOptions},
    io,
    path::{Path, PathBuf},
    process,
};

/// A temporary file beside the one it will replace. Dropping it before [`Replacement::finish`]
/// removes it.
#[derive(Debug)]
pub(crate) struct Replacement {
    pub(crate) file: File,
    temporary: PathBuf,
    /// The file to replace, with all links resolved.
    path: PathBuf,
    is_done: bool,
}

impl Replacement {
    /// Begins a new version of the file at `path`, which need not exist. It has the permissions of
    /// the old one; a new file can be read by its owner only.
    pub(crate) fn begin(path: &Path) -> io::Result<Replacement> {
        let path = match fs::canonicalize(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => path.to_owned(),
            found => found?,
        };
        let permissions = match fs::metadata(&path) {
            Ok(found) if !found.is_file() => {
                return Err(io::Error::other("it is not a regular file"));
            }
            Ok(found) => Some(found.permissions()),
            Err(_) => None,
        };
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let temporary = path.with_file_name(format!(".{name}.plumb-{}", process::id()));
        let file = create(&temporary)?;
        let new = Replacement { file, temporary, path, is_done: false };
        if let Some(permissions) = permissions {
            new.file.set_permissions(permissions)?;
        }
        Ok(new)
    }

    /// Renames it over the old file.
    pub(crate) fn finish(mut self) -> io::Result<()> {
        self.file.sync_all()?;
        fs::rename(&self.temporary, &self.path)?;
        self.is_done = true;
        Ok(())
    }
}

impl Drop for Replacement {
    fn drop(&mut self) {
        if !self.is_done {
            // The rename has failed, and that is the error to report.
            let _ = fs::remove_file(&self.temporary);
        }
    }
}

/// Creates a file that only its owner can read.
fn create(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}
