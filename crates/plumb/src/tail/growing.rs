//! A file that is being written, and may be truncated or replaced at any time.

use std::{
    fs::{self, File, Metadata},
    io::{self, Read},
    path::PathBuf,
};

/// Reads a file from its start to its current end.
#[derive(Debug)]
pub(crate) struct Growing {
    path: PathBuf,
    file: File,
    /// Bytes read so far.
    position: u64,
}

/// What happened to a file since its end was reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Growth {
    /// Nothing, or there is more to read.
    Same,
    /// It is shorter than what was read of it.
    Truncated,
    /// Another file has taken its name.
    Replaced,
}

impl Growing {
    /// Opens the file; `None` if it does not exist yet.
    pub(crate) fn open(path: PathBuf) -> io::Result<Option<Growing>> {
        match File::open(&path) {
            Ok(file) if file.metadata()?.is_dir() => Err(io::ErrorKind::IsADirectory.into()),
            Ok(file) => Ok(Some(Growing { path, file, position: 0 })),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// What happened since the end was reached. A file that is gone may come back under its name.
    pub(crate) fn growth(&self) -> io::Result<Growth> {
        let own = self.file.metadata()?;
        if own.is_file() && own.len() < self.position {
            return Ok(Growth::Truncated);
        }
        // All of the old file is to be read before the new one.
        let has_more = own.is_file() && own.len() > self.position;
        Ok(match fs::metadata(&self.path) {
            Ok(found) if !has_more && !is_same(&own, &found) => Growth::Replaced,
            _ => Growth::Same,
        })
    }

    pub(crate) fn into_path(self) -> PathBuf {
        self.path
    }
}

impl Read for Growing {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.file.read(buffer)?;
        self.position += length as u64;
        Ok(length)
    }
}

#[cfg(unix)]
fn is_same(one: &Metadata, other: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt as _;

    (one.dev(), one.ino()) == (other.dev(), other.ino())
}

/// Without inode numbers, files can only be told apart by their creation time.
#[cfg(not(unix))]
fn is_same(one: &Metadata, other: &Metadata) -> bool {
    one.created().ok() == other.created().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_happens_to_a_file_is_noticed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.jsonl");
        assert!(Growing::open(path.clone()).unwrap().is_none());
        fs::write(&path, "one\n").unwrap();
        let mut file = Growing::open(path.clone()).unwrap().unwrap();
        io::copy(&mut file, &mut io::sink()).unwrap();
        assert_eq!(file.growth().unwrap(), Growth::Same);
        fs::write(&path, "o\n").unwrap();
        assert_eq!(file.growth().unwrap(), Growth::Truncated);

        fs::write(&path, "one\n").unwrap();
        fs::rename(&path, folder.path().join("old.jsonl")).unwrap();
        assert_eq!(file.growth().unwrap(), Growth::Same, "nothing has taken its place yet");
        fs::write(&path, "new\n").unwrap();
        #[cfg(unix)]
        assert_eq!(file.growth().unwrap(), Growth::Replaced);
        fs::write(folder.path().join("old.jsonl"), "one\ntwo\n").unwrap();
        assert_eq!(file.growth().unwrap(), Growth::Same, "the old one is read first");
        assert!(Growing::open(folder.path().to_owned()).is_err());
    }
}
