use std::{
    ffi::OsString,
    io,
    process::{self, ChildStderr, ChildStdin, ChildStdout, Command, Stdio},
    sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc::Sender},
    thread,
};

use super::{Event, StderrMode, StdioError, StdioSettings};

/// A server process.
#[derive(Debug, Clone)]
pub(super) struct Child(Arc<Mutex<State>>);

#[derive(Debug)]
struct State {
    id: u32,
    /// `None` once it is being waited for.
    process: Option<process::Child>,
    /// Whether it was reaped, so that its pid may belong to another process.
    reaped: bool,
}

/// The pipes of a server.
#[derive(Debug)]
pub(super) struct Pipes {
    pub(super) input: ChildStdin,
    pub(super) output: ChildStdout,
    /// `None` if it inherits ours.
    pub(super) stderr: Option<ChildStderr>,
}

impl Child {
    pub(super) fn start(
        program: &OsString,
        arguments: &[OsString],
        settings: &StdioSettings,
    ) -> Result<(Child, Pipes), StdioError> {
        let failed = |reason| StdioError::Start { program: program.display().to_string(), reason };
        let mut command = Command::new(program);
        if let Some(directory) = &settings.directory {
            command.current_dir(directory);
        }
        let mut process = command
            .args(arguments)
            .envs(settings.environment.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(match settings.stderr {
                StderrMode::Inherited => Stdio::inherit(),
                StderrMode::Passed | StderrMode::Recorded | StderrMode::Logged => Stdio::piped(),
            })
            .spawn()
            .map_err(|error| failed(explain(&error)))?;
        let stderr = process.stderr.take();
        let (Some(input), Some(output)) = (process.stdin.take(), process.stdout.take()) else {
            return Err(failed("it has no pipes".into()));
        };
        let state = State { id: process.id(), process: Some(process), reaped: false };
        Ok((Child(Arc::new(Mutex::new(state))), Pipes { input, output, stderr }))
    }

    /// Sends its exit status to `events` once it exits.
    pub(super) fn report_exit(&self, events: Sender<Event>) {
        let child = self.clone();
        thread::spawn(move || {
            let Some(mut process) = child.lock().process.take() else { return };
            // Its pipes were taken, so `wait` does not close its input.
            let status = process.wait();
            child.lock().reaped = true;
            if let Ok(status) = status {
                // If the receiver is gone, our own process is about to end.
                let _ = events.send(Event::Exited(status));
            }
        });
    }

    /// Sends SIGTERM.
    #[cfg(unix)]
    pub(super) fn terminate(&self) {
        self.signal(rustix::process::Signal::TERM);
    }

    /// Kills it.
    #[cfg(unix)]
    pub(super) fn kill(&self) {
        self.signal(rustix::process::Signal::KILL);
    }

    #[cfg(unix)]
    fn signal(&self, signal: rustix::process::Signal) {
        let state = self.lock();
        let id = i32::try_from(state.id).ok().and_then(rustix::process::Pid::from_raw);
        if let Some(id) = id.filter(|_| !state.reaped) {
            let _ = rustix::process::kill_process(id, signal);
        }
    }

    /// There is no such signal here; it has to notice that its input was closed.
    #[cfg(not(unix))]
    pub(super) fn terminate(&self) {}

    #[cfg(not(unix))]
    pub(super) fn kill(&self) {}

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn explain(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "there is no such program; check that it is spelled right, \
             installed, and in PATH or given with its full path"
            .into(),
        io::ErrorKind::PermissionDenied => {
            "permission denied; check that it is a program and may be executed".into()
        }
        _ => error.to_string(),
    }
}
