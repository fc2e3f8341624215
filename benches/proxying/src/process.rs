//! Child processes.

use std::{
    fs, io,
    process::{Child, Command},
    time::Duration,
};

/// A process, ended on drop.
#[derive(Debug)]
pub struct Process(Child);

/// The unit in which Linux reports CPU time to user space.
const TICK: Duration = Duration::from_millis(10);

impl Process {
    /// Starts it.
    ///
    /// # Errors
    ///
    /// If it cannot be started.
    pub fn start(command: &mut Command) -> io::Result<Process> {
        command.spawn().map(Process)
    }

    /// The process itself.
    pub fn child(&mut self) -> &mut Child {
        &mut self.0
    }

    /// Resident memory, in bytes.
    ///
    /// # Errors
    ///
    /// If the system does not report it.
    pub fn resident_bytes(&self) -> io::Result<u64> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.0.id()))?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let kilobytes =
            line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<u64>().ok());
        kilobytes.map(|kilobytes| kilobytes * 1024).ok_or_else(|| io::Error::other("no VmRSS"))
    }

    /// The CPU time that it and its children have used so far, except for the server `apart`.
    pub fn processor_time(&self, apart: &str) -> Duration {
        let ticks: u64 = family(self.0.id()).filter(|id| !is_named(*id, apart)).map(ticks).sum();
        TICK * u32::try_from(ticks).unwrap_or(u32::MAX)
    }
}

/// A process and all its descendants.
fn family(id: u32) -> Box<dyn Iterator<Item = u32>> {
    let children = fs::read_to_string(format!("/proc/{id}/task/{id}/children"));
    let children: Vec<u32> = children
        .unwrap_or_default()
        .split_whitespace()
        .filter_map(|child| child.parse().ok())
        .collect();
    Box::new(std::iter::once(id).chain(children.into_iter().flat_map(family)))
}

fn is_named(id: u32, name: &str) -> bool {
    let words = fs::read(format!("/proc/{id}/cmdline")).unwrap_or_default();
    let program = words.split(|byte| *byte == 0).next().unwrap_or_default();
    String::from_utf8_lossy(program).ends_with(name)
}

fn ticks(id: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
    // The name before this may contain anything, including spaces and brackets.
    let fields = status.rsplit_once(") ").map(|(_, fields)| fields).unwrap_or_default();
    fields.split(' ').skip(11).take(2).filter_map(|field| field.parse::<u64>().ok()).sum()
}

impl Drop for Process {
    fn drop(&mut self) {
        // SIGTERM first, so that it can end its own children; it may have exited already.
        let _ = Command::new("kill").arg(self.0.id().to_string()).status();
        for _ in 0..100 {
            if !matches!(self.0.try_wait(), Ok(None)) {
                return;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
