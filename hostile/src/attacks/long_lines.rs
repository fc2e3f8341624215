//! Lines of 64 MB, four times what a message may have.

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

/// Writes lines that are too long, then a ping.
fn flood(mut input: ChildStdin, lines: usize) -> JoinHandle<()> {
    thread::spawn(move || {
        let piece = vec![b'x'; PIECE];
        for _ in 0..lines {
            for _ in 0..64 {
                if input.write_all(&piece).is_err() {
                    return;
                }
            }
            let _ = input.write_all(b"\n");
        }
        let _ = input.write_all(PING.as_bytes());
        // The answer comes before the end.
        thread::sleep(Duration::from_secs(1));
    })
}

/// Whether a program answers a ping behind such lines.
fn is_answered(program: &mut Program, lines: usize) -> anyhow::Result<bool> {
    let writer = flood(program.stdin()?, lines);
    let answers = BufReader::new(program.stdout()?);
    let mut said = answers.lines().map_while(Result::ok);
    let is_answered = said.any(|line| line.contains("\"id\":7,\"result\"") && line.len() < 1000);
    drop(said);
    let _ = writer.join();
    Ok(is_answered)
}

/// To a server.
pub(crate) fn to_server(stage: &Stage) -> anyhow::Result<Outcome> {
    let mut server = Program::start(stage, "example-stdio-tools", &[])?;
    let is_answered = is_answered(&mut server, stage.times(8, 2))?;
    Ok(Outcome::new().memory(server.peak()?, 64).check(is_answered, "the next line is answered"))
}

/// Through a proxy that enforces.
pub(crate) fn through_proxy(stage: &Stage) -> anyhow::Result<Outcome> {
    let server = stage.folder.join("example-stdio-tools");
    let arguments = ["proxy", "-q", "--enforce", "--", text(&server)?];
    let mut proxy = Program::start(stage, "plumb", &arguments)?;
    let is_answered = is_answered(&mut proxy, stage.times(8, 2))?;
    Ok(Outcome::new().memory(proxy.peak()?, 128).check(is_answered, "the next line is answered"))
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
