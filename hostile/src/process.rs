//! Programs under attack.

use std::{
    fs,
    io::{BufRead as _, BufReader, Read as _},
    process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio},
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context as _, bail};
use rustix::process::{Resource, getrlimit, setrlimit};

use crate::stage::Stage;

/// Raises the limit of open files for this process and its children to the maximum, and returns it.
pub(crate) fn raise_file_limit() -> anyhow::Result<u64> {
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    setrlimit(Resource::Nofile, limit).context("cannot raise the limit of open files")?;
    Ok(limit.maximum.unwrap_or(u64::MAX))
}

/// A program, killed on drop.
pub(crate) struct Program {
    child: Child,
}

impl Program {
    /// Starts a program of the stage with pipes for its input and output.
    pub(crate) fn start(stage: &Stage, name: &str, arguments: &[&str]) -> anyhow::Result<Program> {
        Program::spawn(Command::new(stage.folder.join(name)).args(arguments))
    }

    /// Starts a program that may open at most `files` files.
    pub(crate) fn start_limited(stage: &Stage, name: &str, files: u32) -> anyhow::Result<Program> {
        let script = format!("ulimit -n {files} && exec \"$0\"");
        Program::spawn(Command::new("sh").arg("-c").arg(script).arg(stage.folder.join(name)))
    }

    fn spawn(command: &mut Command) -> anyhow::Result<Program> {
        let child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .with_context(|| format!("cannot start {}", command.get_program().display()))?;
        Ok(Program { child })
    }

    /// Reads the address that a server prints first: `host:port`.
    pub(crate) fn address(&mut self) -> anyhow::Result<String> {
        let stdout = self.child.stdout.take().context("standard output is a pipe")?;
        let mut lines = BufReader::new(stdout);
        let mut line = String::new();
        lines.read_line(&mut line)?;
        // Drain further output, so that it does not block.
        thread::spawn(move || lines.read_to_end(&mut Vec::new()));
        let address = line.trim().split("://").nth(1).context("the server names no address")?;
        Ok(address.trim_end_matches("/mcp").to_owned())
    }

    pub(crate) fn stdin(&mut self) -> anyhow::Result<ChildStdin> {
        self.child.stdin.take().context("standard input is a pipe")
    }

    pub(crate) fn stdout(&mut self) -> anyhow::Result<ChildStdout> {
        self.child.stdout.take().context("standard output is a pipe")
    }

    /// Peak memory so far, in MB.
    pub(crate) fn peak(&self) -> anyhow::Result<u64> {
        self.status("VmHWM:")
    }

    /// Current memory, in MB.
    pub(crate) fn memory(&self) -> anyhow::Result<u64> {
        self.status("VmRSS:")
    }

    fn status(&self, member: &str) -> anyhow::Result<u64> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id()))
            .context("the program has ended")?;
        let line = status.lines().find(|line| line.starts_with(member));
        let size = line.and_then(|line| line.split_whitespace().nth(1));
        Ok(size.context("the program has ended")?.parse::<u64>()? / 1024)
    }

    /// Waits for it to exit by itself.
    pub(crate) fn wait(&mut self, limit: Duration) -> anyhow::Result<ExitStatus> {
        let start = Instant::now();
        while start.elapsed() < limit {
            if let Some(status) = self.child.try_wait()? {
                return Ok(status);
            }
            thread::sleep(Duration::from_millis(20));
        }
        bail!("it is still running after {limit:?}")
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
