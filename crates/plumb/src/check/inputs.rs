//! Expands the inputs named by the user to files.

use std::{
    borrow::Cow,
    fmt, fs, io,
    path::{Path, PathBuf},
};

use crate::{
    plan::Input,
    text::{grouped, shown_path},
};

/// One input to read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Source {
    Stdin,
    File(PathBuf),
}

/// Why an input cannot be read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum InputError {
    #[error("could not open {}", shown_path(.0))]
    Open(PathBuf, #[source] io::Error),
    #[error("could not list {}", shown_path(.0))]
    List(PathBuf, #[source] io::Error),
    #[error("no file matches {}", shown_path(.0))]
    NoMatch(PathBuf),
    #[error("{} has no .jsonl, .ndjson or .har files", shown_path(.0))]
    EmptyDirectory(PathBuf),
    #[error("{} is not a pattern", shown_path(.0))]
    Pattern(PathBuf, #[source] glob::PatternError),
}

/// Extensions of files that are read in directories.
const ENDINGS: [&str; 3] = ["jsonl", "ndjson", "har"];

/// Something that was skipped: a file in a folder although its name looks like a recording, or
/// entries of a capture.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Skipped {
    path: PathBuf,
    reason: Cow<'static, str>,
}

impl Skipped {
    /// Entries of a capture that have nothing to do with MCP.
    pub(super) fn entries(name: &str, skipped: usize, of: usize) -> Skipped {
        let (skipped, of) = (grouped(skipped as u64), grouped(of as u64));
        let reason = format!("{skipped} of {of} entries are not MCP").into();
        Skipped { path: name.into(), reason }
    }
}

impl fmt::Display for Skipped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "skipped {}: {}", shown_path(&self.path), self.reason)
    }
}

/// The inputs that the user named, with directories and patterns expanded.
#[derive(Debug, Default)]
pub(super) struct Expanded {
    /// In the order named, and by name inside folders and patterns.
    pub(super) sources: Vec<Source>,
    /// Inputs that could not be found.
    pub(super) errors: Vec<InputError>,
    pub(super) skipped: Vec<Skipped>,
}

/// The files behind `inputs`.
pub(super) fn expand(inputs: &[Input]) -> Expanded {
    let mut expanded = Expanded::default();
    for input in inputs {
        match input {
            Input::Stdin => expanded.sources.push(Source::Stdin),
            Input::Path(path) => expand_path(path, &mut expanded),
        }
    }
    expanded
}

fn expand_path(path: &Path, expanded: &mut Expanded) {
    match fs::metadata(path) {
        Ok(found) if found.is_dir() => {
            let before = (expanded.sources.len(), expanded.errors.len());
            walk(path, expanded);
            if before == (expanded.sources.len(), expanded.errors.len()) {
                expanded.errors.push(InputError::EmptyDirectory(path.into()));
            }
        }
        // The user named it, so it is opened whatever it is: a pipe, a device, a link to anywhere.
        Ok(_) => expanded.sources.push(Source::File(path.into())),
        Err(error) => match path.to_str() {
            Some(pattern) if pattern.contains(['*', '?', '[']) => expand_pattern(pattern, expanded),
            _ => expanded.errors.push(InputError::Open(path.into(), error)),
        },
    }
}

fn expand_pattern(pattern: &str, expanded: &mut Expanded) {
    let matches = match glob::glob(pattern) {
        Ok(matches) => matches,
        Err(error) => return expanded.errors.push(InputError::Pattern(pattern.into(), error)),
    };
    let before = expanded.sources.len();
    for entry in matches {
        match entry {
            Ok(path) if path.is_dir() => walk(&path, expanded),
            Ok(path) => expanded.sources.push(Source::File(path)),
            Err(error) => {
                let path = error.path().into();
                expanded.errors.push(InputError::List(path, error.into()));
            }
        }
    }
    if expanded.sources.len() == before {
        expanded.errors.push(InputError::NoMatch(pattern.into()));
    }
}

