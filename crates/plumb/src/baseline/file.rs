//! The file format: an object with one entry per line, sorted, so that diffs read well.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs::{self, File},
    io::{self, Read as _},
    num::NonZero,
    path::Path,
};

use serde::{Deserialize, Serialize};

use super::{Baseline, BaselineDirectory, Entry, MAX_ENTRIES, Purpose};
use crate::{
    failure::Failure,
    report::Fingerprint,
    text::{grouped, shown_path},
};

/// Version of the file format.
const FORMAT: u64 = 1;
/// A larger file is not a baseline.
const MAX_BYTES: u64 = 64 * 1024 * 1024;

/// The only member that all versions of the format share.
#[derive(Deserialize)]
struct Head {
    #[serde(rename = "plumbBaseline")]
    format: u64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    #[serde(rename = "plumbBaseline")]
    _format: u64,
    findings: Vec<Row>,
}

#[derive(Serialize, Deserialize, PartialEq, Eq, PartialOrd, Ord)]
#[serde(deny_unknown_fields)]
struct Row {
    file: String,
    rule: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    from: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    method: Option<String>,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    at: String,
    fingerprint: String,
    count: NonZero<u64>,
}

/// Why a file cannot be used as a baseline.
#[derive(Debug, thiserror::Error)]
enum Unusable {
    #[error("it is larger than {} bytes", grouped(MAX_BYTES))]
    TooLarge,
    #[error(transparent)]
    Json(#[from] serde_json::Error),
    #[error("it has format {0}, but this version of plumb only supports {FORMAT}")]
    Format(u64),
    #[error("`{0}` is not a fingerprint: 16 hexadecimal digits")]
    Fingerprint(String),
}

impl Baseline {
    /// Reads the baseline at `path`.
    pub(crate) fn load(path: &Path) -> Result<Baseline, Failure> {
        let unreadable = |error: io::Error| {
            let hint = format!("`plumb check --write-baseline {} …` writes one", shown_path(path));
            Failure::new(format!("could not read the baseline `{}`", shown_path(path)))
                .because(error)
                .hint(hint)
        };
        let text = read(path).map_err(unreadable)?;
        let files = parse(&text).map_err(|error| {
            Failure::new(format!("the baseline `{}` cannot be used", shown_path(path)))
                .because(error)
                .hint("move it out of the way and write a new one with `--write-baseline`")
        })?;
        let directory = BaselineDirectory::of(path).map_err(unreadable)?;
        Ok(Baseline::new(path, directory, Purpose::Use, files))
    }

    /// An empty baseline, to be written to `path`.
    pub(crate) fn recording(path: &Path) -> Result<Baseline, Failure> {
        let unwritable = |error: io::Error| {
            Failure::new(format!("could not write the baseline `{}`", shown_path(path)))
                .because(error)
        };
        let directory = BaselineDirectory::of(path).map_err(unwritable)?;
        if path.is_file() {
            let text = read(path).map_err(unwritable)?;
            if !text.is_empty() && parse(&text).is_err() {
                let message =
                    format!("`{}` is not a baseline, so it was not overwritten", shown_path(path));
                return Err(Failure::new(message).hint("choose another file, or remove this one"));
            }
        }
        Ok(Baseline::new(path, directory, Purpose::Write, BTreeMap::new()))
    }

    fn new(path: &Path, directory: BaselineDirectory, purpose: Purpose, files: Files) -> Baseline {
        let checked = BTreeSet::new();
        let (path, current) = (path.to_owned(), String::new());
        Baseline { path, directory, purpose, files, checked, current, entries: 0 }
    }

    /// Writes what was found and returns the number of findings.
    pub(crate) fn write(&self) -> Result<u64, Failure> {
        let shown = shown_path(&self.path);
        if self.entries > MAX_ENTRIES {
            let most = grouped(MAX_ENTRIES as u64);
            let message = format!("more than {most} different findings do not fit a baseline");
            return Err(Failure::new(message).hint("turn off the rules that fire everywhere"));
        }
        fs::write(&self.path, self.text()).map_err(|error| {
            Failure::new(format!("could not write the baseline `{shown}`")).because(error)
        })?;
        Ok(self.files.values().flat_map(BTreeMap::values).map(|entry| entry.seen).sum())
    }

    fn text(&self) -> String {
        let rows = self.files.iter().flat_map(|(file, entries)| {
            entries.iter().filter_map(move |(print, entry)| row(file, *print, entry))
        });
        let mut rows: Vec<Row> = rows.collect();
        rows.sort();
        let lines: Vec<String> = (rows.iter())
            .map(|row| serde_json::to_string(row).expect("strings and a number"))
            .collect();
        let break_before = if lines.is_empty() { "" } else { "\n" };
        format!(
            "{{\"plumbBaseline\":{FORMAT},\"findings\":[{break_before}{}\n]}}\n",
            lines.join(",\n")
        )
    }
}

type Files = BTreeMap<String, BTreeMap<Fingerprint, Entry>>;

fn row(file: &str, print: Fingerprint, entry: &Entry) -> Option<Row> {
    Some(Row {
        file: file.to_owned(),
        rule: entry.rule.clone(),
        from: entry.from.clone(),
        method: entry.method.clone(),
        at: entry.at.clone(),
        fingerprint: print.to_string(),
        count: NonZero::new(entry.seen)?,
    })
}

fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut text = Vec::new();
    File::open(path)?.take(MAX_BYTES + 1).read_to_end(&mut text)?;
    Ok(text)
}

fn parse(text: &[u8]) -> Result<Files, Unusable> {
    if text.len() as u64 > MAX_BYTES {
        return Err(Unusable::TooLarge);
    }
    let Head { format } = serde_json::from_slice(text)?;
    if format != FORMAT {
        return Err(Unusable::Format(format));
    }
    let document: Document = serde_json::from_slice(text)?;
    let mut files = Files::new();
    for row in document.findings {
        let Row { file, rule, from, method, at, fingerprint, count } = row;
        let print = Fingerprint::parse(&fingerprint).ok_or(Unusable::Fingerprint(fingerprint))?;
        let entry = Entry { rule, from, method, at, count: 0, seen: 0 };
        let entry = files.entry(file).or_default().entry(print).or_insert(entry);
        // A merge of two branches may have added it twice.
        entry.count = entry.count.saturating_add(count.get());
    }
    Ok(files)
}
