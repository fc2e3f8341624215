//! A client on our standard streams, a server as a child process.
//!
//! The two directions are copied by a thread each, with plain reads and writes: that is the shortest
//! way. Observed bytes are forwarded as they come, in whatever pieces, and split into lines
//! afterwards. Enforced ones are forwarded line by line.

mod child;
mod errors;
mod relay;
pub(crate) mod splitter;
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
    relay::{Lanes, Relay},
    supervisor::Supervisor,
};
use crate::{
    Observation, OpenRequests, Tap,
    shutdown::{Drain, Phase},
};

/// Why the streams of a client and a server could not be connected.
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

/// How [`run`] works.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct StdioSettings {
    /// The longest line that is judged and recorded, in bytes. Longer ones pass, unless messages of
    /// their sender are held back. Default: 16 MiB.
    pub max_line: usize,
    /// What is set in the environment of the server, which has ours otherwise. Default: nothing.
    pub environment: Vec<(OsString, OsString)>,
    /// Where the server is started. Default: where we are.
    pub directory: Option<PathBuf>,
    /// How long the server may stay silent after its input was closed, before it is told to exit.
    /// Default: 5 s.
    pub exit_wait: Duration,
    /// How long it may take after that, before it is killed. Default: 2 s.
    pub terminate_wait: Duration,
    /// What becomes of what the server writes to its standard error. Default: it is ours.
    pub errors: Errors,
    /// When to end. Default: when either side leaves.
    pub drain: Drain,
    /// The requests that wait for answers, which are told when it ends. Someone has to make it a
    /// watcher of the tap.
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
            errors: Errors::Shared,
            drain: Drain::default(),
            open: OpenRequests::new(),
        }
    }
}

/// What becomes of what a server writes to its standard error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Errors {
    /// It has our standard error, and nobody sees what it writes there.
    #[default]
    Shared,
    /// It is passed to our standard error as it comes, and its lines are recorded.
    Passed,
    /// Its lines are recorded.
    Recorded,
    /// Its lines are logged and recorded.
    Logged,
}

/// Starts a server and connects it to the client on our standard streams, until either leaves.
/// Returns the server's exit status.
///
/// If the client leaves, the server's input is closed; if it does not
/// exit then, it is terminated and finally killed. If `settings.drain` says that it is time, requests
/// get their answers, or errors in the end, and the server is ended as well.
/// May be called only once in a process: one thread keeps reading standard input.
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

/// The same for a client on any streams, as often as wanted. Its input may be read after the return.
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
    let errors = pipes.errors.map(|errors| errors::observe(errors, tap, settings.errors));
    let lanes = Arc::new(Lanes::new(pipes.input, Box::new(output)));
    let relay = |side| Relay::new(side, Arc::clone(&lanes), tap, settings.max_line);
    let (from_client, from_server) = (relay(Side::Client), relay(Side::Server));
    let (client_events, server_events) = (events.clone(), events.clone());
    thread::spawn(move || client_events.send(Event::Ended(Side::Client, from_client.run(input))));
    thread::spawn(move || {
        server_events.send(Event::Ended(Side::Server, from_server.run(pipes.output)))
    });
    child.report_exit(events);
    let status = Supervisor::new(child, lanes, tap, settings).attend(&happened);
    if let Some(errors) = errors {
        // A process that it has started may keep the stream open.
        let _ = errors.recv_timeout(ERRORS_GRACE);
    }
    tap.observe(Observation::exit(status.code(), signal_of(status)));
    Ok(status)
}

/// How long the standard error of an exited server may stay open.
const ERRORS_GRACE: Duration = Duration::from_secs(1);

#[cfg(unix)]
fn signal_of(status: ExitStatus) -> Option<i32> {
    std::os::unix::process::ExitStatusExt::signal(&status)
}

#[cfg(not(unix))]
fn signal_of(_: ExitStatus) -> Option<i32> {
    None
}

/// Something that decides how long the server lives.
#[derive(Debug, Clone, Copy)]
enum Event {
    /// A side sends nothing more, or nobody reads it.
    Ended(Side, relay::End),
    Exited(ExitStatus),
    /// We were told to stop, or to do it faster.
    Phase(Phase),
}

/// Sends an event whenever another phase begins.
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
