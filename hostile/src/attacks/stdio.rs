//! Attacks on a stdio server.

use std::{
    io::{Read as _, Write as _},
    time::Duration,
};

use crate::{outcome::Outcome, process::Program, stage::Stage};

const SERVER: &str = "example-stdio-tools";

/// Large ids, which are kept while their requests are served, and returned.
pub(crate) fn large_ids(stage: &Stage) -> anyhow::Result<Outcome> {
    let mut server = Program::start(stage, SERVER, &[])?;
    let mut input = server.stdin()?;
    // The answers are not read, so at some point the server stops reading, too.
    let id = "x".repeat(1 << 20);
    let writer = std::thread::spawn(move || {
        for number in 0..128 {
            let ping =
                format!("{{\"jsonrpc\":\"2.0\",\"id\":\"{number}{id}\",\"method\":\"ping\"}}\n");
            if input.write_all(ping.as_bytes()).is_err() {
                break;
            }
        }
    });
    std::thread::sleep(Duration::from_secs(stage.times(5, 2) as u64));
    let peak = server.peak()?;
    // The writer may be blocked; the end of the server unblocks it.
    drop(server);
    let _ = writer.join();
    Ok(Outcome::new().memory(peak, 64))
}

/// A server whose output is closed must exit.
pub(crate) fn closed_output(stage: &Stage) -> anyhow::Result<Outcome> {
    let mut server = Program::start(stage, SERVER, &[])?;
    let mut input = server.stdin()?;
    let mut output = server.stdout()?;
    input.write_all(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n")?;
    output.read_exact(&mut [0])?;
    drop(output);
    input.write_all(b"{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"ping\"}\n")?;
    let ended = server.wait(Duration::from_secs(10));
    Ok(Outcome::new().check(ended.is_ok(), "it ends"))
}
