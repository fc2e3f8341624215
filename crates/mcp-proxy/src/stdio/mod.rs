//! Relays between a client on our standard streams and a server as a child process.
//!
//! Each direction is copied by its own thread with plain reads and writes, for the lowest latency.
//! When observing, bytes are forwarded as they arrive and split into lines afterwards. When
//! enforcing, they are forwarded line by line.

mod child;
mod relay;
pub(crate) mod splitter;
mod stderr;
pub(crate) mod streams;
mod supervisor;

use std::{
    ffi::OsString,
    io::{self, Read, Write},
    path::PathBuf,
    process::ExitStatus,
    sync::{Arc, mpsc},
    thread,
    time::Duration,
};

use mcp_core::Side;

use self::{
    child::Child,
    relay::{Outputs, Relay},
    supervisor::Supervisor,
};
use crate::{
    Observation, OpenRequests, Tap,
    shutdown::{Drain, Phase},
};

/// Why a client and a server could not be connected.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
#[non_exhaustive]
pub enum StdioError {
    #[error("cannot start `{program}`: {reason}")]
    Start { program: String, reason: String },
    #[error("could not use our own standard streams")]
    Streams(#[source] io::Error),
    #[error("could not listen for signals")]
    Signals(#[source] io::Error),
}

/// Settings of [`run`].
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct StdioSettings {
    /// Maximum length of a line that is judged and recorded, in bytes. Longer lines pass, unless
    /// messages of their sender are held back. Default: 16 MiB.
    pub max_line: usize,
    /// Variables added to the environment of the server, which is otherwise ours. Default: none.
    pub environment: Vec<(OsString, OsString)>,
    /// The working directory of the server. Default: ours.
    pub directory: Option<PathBuf>,
    /// How long the server may stay silent after its input was closed, before it is terminated.
    /// Default: 5 s.
    pub exit_wait: Duration,
    /// How long a terminated server may take to exit before it is killed. Default: 2 s.
    pub terminate_wait: Duration,
    /// What to do with the standard error of the server. Default: inherit ours.
    pub stderr: StderrMode,
    /// When to stop. Default: when either side leaves.
    pub drain: Drain,
    /// The open requests, which get an error at the end. Its watcher must be added to the tap.
    pub open: OpenRequests,
}

impl Default for StdioSettings {
    fn default() -> Self {
        StdioSettings {
            max_line: 16 << 20,
            environment: Vec::new(),
            directory: None,
            exit_wait: Duration::from_secs(5),
            terminate_wait: Duration::from_secs(2),
            stderr: StderrMode::Inherited,
            drain: Drain::default(),
            open: OpenRequests::new(),
        }
    }
}

/// What to do with the standard error of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum StderrMode {
    /// The server inherits ours; its output is not recorded.
    #[default]
    Inherited,
    /// Its output is copied to ours, and its lines are recorded.
    Passed,
    /// Its lines are recorded.
    Recorded,
    /// Its lines are logged and recorded.
    Logged,
}

/// Starts a server and connects it to the client on our standard streams until either leaves.
/// Returns the exit status of the server.
///
/// If the client leaves, the server's input is closed; if it does not exit then, it is terminated
/// and finally killed. When `settings.drain` stops, open requests get their answers, or errors in
/// the end, before the server is ended. May be called only once per process: a thread keeps reading
/// standard input.
///
/// # Errors
///
/// If the server cannot be started.
pub fn run(
    program: &OsString,
    arguments: &[OsString],
    tap: &Tap,
    settings: &StdioSettings,
) -> Result<ExitStatus, StdioError> {
    let (stdin, stdout) = streams::input()
        .and_then(|input| Ok((input, streams::output()?)))
        .map_err(StdioError::Streams)?;
    run_over(program, arguments, (stdin, stdout), tap, settings)
}

/// Like [`run`], for a client on any streams, and may be called repeatedly. The input may still be
/// read after it returns.
///
/// # Errors
///
/// If the server cannot be started.
pub fn run_over(
    program: &OsString,
    arguments: &[OsString],
    (input, output): (impl Read + Send + 'static, impl Write + Send + 'static),
    tap: &Tap,
    settings: &StdioSettings,
) -> Result<ExitStatus, StdioError> {
    let (events, happened) = mpsc::channel();
    report_phases(&settings.drain, &events).map_err(StdioError::Signals)?;
    let (child, pipes) = Child::start(program, arguments, settings)?;
    let stderr = pipes.stderr.map(|stream| stderr::observe(stream, tap, settings.stderr));
    let outputs = Arc::new(Outputs::new(pipes.input, Box::new(output)));
    let relay = |side| Relay::new(side, Arc::clone(&outputs), tap, settings.max_line);
    let (from_client, from_server) = (relay(Side::Client), relay(Side::Server));
    let (client_events, server_events) = (events.clone(), events.clone());
    thread::spawn(move || client_events.send(Event::Ended(Side::Client, from_client.run(input))));
    thread::spawn(move || {
        server_events.send(Event::Ended(Side::Server, from_server.run(pipes.output)))
    });
    child.report_exit(events);
    let status = Supervisor::new(child, outputs, tap, settings).attend(&happened);
    if let Some(stderr) = stderr {
        // A process started by the server may keep the stream open.
        let _ = stderr.recv_timeout(STDERR_GRACE);
    }
    tap.observe(Observation::exit(status.code(), signal_of(status)));
    Ok(status)
}

/// How long to wait for the standard error of an exited server to close.
const STDERR_GRACE: Duration = Duration::from_secs(1);

#[cfg(unix)]
fn signal_of(status: ExitStatus) -> Option<i32> {
    std::os::unix::process::ExitStatusExt::signal(&status)
}

#[cfg(not(unix))]
fn signal_of(_: ExitStatus) -> Option<i32> {
    None
}

/// An event that affects how long the server runs.
#[derive(Debug, Clone, Copy)]
enum Event {
    /// A direction ended.
    Ended(Side, relay::End),
    Exited(ExitStatus),
    /// Another shutdown phase began.
    Phase(Phase),
}

/// Sends an event for each shutdown phase.
fn report_phases(drain: &Drain, events: &mpsc::Sender<Event>) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    let (drain, events) = (drain.clone(), events.clone());
    thread::spawn(move || {
        for phase in [Phase::Draining, Phase::Stopping, Phase::Forced] {
            runtime.block_on(drain.reached(phase));
            if events.send(Event::Phase(phase)).is_err() {
                return;
            }
        }
    });
    Ok(())
}
