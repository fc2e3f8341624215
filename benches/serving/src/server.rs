//! Echo servers as child processes.

use std::{
    io::{self, BufRead as _, BufReader},
    path::PathBuf,
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
    time::Duration,
};

use crate::pinning;

/// A server that runs until it is dropped.
#[derive(Debug)]
pub struct Server {
    child: Child,
}

/// A server to be measured.
#[derive(Debug, Clone)]
pub struct Contestant {
    /// Its name in the tables.
    pub name: &'static str,
    /// Name of the program, next to this one.
    pub program: &'static str,
    /// The validation mode, if it has one.
    pub validation: Option<&'static str>,
    /// Whether it is pinned to a core.
    pub is_pinned: bool,
}

impl Contestant {
    /// All contestants, the strictest last.
    pub fn all() -> Vec<Contestant> {
        let ours = |name, validation| Contestant {
            name,
            program: "echo-plumb",
            validation: Some(validation),
            is_pinned: false,
        };
        vec![
            Contestant {
                name: "rmcp 3.8",
                program: "echo-rmcp",
                validation: None,
                is_pinned: false,
            },
            ours("plumb, validation off", "off"),
            ours("plumb, observing", "observe"),
            ours("plumb, enforcing", "enforce"),
        ]
    }

    fn command(&self, transport: &str) -> io::Result<Command> {
        let mut path: PathBuf = std::env::current_exe()?;
        path.set_file_name(self.program);
        let mut command = if self.is_pinned {
            let mut command = Command::new("taskset");
            command.args(["-c", pinning::SERVER]).arg(path);
            command
        } else {
            Command::new(path)
        };
        command.arg(transport).args(self.validation);
        Ok(command)
    }

    /// Starts it on its standard streams.
    ///
    /// # Errors
    ///
    /// If the program cannot be started.
    pub fn start_stdio(&self) -> io::Result<(Server, ChildStdin, ChildStdout)> {
        let mut command = self.command("stdio")?;
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let streams = child.stdin.take().zip(child.stdout.take());
        let (input, output) = streams.ok_or_else(|| io::Error::other("no pipes"))?;
        Ok((Server { child }, input, output))
    }

    /// Starts it on a free port and returns its address.
    ///
    /// # Errors
    ///
    /// If the program cannot be started or does not report its address.
    pub fn start_listening(&self, transport: &str) -> io::Result<(Server, String)> {
        let mut command = self.command(transport)?;
        let mut child = command.stdout(Stdio::piped()).spawn()?;
        let output = child.stdout.take().ok_or_else(|| io::Error::other("no pipe"))?;
        let mut address = String::new();
        BufReader::new(output).read_line(&mut address)?;
        Ok((Server { child }, address.trim().to_owned()))
    }
}

impl Server {
    /// Resident memory of the process, in bytes.
    ///
    /// # Errors
    ///
    /// If the system does not report it.
    pub fn resident_bytes(&self) -> io::Result<u64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let kilobytes =
            line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<u64>().ok());
        kilobytes.map(|kilobytes| kilobytes * 1024).ok_or_else(|| io::Error::other("no VmRSS"))
    }
}

impl Server {
    /// The CPU time it has used so far, including the kernel's.
    ///
    /// # Errors
    ///
    /// If the system does not report it.
    pub fn processor_time(&self) -> io::Result<Duration> {
        let status = std::fs::read_to_string(format!("/proc/{}/stat", self.child.id()))?;
        // The name before this may contain anything, including spaces and brackets.
        let fields = status.rsplit_once(") ").map(|(_, fields)| fields).unwrap_or_default();
        let ticks: Option<Vec<u64>> =
            fields.split(' ').skip(11).take(2).map(|field| field.parse().ok()).collect();
        let ticks = ticks.filter(|ticks| ticks.len() == 2);
        let ticks = ticks.ok_or_else(|| io::Error::other("no processor time"))?;
        Ok(TICK * u32::try_from(ticks.iter().sum::<u64>()).unwrap_or(u32::MAX))
    }
}

/// The unit in which Linux reports CPU time to user space.
const TICK: Duration = Duration::from_millis(10);

impl Drop for Server {
    fn drop(&mut self) {
        // It may have exited already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