/// Collects the recordings below `directory`, sorted by name. The user who named the directory may
/// not trust what is in it: only regular files are opened, and links that lead out of it are
/// ignored. Links to directories are not followed, which also avoids cycles.
fn walk(directory: &Path, expanded: &mut Expanded) {
    let root = fs::canonicalize(directory);
    let mut waiting = vec![directory.to_owned()];
    while let Some(path) = waiting.pop() {
        let kind = match path.symlink_metadata() {
            // The user named this directory, so it may be a link.
            Ok(_) if path == directory => FoundKind::Directory,
            Ok(found) => FoundKind::of(&path, found.file_type(), root.as_deref().ok()),
            Err(error) => {
                expanded.errors.push(InputError::List(path, error));
                continue;
            }
        };
        let is_trace = (path.extension().and_then(|ending| ending.to_str()))
            .is_some_and(|ending| ENDINGS.contains(&ending));
        match kind {
            FoundKind::Directory => match sorted_entries(&path) {
                Ok(entries) => waiting.extend(entries.into_iter().rev()),
                Err(error) => expanded.errors.push(InputError::List(path, error)),
            },
            FoundKind::File if is_trace => expanded.sources.push(Source::File(path)),
            FoundKind::Other(reason) if is_trace => {
                expanded.skipped.push(Skipped { path, reason: reason.into() });
            }
            FoundKind::LinkedDirectory => {
                let reason = "links to directories are not followed".into();
                expanded.skipped.push(Skipped { path, reason });
            }
            FoundKind::File | FoundKind::Other(_) => {}
        }
    }
}

fn sorted_entries(directory: &Path) -> io::Result<Vec<PathBuf>> {
    let mut paths: Vec<PathBuf> =
        fs::read_dir(directory)?.map(|entry| Ok(entry?.path())).collect::<io::Result<_>>()?;
    paths.sort();
    Ok(paths)
}

/// What a walk finds at a path.
enum FoundKind {
    Directory,
    LinkedDirectory,
    File,
    Other(&'static str),
}

impl FoundKind {
    /// Classifies `path`, in the directory whose canonical path is `root`.
    fn of(path: &Path, own: fs::FileType, root: Option<&Path>) -> FoundKind {
        if !own.is_symlink() {
            return match own {
                own if own.is_dir() => FoundKind::Directory,
                own if own.is_file() => FoundKind::File,
                _ => FoundKind::Other(
                    "it is not a regular file; name it on the command line to read it",
                ),
            };
        }
        let (Ok(target), Some(root)) = (fs::canonicalize(path), root) else {
            return FoundKind::Other("the link is broken");
        };
        match fs::metadata(&target) {
            Ok(found) if found.is_dir() => FoundKind::LinkedDirectory,
            _ if !target.starts_with(root) => FoundKind::Other(
                "the link leads out of the directory; name it on the command line to read it",
            ),
            Ok(found) if found.is_file() => FoundKind::File,
            _ => FoundKind::Other("it links to something that is not a regular file"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree() -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        for file in ["b.jsonl", "a.ndjson", "notes.txt", "deep/er/c.jsonl"] {
            let path = root.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        root
    }

    fn check(root: &Path, inputs: &[&str], files: &[&str], failures: &[&str]) {
        let inputs: Vec<Input> = inputs.iter().map(|input| Input::Path(root.join(input))).collect();
        let Expanded { sources, errors, .. } = expand(&inputs);
        let expected: Vec<Source> =
            files.iter().map(|file| Source::File(root.join(file))).collect();
        assert_eq!(sources, expected);
        let shown: Vec<String> = errors.iter().map(ToString::to_string).collect();
        assert_eq!(shown.len(), failures.len(), "{shown:?}");
        for (shown, expected) in shown.iter().zip(failures) {
            assert!(shown.starts_with(expected), "{shown}");
        }
    }

    #[test]
    fn directories_are_walked_by_name() {
        let root = tree();
        check(root.path(), &[""], &["a.ndjson", "b.jsonl", "deep/er/c.jsonl"], &[]);
    }

    #[test]
    fn patterns_and_files_are_taken_as_named() {
        let root = tree();
        check(root.path(), &["notes.txt", "*.jsonl"], &["notes.txt", "b.jsonl"], &[]);
        check(root.path(), &["**/*.jsonl"], &["b.jsonl", "deep/er/c.jsonl"], &[]);
    }

    #[test]
    fn what_is_not_there_does_not_hide_the_rest() {
        let root = tree();
        fs::create_dir(root.path().join("empty")).unwrap();
        check(
            root.path(),
            &["missing.jsonl", "b.jsonl", "*.zip", "empty"],
            &["b.jsonl"],
            &["could not open", "no file matches", ""],
        );
    }
}
