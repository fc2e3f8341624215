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

use super::{
    Event, StdioSettings,
    child::Child,
    relay::{End, Lanes},
};

/// Decides how long the server lives.
#[derive(Debug)]
pub(super) struct Supervisor<'s> {
    child: Child,
    lanes: Arc<Lanes>,
    settings: &'s StdioSettings,
    phase: Phase,
    exited: Option<ExitStatus>,
    output_ended: bool,
    /// How much the server had sent when its silence began to count.
    heard: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Running,
    /// The client has left, and the server may finish what it is doing.
    Finishing,
    /// The server was asked to exit.
    Terminating,
    Killed,
}

/// How long the output of an exited server may stay open, held by a process that it has started.
const OUTPUT_GRACE: Duration = Duration::from_secs(1);
/// Longer than anyone waits.
const FOREVER: Duration = Duration::from_secs(60 * 60);

impl<'s> Supervisor<'s> {
    pub(super) fn new(
        child: Child,
        lanes: Arc<Lanes>,
        settings: &'s StdioSettings,
    ) -> Supervisor<'s> {
        let (phase, exited, output_ended, heard) = (Phase::Running, None, false, 0);
        Supervisor { child, lanes, settings, phase, exited, output_ended, heard }
    }

    /// Returns when the server has exited and its output was forwarded.
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
            Phase::Running | Phase::Killed => FOREVER,
            Phase::Finishing => self.settings.exit_wait,
            Phase::Terminating => self.settings.terminate_wait,
        }
    }

    fn note(&mut self, event: Event) {
        match event {
            Event::Ended(Side::Client, End::Closed) => self.finish(),
            // The server does not listen any more; it may still talk.
            Event::Ended(Side::Client, End::Unread) => {}
            Event::Ended(Side::Server, End::Closed) => self.output_ended = true,
            Event::Ended(Side::Server, End::Unread) => {
                self.output_ended = true;
                self.finish();
                self.terminate();
            }
            Event::Exited(status) => self.exited = Some(status),
            Event::Stop => {
                self.lanes.close_to_server();
                match self.phase {
                    Phase::Running | Phase::Finishing => self.terminate(),
                    Phase::Terminating | Phase::Killed => self.kill(),
                }
            }
        }
    }

    fn lose_patience(&mut self) {
        match self.phase {
            Phase::Running | Phase::Killed => {}
            Phase::Finishing => {
                let heard = self.lanes.from_server.load(Ordering::Relaxed);
                if std::mem::replace(&mut self.heard, heard) == heard {
                    self.terminate();
                }
            }
            Phase::Terminating => self.kill(),
        }
    }

    /// The client has left.
    fn finish(&mut self) {
        self.lanes.close_to_server();
        self.heard = self.lanes.from_server.load(Ordering::Relaxed);
        if self.phase == Phase::Running {
            self.phase = Phase::Finishing;
        }
    }

    fn terminate(&mut self) {
        self.child.terminate();
        self.phase = Phase::Terminating;
    }

    fn kill(&mut self) {
        tracing::warn!("the server did not exit in time and is killed");
        self.child.kill();
        self.phase = Phase::Killed;
    }
}
