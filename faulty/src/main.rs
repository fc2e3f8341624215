//! A small MCP server that is correct, or wrong in exactly one way.
//!
//! ```text
//! faulty-server [--fault NAME] [--listen ADDR]
//! faulty-server --list
//! ```
//!
//! It serves standard input and output, or with `--listen` HTTP; the URL is printed then. It speaks every revision.
//! `--list` prints a line for each fault: name, phase, how messages must travel for it to show, a revision in which it
//! shows, and what is wrong, with tabs between.

mod fault;
mod faults;
mod http;
mod incoming;
mod methods;
mod offer;
mod outbox;
mod reply;
mod revision;
mod server;
mod stdio;
mod world;

use std::{process::ExitCode, sync::Arc};

use anyhow::{Context as _, bail};

use crate::{
    faults::Fault,
    server::{Faults, Server},
    world::World,
};

const USAGE: &str = "usage: faulty-server [--fault NAME] [--listen ADDR] | --list";

#[tokio::main]
async fn main() -> anyhow::Result<ExitCode> {
    let (mut fault, mut listen) = (None, None);
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        match word.as_str() {
            "--fault" => fault = Some(named(&words.next().context(USAGE)?)?),
            "--listen" => listen = Some(words.next().context(USAGE)?),
            "--list" => {
                // The reader may close the pipe early.
                let _ = list(&mut std::io::stdout().lock());
                return Ok(ExitCode::SUCCESS);
            }
            _ => bail!(USAGE),
        }
    }
    let server = Arc::new(Server { faults: Faults(fault), world: World::default() });
    let code = match listen {
        Some(address) => http::serve(server, &address).await.map(|()| 0)?,
        None => stdio::serve(server).await?,
    };
    // A pending read of standard input cannot be cancelled, so exit.
    std::process::exit(code.into())
}

fn named(name: &str) -> anyhow::Result<Fault> {
    let fault = Fault::ALL.iter().find(|fault| fault.name() == name);
    fault.copied().with_context(|| format!("there is no fault {name:?}; --list shows all"))
}

fn list(output: &mut impl std::io::Write) -> std::io::Result<()> {
    for fault in Fault::ALL {
        let (phase, carrier, revision) =
            (fault.phase().name(), fault.carrier().name(), fault.era().revision().name());
        writeln!(output, "{}\t{phase}\t{carrier}\t{revision}\t{}", fault.name(), fault.text())?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_fault_has_a_name_of_its_own() {
        let names: BTreeSet<_> = Fault::ALL.iter().map(|fault| fault.name()).collect();
        assert_eq!(names.len(), Fault::ALL.len());
        assert!(names.len() >= 100, "{}", names.len());
    }
}
