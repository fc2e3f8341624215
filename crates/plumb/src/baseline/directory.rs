use std::{
    ffi::OsStr,
    fs, io,
    path::{Component, Path, PathBuf},
};

/// How a baseline names standard input.
const STDIN: &str = "-";

/// The directory of a baseline. File names are relative to it, so that the baseline means the same
/// in every checkout and from every working directory.
#[derive(Debug)]
pub(super) struct BaselineDirectory(PathBuf);

impl BaselineDirectory {
    /// The directory of the baseline at `path`, which must exist.
    pub(super) fn of(path: &Path) -> io::Result<BaselineDirectory> {
        fs::canonicalize(directory(path)).map(BaselineDirectory)
    }

    /// The name of a file; `None` is standard input.
    pub(super) fn name(&self, file: Option<&Path>) -> String {
        let Some(file) = file else {
            return STDIN.to_owned();
        };
        // Only the directory is resolved: a symlink keeps its own name.
        let absolute = fs::canonicalize(directory(file)).ok().zip(file.file_name());
        let relative = absolute.and_then(|(directory, name)| self.relative(&directory, name));
        let name = relative.unwrap_or_else(|| file.to_owned());
        let parts = name.components().map(|part| part.as_os_str().to_string_lossy());
        parts.collect::<Vec<_>>().join("/")
    }

    /// Whether the file no longer exists.
    pub(super) fn lacks(&self, name: &str) -> bool {
        name != STDIN && !self.0.join(name).exists()
    }

    fn relative(&self, directory: &Path, name: &OsStr) -> Option<PathBuf> {
        let shared = (self.0.components().zip(directory.components()))
            .take_while(|(ours, theirs)| ours == theirs)
            .count();
        // Another drive.
        if shared == 0 {
            return None;
        }
        let up = self.0.components().skip(shared).map(|_| Component::ParentDir);
        let down = directory.components().skip(shared);
        Some(up.chain(down).chain([Component::Normal(name)]).collect())
    }
}

fn directory(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if parent.as_os_str().is_empty() => Path::new("."),
        Some(parent) => parent,
        None => path,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_named_relative_to_the_baseline() {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir_all(root.path().join("a/b")).unwrap();
        fs::create_dir_all(root.path().join("c")).unwrap();
        let directory = BaselineDirectory::of(&root.path().join("a/baseline.json")).unwrap();
        let name = |path: &str| directory.name(Some(&root.path().join(path)));
        assert_eq!(name("a/t.jsonl"), "t.jsonl");
        assert_eq!(name("a/b/../b/t.jsonl"), "b/t.jsonl");
        assert_eq!(name("c/odd name.jsonl"), "../c/odd name.jsonl");
        assert_eq!(directory.name(None), "-");
        assert!(directory.lacks("b/t.jsonl") && !directory.lacks("../c") && !directory.lacks("-"));
    }

    #[test]
    fn a_link_keeps_its_name() {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir(root.path().join("real")).unwrap();
        fs::write(root.path().join("real/t.jsonl"), "").unwrap();
        std::os::unix::fs::symlink("real/t.jsonl", root.path().join("link.jsonl")).unwrap();
        std::os::unix::fs::symlink("real", root.path().join("folder")).unwrap();
        let directory = BaselineDirectory::of(&root.path().join("baseline.json")).unwrap();
        assert_eq!(directory.name(Some(&root.path().join("link.jsonl"))), "link.jsonl");
        assert_eq!(directory.name(Some(&root.path().join("folder/t.jsonl"))), "real/t.jsonl");
    }

    #[test]
    fn a_missing_directory_is_an_error() {
        assert!(BaselineDirectory::of(Path::new("no/such/baseline.json")).is_err());
        let directory = BaselineDirectory::of(Path::new("baseline.json")).unwrap();
        assert_eq!(directory.name(Some(Path::new("no/such.jsonl"))), "no/such.jsonl");
    }
}
