//! Lines of 64 MB, four times the message limit.

use std::{
    io::{BufRead as _, BufReader, Write as _},
    process::ChildStdin,
    thread::{self, JoinHandle},
    time::Duration,
};

use crate::{
    attacks::folder::{Folder, text},
    outcome::Outcome,
    process::Program,
    stage::Stage,
};

const PIECE: usize = 1 << 20;
const PING: &str = "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"ping\"}\n";

/// Writes overlong lines, then a ping. Returns the input, so that the caller decides when to close
/// it.
fn flood(mut input: ChildStdin, lines: usize) -> JoinHandle<ChildStdin> {
    thread::spawn(move || {
        let piece = vec![b'x'; PIECE];
        for _ in 0..lines {
            // If the program has exited, there is no answer.
            let _ = (0..64).try_for_each(|_| input.write_all(&piece));
            let _ = input.write_all(b"\n");
        }
        let _ = input.write_all(PING.as_bytes());
        input
    })
}

/// Measures a program that reads such lines, and whether it answers a ping after them.
fn outcome(mut program: Program, lines: usize, budget: u64) -> anyhow::Result<Outcome> {
    let writer = flood(program.stdin()?, lines);
    let said = BufReader::new(program.stdout()?).lines();
    let is_pong = |line: String| line.contains("\"id\":7,\"result\"") && line.len() < 1000;
    let is_answered = said.map_while(Result::ok).any(is_pong);
    let peak = program.peak()?;
    drop(writer.join());
    Ok(Outcome::new().memory(peak, budget).check(is_answered, "the next line is answered"))
}

/// To a server.
pub(crate) fn to_server(stage: &Stage) -> anyhow::Result<Outcome> {
    let server = Program::start(stage, "example-stdio-tools", &[])?;
    outcome(server, stage.times(8, 2), 64)
}

/// Through a proxy that enforces.
pub(crate) fn through_proxy(stage: &Stage) -> anyhow::Result<Outcome> {
    let server = stage.folder.join("example-stdio-tools");
    let arguments = ["proxy", "-q", "--enforce", "--", text(&server)?];
    let proxy = Program::start(stage, "plumb", &arguments)?;
    outcome(proxy, stage.times(8, 2), 128)
}

/// In a recording.
pub(crate) fn in_file(stage: &Stage) -> anyhow::Result<Outcome> {
    let folder = Folder::new("lines")?;
    let line = "x".repeat(64 * PIECE);
    let file = folder.write("trace.jsonl", &format!("{line}\n").repeat(stage.times(4, 1)))?;
    let mut check = Program::start(stage, "plumb", &["check", text(&file)?])?;
    drop(check.stdout()?);
    let mut peak = 0;
    while check.wait(Duration::from_millis(20)).is_err() && peak < 4_000 {
        peak = peak.max(check.peak().unwrap_or(0));
    }
    Ok(Outcome::new().memory(peak, 200).check(peak < 4_000, "it ends"))
}
