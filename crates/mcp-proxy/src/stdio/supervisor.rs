use std::{
    process::ExitStatus,
    sync::{
        Arc,
        atomic::Ordering,
        mpsc::{Receiver, RecvTimeoutError},
    },
    time::Duration,
};

use mcp_core::Side;
use mcp_jsonrpc::ErrorCode;

use super::{
    Event, StdioSettings,
    child::Child,
    relay::{End, Outputs},
};
use crate::{
    Observation, Tap,
    bridge::text::failure,
    shutdown::{Phase, STOPPED},
};

/// Decides how long the server lives.
#[derive(Debug)]
pub(super) struct Supervisor<'s> {
    child: Child,
    outputs: Arc<Outputs>,
    tap: &'s Tap,
    settings: &'s StdioSettings,
    phase: Life,
    exited: Option<ExitStatus>,
    output_ended: bool,
    /// Bytes received from the server when its silence was last measured.
    heard: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Life {
    Running,
    /// The proxy is stopping, and requests may still be answered.
    Draining,
    /// The client has left, and the server may finish its work.
    Finishing,
    /// The server was terminated.
    Terminating,
    Killed,
}

/// How long the output of an exited server may stay open, if a process started by it holds it.
const OUTPUT_GRACE: Duration = Duration::from_secs(1);
/// Interval for checking whether all requests are answered.
const LOOK_AGAIN: Duration = Duration::from_millis(20);
/// A timeout that never fires in practice.
const FOREVER: Duration = Duration::from_secs(60 * 60);

impl<'s> Supervisor<'s> {
    pub(super) fn new(
        child: Child,
        outputs: Arc<Outputs>,
        tap: &'s Tap,
        settings: &'s StdioSettings,
    ) -> Supervisor<'s> {
        let (phase, exited, output_ended, heard) = (Life::Running, None, false, 0);
        Supervisor { child, outputs, tap, settings, phase, exited, output_ended, heard }
    }

    /// Supervises the server until it has exited and its output was forwarded.
    pub(super) fn attend(mut self, happened: &Receiver<Event>) -> ExitStatus {
        loop {
            match (self.exited, happened.recv_timeout(self.patience())) {
                (Some(status), _) if self.output_ended => return status,
                (_, Ok(event)) => self.note(event),
                (Some(status), Err(_)) => return status,
                (None, Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected)) => {
                    self.lose_patience();
                }
            }
            if let (Some(status), true) = (self.exited, self.output_ended) {
                return status;
            }
        }
    }

    fn patience(&self) -> Duration {
        if self.exited.is_some() {
            return OUTPUT_GRACE;
        }
        match self.phase {
            Life::Running | Life::Killed => FOREVER,
            Life::Draining => LOOK_AGAIN,
            Life::Finishing => self.settings.exit_wait,
            Life::Terminating => self.settings.terminate_wait,
        }
    }

    fn note(&mut self, event: Event) {
        match event {
            Event::Ended(Side::Client, End::Closed) => self.finish(),
            // The server no longer reads, but may still write.
            Event::Ended(Side::Client, End::Unread) => {}
            Event::Ended(Side::Server, End::Closed) => self.output_ended = true,
            Event::Ended(Side::Server, End::Unread) => {
                self.output_ended = true;
                self.finish();
                self.terminate();
            }
            Event::Exited(status) => {
                tracing::debug!(%status, "the server has exited");
                self.exited = Some(status);
            }
            Event::Phase(phase) => match (phase, self.phase) {
                (Phase::Draining, Life::Running | Life::Finishing) => {
                    self.phase = Life::Draining;
                    self.look_for_answers();
                }
                (Phase::Stopping, Life::Running | Life::Finishing | Life::Draining) => self.stop(),
                (Phase::Serving | Phase::Draining | Phase::Stopping, _) => {}
                (Phase::Forced, _) => {
                    self.fail_open_requests();
                    self.kill();
                }
            },
        }
    }

    /// Ends the server once no requests are open.
    fn look_for_answers(&mut self) {
        if self.settings.open.is_empty() && !self.tap.is_behind() {
            self.stop();
        }
    }

    /// Fails open requests, and ends the server.
    fn stop(&mut self) {
        self.fail_open_requests();
        self.outputs.close_to_server();
        self.terminate();
    }

    fn fail_open_requests(&self) {
        self.outputs.silence_server();
        for id in self.settings.open.take() {
            let answer = failure(Some(id), ErrorCode::InternalError, STOPPED);
            self.tap.observe(Observation::stdio(Side::Server, answer.clone()).by_proxy());
            self.outputs.answer_client(&answer);
        }
    }

    fn lose_patience(&mut self) {
        match self.phase {
            Life::Running | Life::Killed => {}
            Life::Finishing => {
                let heard = self.outputs.from_server.load(Ordering::Relaxed);
                if std::mem::replace(&mut self.heard, heard) == heard {
                    self.terminate();
                }
            }
            Life::Draining => self.look_for_answers(),
            Life::Terminating => self.kill(),
        }
    }

    /// Handles the departure of the client.
    fn finish(&mut self) {
        self.outputs.close_to_server();
        self.heard = self.outputs.from_server.load(Ordering::Relaxed);
        if self.phase == Life::Running {
            self.phase = Life::Finishing;
        }
    }

    fn terminate(&mut self) {
        self.child.terminate();
        self.phase = Life::Terminating;
    }

    fn kill(&mut self) {
        tracing::warn!("killing the server, which did not exit in time");
        self.child.kill();
        self.phase = Life::Killed;
    }
}
