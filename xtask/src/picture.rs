//! `docs/demo.svg`: the terminal output of `plumb check traces/demo.jsonl`, shown in the README.

use std::{path::PathBuf, process::Command};

use anstyle_svg::{Term, WIN10_CONSOLE};
use anyhow::{Context, Result, ensure};

use crate::layout;

const COMMAND: &str = "plumb check traces/demo.jsonl";
/// The exit code of a check that found errors, as expected of this one.
const FOUND_ERRORS: i32 = 1;

pub(crate) fn path() -> PathBuf {
    layout::docs_folder().join("demo.svg")
}

pub(crate) fn text() -> Result<String> {
    let output = Command::new("cargo")
        .args(["run", "--quiet", "--package", "plumb", "--"])
        .args(COMMAND.split(' ').skip(1))
        .args(["--no-config", "--color", "always"])
        .current_dir(layout::root())
        .output()
        .context("could not start cargo")?;
    let complaint = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.code() == Some(FOUND_ERRORS), "`{COMMAND}` failed:\n{complaint}");
    let shown = String::from_utf8(output.stdout).context("the output is not UTF-8")?;
    Ok(Term::new().palette(WIN10_CONSOLE).render_svg(&format!("$ {COMMAND}\n{shown}")))
}
