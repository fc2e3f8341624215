//! What the user named, turned into files.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use crate::plan::Input;

/// One thing to read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Source {
    Stdin,
    File(PathBuf),
}

/// Why something the user named cannot be read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum InputError {
    #[error("could not open {}", .0.display())]
    Open(PathBuf, #[source] io::Error),
    #[error("could not list {}", .0.display())]
    List(PathBuf, #[source] io::Error),
    #[error("no file matches {}", .0.display())]
    NoMatch(PathBuf),
    #[error("{} has no .jsonl or .ndjson files", .0.display())]
    EmptyDirectory(PathBuf),
    #[error("{} is not a pattern", .0.display())]
    Pattern(PathBuf, #[source] glob::PatternError),
}

/// File names that are taken from a directory.
const ENDINGS: [&str; 2] = ["jsonl", "ndjson"];

/// The files behind `inputs`, in the order named and by name inside directories and patterns;
/// and what could not be found.
pub(super) fn expand(inputs: &[Input]) -> (Vec<Source>, Vec<InputError>) {
    let (mut sources, mut errors) = (Vec::new(), Vec::new());
    for input in inputs {
        match input {
            Input::Stdin => sources.push(Source::Stdin),
            Input::Path(path) => expand_path(path, &mut sources, &mut errors),
        }
    }
    (sources, errors)
}

fn expand_path(path: &Path, sources: &mut Vec<Source>, errors: &mut Vec<InputError>) {
    match fs::metadata(path) {
        Ok(found) if found.is_dir() => {
            let before = (sources.len(), errors.len());
            walk(path, sources, errors);
            if before == (sources.len(), errors.len()) {
                errors.push(InputError::EmptyDirectory(path.into()));
            }
        }
        Ok(_) => sources.push(Source::File(path.into())),
        Err(error) => match path.to_str() {
            Some(pattern) if pattern.contains(['*', '?', '[']) => {
                expand_pattern(pattern, sources, errors);
            }
            _ => errors.push(InputError::Open(path.into(), error)),
        },
    }
}

fn expand_pattern(pattern: &str, sources: &mut Vec<Source>, errors: &mut Vec<InputError>) {
    let matches = match glob::glob(pattern) {
        Ok(matches) => matches,
        Err(error) => return errors.push(InputError::Pattern(pattern.into(), error)),
    };
    let before = sources.len();
    for entry in matches {
        match entry {
            Ok(path) if path.is_dir() => walk(&path, sources, errors),
            Ok(path) => sources.push(Source::File(path)),
            Err(error) => {
                let path = error.path().into();
                errors.push(InputError::List(path, error.into()));
            }
        }
    }
    if sources.len() == before {
        errors.push(InputError::NoMatch(pattern.into()));
    }
}

/// Takes the traces below `directory`, by name. Links to directories are not followed, so that a
/// circle of them has an end.
fn walk(directory: &Path, sources: &mut Vec<Source>, errors: &mut Vec<InputError>) {
    let entries = match fs::read_dir(directory).and_then(Iterator::collect::<io::Result<Vec<_>>>) {
        Ok(entries) => entries,
        Err(error) => return errors.push(InputError::List(directory.into(), error)),
    };
    let mut paths: Vec<PathBuf> = entries.iter().map(fs::DirEntry::path).collect();
    paths.sort();
    for path in paths {
        let is_directory = path.symlink_metadata().is_ok_and(|found| found.is_dir());
        let ending = path.extension().and_then(|ending| ending.to_str());
        if is_directory {
            walk(&path, sources, errors);
        } else if ending.is_some_and(|ending| ENDINGS.contains(&ending)) {
            sources.push(Source::File(path));
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
        let (sources, errors) = expand(&inputs);
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
