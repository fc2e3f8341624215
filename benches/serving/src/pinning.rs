//! Pins client and server to one core each, so that latency does not depend on where the system
//! happens to run them.

use std::{io, process::Command};

/// The core of this program while it is pinned.
const CLIENT: &str = "0";
/// The core of the server, with all its threads.
pub(crate) const SERVER: &str = "1";

/// Pins this program to one core until dropped. Servers started meanwhile run on another.
#[derive(Debug)]
pub struct Pinned {
    /// The cores it may use otherwise, in `taskset` format.
    cores: String,
}

impl Pinned {
    /// Pins this program; `None` if that is not possible: on a single core, or without `taskset`.
    pub fn new() -> Option<Pinned> {
        let cores = cores().ok()?;
        if std::thread::available_parallelism().ok()?.get() < 2 {
            return None;
        }
        move_to(CLIENT).ok()?;
        Some(Pinned { cores })
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        // If this fails, later tables show it: everything runs on one core.
        let _ = move_to(&self.cores);
    }
}

fn cores() -> io::Result<String> {
    let output = Command::new("taskset").args(["-c", "-p", &id()]).output()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let list = text.rsplit_once(": ").map(|(_, list)| list.trim().to_owned());
    list.ok_or_else(|| io::Error::other("`taskset` does not name the cores"))
}

fn move_to(cores: &str) -> io::Result<()> {
    let output = Command::new("taskset").args(["-c", "-p", cores, &id()]).output()?;
    if output.status.success() { Ok(()) } else { Err(io::Error::other("`taskset` failed")) }
}

fn id() -> String {
    std::process::id().to_string()
}
