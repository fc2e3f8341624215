//! A small MCP client that is correct, or wrong in exactly one way.
//!
//! ```text
//! faulty-client [--fault NAME | --impatient] [--modern] URL | COMMAND [ARGUMENT...]
//! faulty-client --list
//! ```
//!
//! It opens a conversation with the server at the URL, or with the command that it starts, lists the tools, calls
//! `echo`, and exits. With `--impatient` it cancels a list that takes a second, which is no fault. With `--modern` it speaks 2026-07-28, else the revisions with a handshake. `--list` prints a line
//! for each fault: name, where it shows, the rule that is broken, and what is wrong, with tabs between.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "prints a list, and what went wrong"
)]

mod client;
mod faults;
mod http;
mod legacy;
mod modern;
mod stdio;

use std::process::ExitCode;

use anyhow::{Context as _, bail};

use crate::{client::Client, faults::Fault};

const USAGE: &str = "usage: faulty-client [--fault NAME | --impatient] [--modern] URL | COMMAND [ARGUMENT...] | --list";

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> anyhow::Result<()> {
    let (mut fault, mut is_modern) = (None, false);
    let mut words = std::env::args().skip(1);
    let target = loop {
        let word = words.next().context(USAGE)?;
        match word.as_str() {
            "--fault" => fault = Some(Fault::named(&words.next().context(USAGE)?)?.name),
            "--impatient" => fault = Some("impatient"),
            "--modern" => is_modern = true,
            "--list" => {
                for fault in Fault::ALL {
                    println!("{}\t{}\t{}\t{}", fault.name, fault.shows, fault.rule, fault.text);
                }
                return Ok(());
            }
            _ if word.starts_with("--") => bail!(USAGE),
            _ => break word,
        }
    };
    let name = fault.unwrap_or_default();
    let arguments: Vec<String> = words.collect();
    let mut client = if target.starts_with("http://") {
        Client::new(name, is_modern, Box::new(http::Http::new(&target, name, is_modern)?))
    } else {
        Client::new(name, is_modern, Box::new(stdio::Stdio::start(&target, &arguments, name)?))
    };
    if is_modern {
        modern::run(&mut client)?;
    } else {
        legacy::run(&mut client)?;
    }
    client.close()
}
