//! Attacks built programs as an anonymous peer could, and measures what that costs them.
//!
//! ```text
//! plumb-hostile [--quick] [--only TEXT] FOLDER
//! ```
//!
//! `FOLDER` contains the programs: `plumb` and the examples. Every attack starts its own program
//! and has a memory budget; where other clients are served meanwhile, they must get a minimum
//! number of answers. Exits with 1 if a budget is exceeded.

#![expect(clippy::print_stdout, reason = "prints a table")]

mod attacks;
mod healthy;
mod http;
mod outcome;
mod process;
mod stage;
mod websocket;

use std::{path::PathBuf, process::ExitCode};

use anyhow::{Context as _, bail};

use crate::{attacks::ATTACKS, stage::Stage};

fn main() -> anyhow::Result<ExitCode> {
    let (stage, only) = arguments()?;
    let width = ATTACKS.iter().map(|attack| attack.name.len()).max().unwrap_or(0);
    let mut failed = 0;
    for attack in ATTACKS.iter().filter(|attack| attack.name.contains(&only)) {
        let outcome = (attack.run)(&stage).with_context(|| format!("attack `{}`", attack.name))?;
        let verdict = if outcome.is_good() { "ok" } else { "FAILED" };
        println!("{:width$}  {verdict:6}  {outcome}", attack.name);
        failed += usize::from(!outcome.is_good());
    }
    println!("\n{failed} attacks exceeded their budgets");
    Ok(if failed == 0 { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

fn arguments() -> anyhow::Result<(Stage, String)> {
    let (mut quick, mut only, mut folder) = (false, String::new(), None);
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        match word.as_str() {
            "--quick" => quick = true,
            "--only" => only = words.next().context("--only TEXT")?,
            _ if folder.is_none() && !word.starts_with('-') => folder = Some(PathBuf::from(word)),
            _ => bail!("usage: plumb-hostile [--quick] [--only TEXT] FOLDER"),
        }
    }
    let folder = folder.context("usage: plumb-hostile [--quick] [--only TEXT] FOLDER")?;
    Ok((Stage { folder, quick }, only))
}
