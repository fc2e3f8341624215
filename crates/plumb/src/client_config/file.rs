//! Reading and atomically replacing a configuration file.

use std::{
    fs::{self, File},
    io::{self, Read as _, Write as _},
    path::{Path, PathBuf},
};

use crate::replacement::Replacement;

/// Far larger than any configuration.
pub(super) const MAX_BYTES: usize = 16 << 20;

/// A file, and its content when it was read.
#[derive(Debug)]
pub(crate) struct ConfigFile {
    path: PathBuf,
    pub(crate) text: Vec<u8>,
}

impl ConfigFile {
    /// Reads the file at `path`.
    pub(crate) fn read(path: &Path) -> io::Result<ConfigFile> {
        if !fs::metadata(path)?.is_file() {
            return Err(io::Error::other("it is not a regular file"));
        }
        Ok(ConfigFile { path: path.to_owned(), text: read(path)? })
    }

    /// Replaces the content atomically, keeping links and permissions.
    pub(crate) fn replace(&self, text: &[u8]) -> io::Result<()> {
        let mut new = Replacement::begin(&self.path)?;
        new.file.write_all(text)?;
        if read(&self.path)? != self.text {
            return Err(io::Error::other("it was changed by another program; try again"));
        }
        new.finish()
    }
}

fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut text = Vec::new();
    File::open(path)?.take(MAX_BYTES as u64 + 1).read_to_end(&mut text)?;
    if text.len() > MAX_BYTES {
        return Err(io::Error::other(format!("it is larger than {} MiB", MAX_BYTES >> 20)));
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_changed_meanwhile_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("c.json");
        fs::write(&path, "old").unwrap();
        let file = ConfigFile::read(&path).unwrap();
        fs::write(&path, "theirs").unwrap();
        assert!(file.replace(b"new").unwrap_err().to_string().contains("another program"));
        assert_eq!(fs::read(&path).unwrap(), b"theirs");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "nothing else is left");
    }

    #[test]
    fn a_file_beyond_the_limit_is_not_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("c.json");
        fs::write(&path, vec![b' '; MAX_BYTES]).unwrap();
        assert_eq!(ConfigFile::read(&path).unwrap().text.len(), MAX_BYTES);
        fs::write(&path, vec![b' '; MAX_BYTES + 1]).unwrap();
        assert!(ConfigFile::read(&path).unwrap_err().to_string().contains("16 MiB"));
        assert!(ConfigFile::read(folder.path()).is_err());
    }

    #[cfg(unix)]
    #[test]
    fn links_and_permissions_stay() {
        use std::os::unix::fs::{PermissionsExt as _, symlink};

        let folder = tempfile::tempdir().unwrap();
        let (path, link) = (folder.path().join("c.json"), folder.path().join("link.json"));
        fs::write(&path, "old").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        symlink(&path, &link).unwrap();
        ConfigFile::read(&link).unwrap().replace(b"new").unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read(&path).unwrap(), b"new");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o640);
    }
}
