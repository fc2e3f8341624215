//! `cargo xtask generate`: writes `src/generated/` from `revisions/`, and the pages in `docs/` from
//! plumb's output.

use std::{
    collections::BTreeMap,
    fs,
    io::Write as _,
    path::{Path, PathBuf},
    process::{Command, ExitCode, Stdio},
};

use anyhow::{Context, Result, ensure};
use mcp_core::Revision;

use crate::{
    emit::{self, Sources},
    layout,
    methods::parse_table,
    picture, rule_index,
    schema::parse_document,
};

/// Writes every generated file.
pub(crate) fn write() -> Result<ExitCode> {
    let folder = layout::generated_folder();
    fs::create_dir_all(&folder)
        .with_context(|| format!("could not create {}", folder.display()))?;
    for (path, text) in files()? {
        fs::write(&path, text).with_context(|| format!("could not write {}", path.display()))?;
    }
    for path in strays()? {
        fs::remove_file(&path).with_context(|| format!("could not remove {}", path.display()))?;
    }
    // Last, because plumb is built from the files above.
    for (path, text) in pages()? {
        fs::create_dir_all(layout::docs_folder())
            .and_then(|()| fs::write(&path, text))
            .with_context(|| format!("could not write {}", path.display()))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Lists every file that differs from what would be written now.
pub(crate) fn check() -> Result<ExitCode> {
    let mut stale = stale()?;
    // plumb is built from those files, so its output is meaningless while one of them is stale.
    if stale.is_empty() {
        let pages = pages()?.into_iter();
        stale.extend(pages.filter(|(path, text)| !is_current(path, text)).map(|(path, _)| path));
    }
    for path in &stale {
        let path = path.strip_prefix(layout::root()).unwrap_or(path);
        eprintln!("{} is stale; run `cargo xtask generate`", path.display());
    }
    Ok(if stale.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Generated modules that are out of date.
fn stale() -> Result<Vec<PathBuf>> {
    let mut stale = strays()?;
    for (path, text) in files()? {
        if !is_current(&path, &text) {
            stale.push(path);
        }
    }
    Ok(stale)
}

fn is_current(path: &Path, text: &str) -> bool {
    fs::read_to_string(path).ok().as_deref() == Some(text)
}

/// The pages made from plumb's output.
fn pages() -> Result<[(PathBuf, String); 2]> {
    Ok([(rule_index::path(), rule_index::text()?), (picture::path(), picture::text()?)])
}

/// Every generated module with its text.
fn files() -> Result<BTreeMap<PathBuf, String>> {
    let mut files = BTreeMap::new();
    let folder = layout::generated_folder();
    let sources: Vec<Sources> = (Revision::ALL.into_iter()).map(read).collect::<Result<_>>()?;
    for (position, revision) in sources.iter().enumerate() {
        let text = emit::revision(revision, &sources[..position])
            .with_context(|| format!("revision {}", revision.revision))?;
        let name = format!("{}.rs", layout::module_name(revision.revision));
        files.insert(folder.join(name), format(&text)?);
    }
    files.insert(folder.join("mod.rs"), format(&emit::index(&Revision::ALL))?);
    Ok(files)
}

fn read(revision: Revision) -> Result<Sources> {
    let folder = layout::revision_folder(revision);
    let load = |name: &str| -> Result<String> {
        let path = folder.join(name);
        fs::read_to_string(&path).with_context(|| format!("could not read {}", path.display()))
    };
    let definitions =
        parse_document(&load("schema.json")?).with_context(|| format!("{revision}/schema.json"))?;
    let methods = parse_table(&load("methods.json")?, &definitions)
        .with_context(|| format!("{revision}/methods.json"))?;
    Ok(Sources { revision, definitions, methods })
}

/// Files in the folder of generated modules that no longer belong to a revision.
fn strays() -> Result<Vec<PathBuf>> {
    let mut known: Vec<String> = (Revision::ALL.into_iter())
        .map(|revision| format!("{}.rs", layout::module_name(revision)))
        .collect();
    known.push("mod.rs".to_owned());
    let mut strays = Vec::new();
    let folder = layout::generated_folder();
    for entry in
        fs::read_dir(&folder).with_context(|| format!("could not list {}", folder.display()))?
    {
        let entry = entry?;
        if !known.iter().any(|name| entry.file_name() == name.as_str()) {
            strays.push(entry.path());
        }
    }
    Ok(strays)
}

/// Formats `text` with `rustfmt` and the settings of the workspace.
fn format(text: &str) -> Result<String> {
    let mut child = Command::new("rustfmt")
        .args(["--edition", "2024", "--config-path"])
        .arg(layout::root())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .context("could not start rustfmt")?;
    let mut input = child.stdin.take().context("rustfmt takes no input")?;
    // On its own thread: rustfmt may start writing before it has read everything.
    let text = text.to_owned();
    let feeder = std::thread::spawn(move || input.write_all(text.as_bytes()));
    let output = child.wait_with_output().context("rustfmt failed")?;
    feeder
        .join()
        .expect("writing to a pipe does not panic")
        .context("could not write to rustfmt")?;
    ensure!(output.status.success(), "rustfmt rejected the generated source");
    String::from_utf8(output.stdout).context("the output of rustfmt is not UTF-8")
}

#[cfg(test)]
mod tests {
    #[test]
    fn generated_files_are_current() {
        assert_eq!(super::stale().unwrap(), Vec::<std::path::PathBuf>::new());
    }
}
