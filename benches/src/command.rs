//! The `plumb` command as a whole: how fast it checks a trace, in how much memory, how fast it
//! starts.

use std::fmt::Write as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use std::{fs, io, thread};

use thiserror::Error;

use crate::measure::count;

/// Why the command could not be measured.
#[derive(Debug, Error)]
#[expect(missing_docs, reason = "the messages say it")]
#[non_exhaustive]
pub enum CommandError {
    #[error("could not run plumb")]
    Run(#[source] io::Error),
    #[error("could not look at the trace or the program")]
    Look(#[source] io::Error),
    #[error("`plumb {arguments}` did not succeed: {status}")]
    Failed { arguments: String, status: std::process::ExitStatus },
}

/// What was measured.
#[derive(Debug)]
pub struct CommandReport {
    /// The length of the trace.
    pub trace_bytes: u64,
    /// From start to end of `plumb check`, fastest of the runs.
    pub check: Duration,
    /// The most memory that was resident during the runs, if the system tells.
    pub peak_bytes: Option<u64>,
    /// `plumb --version`, median.
    pub start_up: Duration,
    /// How often it was started for that.
    pub starts: usize,
    /// The length of the program.
    pub program_bytes: u64,
}

/// Measures `program` on `trace`, which must be without findings of severity error.
///
/// # Errors
///
/// When it cannot be run, or does not succeed.
pub fn measure(
    program: &Path,
    trace: &Path,
    checks: usize,
    starts: usize,
) -> Result<CommandReport, CommandError> {
    let length =
        |file: &Path| fs::metadata(file).map(|data| data.len()).map_err(CommandError::Look);
    let mut check = Duration::MAX;
    let mut peak_bytes = None;
    for _ in 0..checks {
        let (took, peak) = run_check(program, trace)?;
        check = check.min(took);
        peak_bytes = peak_bytes.max(peak);
    }
    Ok(CommandReport {
        trace_bytes: length(trace)?,
        check,
        peak_bytes,
        start_up: start_up(program, starts)?,
        starts,
        program_bytes: length(program)?,
    })
}

fn run_check(program: &Path, trace: &Path) -> Result<(Duration, Option<u64>), CommandError> {
    let start = Instant::now();
    let mut child = Command::new(program)
        .arg("check")
        .arg(trace)
        .stdout(Stdio::null())
        .spawn()
        .map_err(CommandError::Run)?;
    let mut peak = None;
    let status = loop {
        if let Some(status) = child.try_wait().map_err(CommandError::Run)? {
            break status;
        }
        // The system keeps the maximum, so looking now and then misses only the very end.
        peak = peak.max(peak_resident(&child));
        thread::sleep(Duration::from_millis(5));
    };
    let took = start.elapsed();
    if !status.success() {
        let arguments = format!("check {}", trace.display());
        return Err(CommandError::Failed { arguments, status });
    }
    Ok((took, peak))
}

/// `VmHWM` of a running process, in bytes.
fn peak_resident(child: &Child) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{}/status", child.id())).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kilobytes: u64 = line.trim().strip_suffix(" kB")?.parse().ok()?;
    Some(kilobytes * 1024)
}

fn start_up(program: &Path, starts: usize) -> Result<Duration, CommandError> {
    let mut samples = Vec::with_capacity(starts);
    for _ in 0..starts {
        let start = Instant::now();
        let status = Command::new(program)
            .arg("--version")
            .stdout(Stdio::null())
            .status()
            .map_err(CommandError::Run)?;
        samples.push(start.elapsed());
        if !status.success() {
            return Err(CommandError::Failed { arguments: "--version".to_owned(), status });
        }
    }
    samples.sort_unstable();
    Ok(samples[samples.len() / 2])
}

impl CommandReport {
    /// A table in Markdown.
    pub fn to_markdown(&self) -> String {
        let megabytes = |bytes: u64| count(usize::try_from(bytes).unwrap_or(usize::MAX)) / 1e6;
        let speed = megabytes(self.trace_bytes) / self.check.as_secs_f64();
        let rows = [
            (
                format!("`plumb check` on {:.0} MB", megabytes(self.trace_bytes)),
                format!("{speed:.0} MB/s ({:.2} s)", self.check.as_secs_f64()),
                "at least 400 MB/s on two cores",
            ),
            (
                "peak resident memory".to_owned(),
                self.peak_bytes.map_or_else(
                    || "unknown".to_owned(),
                    |peak| format!("{:.1} MB", megabytes(peak)),
                ),
                "constant",
            ),
            (
                format!("`plumb --version`, median of {}", self.starts),
                format!("{:.2} ms", self.start_up.as_secs_f64() * 1e3),
                "under 5 ms",
            ),
            (
                "size of the binary".to_owned(),
                format!("{:.1} MB", megabytes(self.program_bytes)),
                "under 15 MB",
            ),
        ];
        let mut text = "| | measured | goal |\n|---|---:|---|\n".to_owned();
        for (what, measured, goal) in rows {
            writeln!(text, "| {what} | {measured} | {goal} |").expect("a String takes everything");
        }
        text
    }
}
