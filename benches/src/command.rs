//! The `plumb` command as a whole: how fast it checks recordings, in how much memory, how fast it
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

/// A recording to check, or a folder of them, without findings of severity error.
#[derive(Debug, Clone, Copy)]
pub struct Recording<'a> {
    /// Its name in the report.
    pub title: &'a str,
    /// Its path.
    pub path: &'a Path,
}

/// The cost of checking one recording.
#[derive(Debug)]
pub struct CheckReport {
    /// The name of the recording.
    pub title: String,
    /// Its length.
    pub bytes: u64,
    /// From start to end of `plumb check`, fastest of the runs.
    pub took: Duration,
    /// Peak resident memory during the runs, if the system reports it.
    pub peak_bytes: Option<u64>,
}

/// The measurements.
#[derive(Debug)]
pub struct CommandReport {
    /// For each recording.
    pub checks: Vec<CheckReport>,
    /// `plumb --version`, median.
    pub start_up: Duration,
    /// Number of starts measured for that.
    pub starts: usize,
    /// Size of the program in bytes.
    pub program_bytes: u64,
}

/// Measures `program`.
///
/// # Errors
///
/// If it cannot be run, or fails.
pub fn measure(
    program: &Path,
    recordings: &[Recording<'_>],
    checks: usize,
    starts: usize,
) -> Result<CommandReport, CommandError> {
    let mut reports = Vec::new();
    for recording in recordings {
        let mut report = CheckReport {
            title: recording.title.to_owned(),
            bytes: length(recording.path).map_err(CommandError::Look)?,
            took: Duration::MAX,
            peak_bytes: None,
        };
        for _ in 0..checks {
            let (took, peak) = run_check(program, recording.path)?;
            report.took = report.took.min(took);
            report.peak_bytes = report.peak_bytes.max(peak);
        }
        reports.push(report);
    }
    Ok(CommandReport {
        checks: reports,
        start_up: start_up(program, starts)?,
        starts,
        program_bytes: length(program).map_err(CommandError::Look)?,
    })
}

/// The length of a file, or of all files in a folder.
fn length(path: &Path) -> io::Result<u64> {
    let about = fs::metadata(path)?;
    if !about.is_dir() {
        return Ok(about.len());
    }
    fs::read_dir(path)?.map(|entry| Ok(entry?.metadata()?.len())).sum()
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
        // The system keeps the maximum, so polling now and then misses only the very end.
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
    /// The results as a Markdown table.
    pub fn to_markdown(&self) -> String {
        let megabytes = |bytes: u64| count(usize::try_from(bytes).unwrap_or(usize::MAX)) / 1e6;
        let mut rows = Vec::new();
        for check in &self.checks {
            let (bytes, seconds) = (megabytes(check.bytes), check.took.as_secs_f64());
            let memory = check.peak_bytes.map_or_else(
                || "unknown memory".to_owned(),
                |peak| format!("{:.0} MB of memory", megabytes(peak)),
            );
            rows.push((
                format!("`plumb check`, {}, {bytes:.0} MB", check.title),
                format!("{:.0} MB/s ({seconds:.2} s), {memory}", bytes / seconds),
                "at least 400 MB/s on two cores, under 100 MB",
            ));
        }
        rows.extend([
            (
                format!("`plumb --version`, median of {}", self.starts),
                format!("{:.2} ms", self.start_up.as_secs_f64() * 1e3),
                "under 5 ms",
            ),
            (
                "size of the binary".to_owned(),
                format!("{:.1} MB", megabytes(self.program_bytes)),
                "under 25 MB",
            ),
        ]);
        let mut text = "| | measured | goal |\n|---|---:|---|\n".to_owned();
        for (what, measured, goal) in rows {
            writeln!(text, "| {what} | {measured} | {goal} |").expect("a String takes everything");
        }
        text
    }
}
