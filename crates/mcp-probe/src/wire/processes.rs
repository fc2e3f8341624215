//! The processes of a server. One is started ahead, so that the probe that needs it next does not
//! wait for its start; and what is known of how they end saves waiting, too.

use std::{
    process::Stdio as Pipe,
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use tokio::{
    process::{Child, Command},
    time::Instant,
};

use super::stdio::kill_group;
use crate::{Launch, Trouble};

/// How long a process that was started ahead is kept: a server may leave if nobody talks to it.
const KEPT: Duration = Duration::from_secs(10);
/// How long a server may take to exit where that does not matter.
const SOON: Duration = Duration::from_millis(300);
/// The same for one that is known to stay.
const AT_ONCE: Duration = Duration::from_millis(50);
/// How often it must have stayed.
const STAYED: usize = 2;

#[derive(Debug, Default)]
pub(crate) struct Processes {
    spare: Mutex<Option<Spare>>,
    /// How many did not exit soon after their input was closed.
    stayed: AtomicUsize,
}

/// A process that nobody has talked to.
#[derive(Debug)]
struct Spare {
    child: Option<Child>,
    since: Instant,
}

impl Processes {
    /// A new process, or the one that was started ahead. The next is started meanwhile.
    pub(super) fn take(&self, launch: &Launch) -> Result<Child, Trouble> {
        let spare = self.spare().take().and_then(Spare::into_child);
        let child = match spare {
            Some(child) => child,
            None => spawn(launch)?,
        };
        // If that fails, it is tried again when it is needed, and reported then.
        let next = spawn(launch).ok();
        *self.spare() = next.map(|child| Spare { child: Some(child), since: Instant::now() });
        Ok(child)
    }

    /// How long the exit of a process is waited for where it does not matter.
    pub(super) fn patience(&self) -> Duration {
        if self.stayed.load(Ordering::Relaxed) < STAYED { SOON } else { AT_ONCE }
    }

    pub(super) fn note_stayed(&self) {
        self.stayed.fetch_add(1, Ordering::Relaxed);
    }

    fn spare(&self) -> MutexGuard<'_, Option<Spare>> {
        self.spare.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Spare {
    /// The process, if it is still as good as new.
    fn into_child(mut self) -> Option<Child> {
        let runs = |child: &mut Child| matches!(child.try_wait(), Ok(None));
        if self.since.elapsed() > KEPT || !self.child.as_mut().is_some_and(runs) {
            return None;
        }
        self.child.take()
    }
}

impl Drop for Spare {
    fn drop(&mut self) {
        // The process itself is killed as it is dropped.
        kill_group(self.child.as_ref().and_then(Child::id));
    }
}

fn spawn(launch: &Launch) -> Result<Child, Trouble> {
    let mut command = Command::new(&launch.program);
    command
        .args(&launch.arguments)
        .envs(launch.environment.iter().map(|(name, value)| (name, value)))
        .stdin(Pipe::piped())
        .stdout(Pipe::piped())
        .stderr(Pipe::piped())
        .kill_on_drop(true);
    if let Some(directory) = &launch.directory {
        command.current_dir(directory);
    }
    // A launcher such as npx has children of its own, which must end with it.
    #[cfg(unix)]
    command.process_group(0);
    command.spawn().map_err(|error| Trouble::Unreachable(error.to_string()))
}
