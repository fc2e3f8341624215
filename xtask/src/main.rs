//! Writes the generated files of this repository, or checks that they are current.
//!
//! ```text
//! cargo xtask generate            write the validators of `mcp-schema`, `docs/rules.md` and
//!                                 `docs/demo.svg`
//! cargo xtask generate --check    exit 1 and name the file if one is stale
//! cargo xtask compare-official DIR
//!                                 compare our schema documents with the official files
//!                                 DIR/<revision>/schema.json
//! ```

mod compare;
mod emit;
mod generate;
mod layout;
mod methods;
mod picture;
mod rule_index;
mod schema;
mod shape;

use std::{path::Path, process::ExitCode};

use anyhow::{Result, bail};

const USAGE: &str = "usage: cargo xtask generate [--check] | compare-official DIR";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match run(&arguments) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("xtask: {error:#}");
            ExitCode::from(2)
        }
    }
}

fn run(arguments: &[String]) -> Result<ExitCode> {
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments.as_slice() {
        ["generate"] => generate::write(),
        ["generate", "--check"] => generate::check(),
        ["compare-official", directory] => compare::run(Path::new(directory)),
        _ => bail!(USAGE),
    }
}
