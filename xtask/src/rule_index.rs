//! `docs/rules.md`: the rules as plumb lists them, each with a link to its own page.
//!
//! plumb is run rather than linked, because it is built from files generated here: regenerating
//! them must work even while plumb does not compile.

use std::{path::PathBuf, process::Command};

use anyhow::{Context, Result, ensure};

use crate::layout;

const INTRO: &str = "\
<!-- Written by `cargo xtask generate` from what `plumb rules --format markdown` prints. -->

";

pub(crate) fn path() -> PathBuf {
    layout::docs_folder().join("rules.md")
}

pub(crate) fn text() -> Result<String> {
    let output = Command::new("cargo")
        .args(["run", "--quiet", "--package", "plumb", "--", "rules", "--format", "markdown"])
        .current_dir(layout::root())
        .output()
        .context("could not start cargo")?;
    let complaint = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "plumb could not list its rules:\n{complaint}");
    let listed = String::from_utf8(output.stdout).context("the output of plumb is not UTF-8")?;
    Ok(with_links(&listed))
}

fn with_links(listed: &str) -> String {
    let mut text = INTRO.to_owned();
    for line in listed.lines() {
        match line.strip_prefix("| `").and_then(|rest| rest.split_once('`')) {
            Some((rule, rest)) => {
                text.extend(["| [`", rule, "`](../crates/mcp-rules/docs/", rule, ".md)", rest]);
            }
            None => text += line,
        }
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_are_linked_and_the_rest_stays() {
        let text = with_links("# Rules\n\n| rule | level |\n|---|---|\n| `a-b` | `off` |\n");
        let expected = "# Rules\n\n| rule | level |\n|---|---|\n\
                        | [`a-b`](../crates/mcp-rules/docs/a-b.md) | `off` |\n";
        assert_eq!(text.strip_prefix(INTRO), Some(expected));
    }
}
