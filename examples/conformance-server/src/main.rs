//! The server that the official conformance suite drives: one Streamable HTTP endpoint for both
//! eras, with everything the suite requires by name.
//!
//! ```sh
//! cargo run -p example-conformance-server -- --port 8080
//! ```
//!
//! `scripts/conformance` starts it and runs the suite. Findings go to standard error; a finding
//! against the server itself is a bug of ours.
#![expect(clippy::print_stdout, reason = "whoever starts it waits for the address")]

mod fixtures;

use std::{env, future, net::Ipv4Addr};

use anyhow::Context as _;
use clap::Parser;
use mcp_sdk::{
    Finding, Server, Validation,
    core::{Revision, Revisions},
    transport::http::server::{HttpSettings, ServeSettings, serve},
};

/// Serves what the conformance suite requires.
#[derive(Parser)]
struct Arguments {
    /// The port; defaults to the PORT environment variable, or else to any free port.
    #[arg(long)]
    port: Option<u16>,

    /// The newest revision to support.
    #[arg(long, value_name = "REVISION", default_value_t = Revision::LATEST)]
    max_protocol: Revision,
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let arguments = Arguments::parse();
    let port = match arguments.port {
        Some(port) => port,
        None => port_of_environment()?,
    };
    let server = fixtures::add_to(Server::builder("plumb-conformance-server", "0.1.0"))
        .revisions(Revisions::up_to(arguments.max_protocol))
        .validation(Validation::enforce().on_finding(tell))
        .build()?;
    fixtures::add_running(&server)?;

    let listener = mcp_sdk::transport::bind((Ipv4Addr::LOCALHOST, port)).await?;
    println!("http://{}/mcp", listener.local_addr()?);
    let service = server.http_service(HttpSettings::default());
    serve(listener, service, ServeSettings::default(), future::pending()).await;
    Ok(())
}

#[expect(clippy::disallowed_methods, reason = "a program may look at its environment")]
fn port_of_environment() -> anyhow::Result<u16> {
    match env::var("PORT") {
        Ok(port) => port.parse().context("PORT is not a port number"),
        Err(_) => Ok(0),
    }
}

fn tell(finding: &Finding) {
    let side = finding.at_fault.or(finding.from).map_or("nobody", |side| side.as_str());
    eprintln!("finding against {side}: {}: {}", finding.rule.name, finding.message);
}
