use std::{
    fs, io,
    path::{Path, PathBuf},
};

/// The older files of a recording, oldest first: `trace.1.jsonl`, `trace.2.jsonl` and so on.
#[derive(Debug)]
pub(super) struct Numbered {
    path: PathBuf,
    stem: String,
    /// Including the dot.
    extension: String,
}

impl Numbered {
    pub(super) fn of(path: &Path) -> Numbered {
        let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let extension = path.extension().map(|extension| extension.to_string_lossy());
        let extension = extension.map(|extension| format!(".{extension}")).unwrap_or_default();
        Numbered { path: path.to_owned(), stem, extension }
    }

    /// Renames an existing recording. A device, a pipe or an empty file is used as it is.
    pub(super) fn set_aside(&self) -> io::Result<()> {
        match fs::metadata(&self.path) {
            Ok(metadata) if metadata.is_file() && metadata.len() > 0 => self.retire().map(drop),
            _ => Ok(()),
        }
    }

    /// Renames the recording to the next number.
    pub(super) fn retire(&self) -> io::Result<PathBuf> {
        let number = self.numbers()?.last().map_or(1, |last| last.saturating_add(1));
        let new = self.numbered(number);
        // Only possible after `u64::MAX` files.
        if new.exists() {
            return Err(io::Error::new(io::ErrorKind::AlreadyExists, "there is no free number"));
        }
        fs::rename(&self.path, &new)?;
        Ok(new)
    }

    /// Deletes the oldest files until `keep` are left.
    pub(super) fn prune(&self, keep: usize) -> io::Result<()> {
        let numbers = self.numbers()?;
        let surplus = numbers.len().saturating_sub(keep);
        for number in numbers.into_iter().take(surplus) {
            fs::remove_file(self.numbered(number))?;
        }
        Ok(())
    }

    fn numbered(&self, number: u64) -> PathBuf {
        self.path.with_file_name(format!("{}.{number}{}", self.stem, self.extension))
    }

    /// The numbers in use, in order.
    fn numbers(&self) -> io::Result<Vec<u64>> {
        let folder = self.path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let mut numbers = Vec::new();
        for entry in fs::read_dir(folder.unwrap_or(Path::new(".")))? {
            let name = entry?.file_name();
            numbers.extend(self.number_of(&name.to_string_lossy()));
        }
        numbers.sort_unstable();
        Ok(numbers)
    }

    fn number_of(&self, name: &str) -> Option<u64> {
        let rest = name.strip_prefix(&self.stem)?.strip_prefix('.')?;
        let digits = rest.strip_suffix(&self.extension)?;
        let number = digits.parse().ok()?;
        // Not `01` or `+1`: only names as written by this module.
        (format!("{number}") == digits).then_some(number)
    }
}
