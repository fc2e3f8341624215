//! The processes of a server. One is started in advance, so that the next probe need not wait for
//! it. What is known about their exit also saves waiting.

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
use crate::{ConversationError, Launch};

/// How long to keep a process that was started in advance: a server may exit if it gets no
/// messages.
const KEPT: Duration = Duration::from_secs(10);
/// Time to wait for an exit where it does not matter.
const SOON: Duration = Duration::from_millis(300);
/// The same for a server that is known to keep running.
const AT_ONCE: Duration = Duration::from_millis(50);
/// How often it must have kept running to be known for it.
const STAYED: usize = 2;

#[derive(Debug, Default)]
pub(crate) struct Processes {
    spare: Mutex<Option<Spare>>,
    /// Number of processes that did not exit soon after their input was closed.
    stayed: AtomicUsize,
}

/// An unused process.
#[derive(Debug)]
struct Spare {
    child: Option<Child>,
    since: Instant,
}

impl Processes {
    /// Returns the process started in advance, or a new one, and starts the next.
    pub(super) fn take(&self, launch: &Launch) -> Result<Child, ConversationError> {
        let spare = self.spare().take().and_then(Spare::into_child);
        let child = match spare {
            Some(child) => child,
            None => spawn(launch)?,
        };
        // If that fails, it is tried again when needed, and reported then.
        let next = spawn(launch).ok();
        *self.spare() = next.map(|child| Spare { child: Some(child), since: Instant::now() });
        Ok(child)
    }

    /// How long to wait for an exit where it does not matter.
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
    /// The process, if it is still running.
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
        // The process itself is killed on drop.
        kill_group(self.child.as_ref().and_then(Child::id));
    }
}

fn spawn(launch: &Launch) -> Result<Child, ConversationError> {
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
    command.spawn().map_err(|error| ConversationError::Unreachable(error.to_string()))
}
