use std::{future::poll_fn, process::ExitStatus};

use mcp_core::{BoxFuture, Framing, Inbound, Outbound, Transport, TransportError};
use tokio::process::{ChildStdin, ChildStdout};

use super::{
    ChildCommand, ChildSettings,
    process::{ChildState, Process},
    stderr::{self, ChildStderr},
};
use crate::lines::LineTransport;

/// A conversation with a server that runs as a child process.
///
/// [`close`](Transport::close) closes the server's input, which tells it to exit; if it does not,
/// it is sent SIGTERM (on Unix) after [`ChildSettings::exit_wait`] and killed after
/// [`ChildSettings::terminate_wait`]. The same happens in the background when the transport is
/// dropped. The child is always reaped.
///
/// If the server exits by itself, its remaining output is delivered first; then `receive` and
/// `send` return [`TransportError::Lost`] with its exit status. After `close` the end is clean. The
/// size limit for incoming messages applies to outgoing ones too.
#[derive(Debug)]
pub struct ChildTransport {
    lines: LineTransport<ChildStdout, ChildStdin>,
    process: Process,
    id: Option<u32>,
    max_message: usize,
}

impl ChildTransport {
    /// Starts the server. Must be called within a tokio runtime with I/O and time enabled.
    ///
    /// # Errors
    ///
    /// [`TransportError::Connect`] if it cannot be started, with advice.
    pub fn spawn(command: &ChildCommand, settings: &ChildSettings) -> Result<Self, TransportError> {
        let mut child = command.start()?;
        let (Some(stdin), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(TransportError::Connect("the child has no pipes".into()));
        };
        if let (ChildStderr::Lines(take), Some(errors)) = (&command.stderr, child.stderr.take()) {
            tokio::spawn(stderr::pass_on(errors, settings.max_stderr_line, take.clone()));
        }
        let id = child.id();
        let lines = LineTransport::new(stdout, stdin, &settings.lines);
        let process = Process::watch(child, settings, lines.ending());
        Ok(ChildTransport { lines, process, id, max_message: settings.lines.max_message })
    }

    /// The process id it was started with.
    pub fn id(&self) -> Option<u32> {
        self.id
    }

    /// Waits until the server has exited. This does not make it exit.
    ///
    /// # Errors
    ///
    /// If its exit status is not available.
    pub async fn wait(&self) -> Result<ExitStatus, TransportError> {
        match self.process.wait().await {
            ChildState::Exited(status) => Ok(status),
            ChildState::Unknown(reason) => Err(TransportError::Lost(reason)),
            ChildState::Running => Err(TransportError::Lost("the server is still running".into())),
        }
    }

    async fn next(&self) -> Result<Option<Inbound>, TransportError> {
        match poll_fn(|context| self.lines.poll_receive(context)).await {
            Ok(None) if !self.process.is_stopping() => Err(self.process.explain_end().await),
            Err(error) => Err(self.process.explain(error).await),
            other => other,
        }
    }

    async fn hand_over(&self, outbound: Outbound) -> Result<(), TransportError> {
        let length = outbound.bytes.len();
        if length > self.max_message {
            let (length, limit) = (length as u64, self.max_message as u64);
            return Err(TransportError::TooLong { length, limit });
        }
        match self.lines.send(outbound).await {
            Err(error) => Err(self.process.explain(error).await),
            Ok(()) => Ok(()),
        }
    }
}

impl Transport for ChildTransport {
    fn receive(&self) -> BoxFuture<'_, Result<Option<Inbound>, TransportError>> {
        Box::pin(self.next())
    }

    fn send(&self, outbound: Outbound) -> BoxFuture<'_, Result<(), TransportError>> {
        Box::pin(self.hand_over(outbound))
    }

    fn framing(&self) -> Framing {
        Framing::Lines
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        Box::pin(async {
            self.process.stop();
            // Concurrently: a server that does not read its input must not delay its own
            // termination.
            tokio::join!(self.lines.close_output(), self.process.wait());
        })
    }
}
