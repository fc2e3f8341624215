//! Attacks on `plumb check` with files from an untrusted source.

use std::{
    io::{BufRead as _, BufReader},
    os::unix::fs::symlink,
    process::{Command, Stdio},
    time::Duration,
};

use anyhow::Context as _;

use crate::{
    attacks::{
        folder::{Folder, text},
        shows_controls,
    },
    outcome::Outcome,
    process::Program,
    stage::Stage,
};

/// Lines that look like the beginning of something.
pub(crate) fn open_braces(stage: &Stage) -> anyhow::Result<Outcome> {
    let folder = Folder::new("braces")?;
    let file = folder.write("trace.jsonl", &"{\n".repeat(stage.times(10 << 20, 1 << 20)))?;
    let mut check = Program::start(stage, "plumb", &["check", text(&file)?])?;
    // Drop its output, so that it does not block. The peak is the last value seen before its exit.
    drop(check.stdout()?);
    let mut peak = 0;
    let ended = loop {
        match check.wait(Duration::from_millis(20)) {
            Ok(status) => break Ok(status),
            Err(_) if peak > 4_000 => break Err(()),
            Err(_) => peak = peak.max(check.peak().unwrap_or(0)),
        }
    };
    Ok(Outcome::new().memory(peak, 200).check(ended.is_ok(), "it ends"))
}

/// `plumb check … | head -1`: the exit code must still report errors.
pub(crate) fn reader_leaves(stage: &Stage) -> anyhow::Result<Outcome> {
    let folder = Folder::new("reader")?;
    let file = folder.write("trace.jsonl", &"{\"jsonrpc\":\"1.0\",\"id\":1}\n".repeat(20_000))?;
    let arguments = ["check", "--max-findings", "all", text(&file)?];
    let mut check = Program::start(stage, "plumb", &arguments)?;
    let mut output = BufReader::new(check.stdout()?);
    output.read_line(&mut String::new())?;
    drop(output);
    let status = check.wait(Duration::from_secs(60))?;
    Ok(Outcome::new().check(status.code() == Some(1), format!("exit code {:?}", status.code())))
}

/// Links, pipes and devices in a folder.
pub(crate) fn folder(stage: &Stage) -> anyhow::Result<Outcome> {
    let (folder, outside) = (Folder::new("folder")?, Folder::new("outside")?);
    folder.write("good.jsonl", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n")?;
    let secret = outside.write("secret.jsonl", "{\"canary\":\"4711\"}\n")?;
    symlink(&secret, folder.path().join("link.jsonl"))?;
    symlink("/dev/zero", folder.path().join("endless.jsonl"))?;
    symlink(outside.path(), folder.path().join("elsewhere"))?;
    Command::new("mkfifo").arg(folder.path().join("pipe.jsonl")).status()?;
    let child = Command::new(stage.folder.join("plumb"))
        .args(["check", text(folder.path())?])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    let id = child.id();
    let output = std::thread::spawn(move || child.wait_with_output());
    let start = std::time::Instant::now();
    while !output.is_finished() && start.elapsed() < Duration::from_secs(10) {
        std::thread::sleep(Duration::from_millis(20));
    }
    let has_ended = output.is_finished();
    if !has_ended {
        Command::new("kill").arg(id.to_string()).status()?;
    }
    let output = output.join().ok().context("the thread ends")??;
    let shown = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    Ok(Outcome::new()
        .check(has_ended, "it ends")
        .check(!shown.contains("4711"), "nothing from outside is shown")
        .check(shown.contains("pipe.jsonl"), "it names what it skips"))
}

/// Names that would clear the screen, in every format.
pub(crate) fn escapes(stage: &Stage) -> anyhow::Result<Outcome> {
    let folder = Folder::new("escapes")?;
    let name = r"a\u001b[2Jb\u0007c\u009bd\u202ee\n\udb40\udc41";
    let line = format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"{name}\":1,\"params\":{{\"name\":7,\"arguments\":{{\"{name}\":{{}}}},\"_meta\":{{\"{name}\":\"{name}\"}}}}}}\n"
    );
    let raw = line.replace("\\u009b", "\u{9b}").replace("\\u202e", "\u{202e}");
    let file = folder.write("trace.jsonl", &[line, raw].concat())?;
    let mut outcome = Outcome::new();
    for format in ["human", "json", "sarif", "junit", "github"] {
        let output = Command::new(stage.folder.join("plumb"))
            .args(["check", "--color", "never", "--format", format, text(&file)?])
            .stdin(Stdio::null())
            .output()?;
        let shown = [output.stdout, output.stderr].concat();
        let is_good = !shown.is_empty() && !shows_controls(&shown);
        outcome = outcome.check(is_good, format!("nothing raw in {format}"));
    }
    Ok(outcome)
}
