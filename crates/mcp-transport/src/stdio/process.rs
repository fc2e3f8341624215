use std::{io, process::ExitStatus, sync::Arc, time::Duration};

use mcp_core::TransportError;
use tokio::{
    process::Child,
    sync::watch,
    time::{sleep, timeout},
};
use tokio_util::sync::CancellationToken;

use super::ChildSettings;
use crate::ending::Ending;

/// How long the output of an exited child may stay open, held by one of its own children.
const OUTPUT_GRACE: Duration = Duration::from_secs(1);

/// The state of a child.
#[derive(Debug, Clone)]
pub(super) enum ChildState {
    Running,
    Exited(ExitStatus),
    /// The exit status is not available.
    Unknown(String),
}

impl ChildState {
    pub(super) fn is_over(&self) -> bool {
        !matches!(self, ChildState::Running)
    }
}

/// A running child and the task that supervises it. Dropping this ends the child like `stop`.
#[derive(Debug)]
pub(super) struct Process {
    state: watch::Receiver<ChildState>,
    stop: CancellationToken,
}

impl Process {
    /// Supervises `child`; when it has exited and its last output has had time to arrive, declares
    /// the end.
    pub(super) fn watch(child: Child, settings: &ChildSettings, ending: Arc<Ending>) -> Self {
        let (announce, state) = watch::channel(ChildState::Running);
        let stop = CancellationToken::new();
        let supervisor = Supervisor {
            child,
            stop: stop.clone(),
            exit_wait: settings.exit_wait,
            terminate_wait: settings.terminate_wait,
        };
        tokio::spawn(async move {
            let state = supervisor
                .run()
                .await
                .map_or_else(|error| ChildState::Unknown(error.to_string()), ChildState::Exited);
            announce.send_replace(state);
            sleep(OUTPUT_GRACE).await;
            ending.declare(None);
        });
        Process { state, stop }
    }

    /// Makes the child exit: it gets time to exit by itself, then SIGTERM, then it is killed.
    pub(super) fn stop(&self) {
        self.stop.cancel();
    }

    pub(super) fn is_stopping(&self) -> bool {
        self.stop.is_cancelled()
    }

    pub(super) async fn wait(&self) -> ChildState {
        let mut state = self.state.clone();
        match state.wait_for(ChildState::is_over).await {
            Ok(state) => state.clone(),
            Err(_) => ChildState::Unknown("the runtime is shutting down".into()),
        }
    }

    /// Why a conversation ended unexpectedly.
    pub(super) async fn explain_end(&self) -> TransportError {
        match timeout(OUTPUT_GRACE, self.wait()).await {
            Ok(state) => lost(&state),
            Err(_) => TransportError::Lost("the server has closed its output".into()),
        }
    }

    /// The same for a broken pipe. It may be noticed before the exit, so this waits for the exit.
    pub(super) async fn explain(&self, error: TransportError) -> TransportError {
        if !matches!(error, TransportError::Lost(_)) || self.is_stopping() {
            return error;
        }
        match timeout(OUTPUT_GRACE, self.wait()).await {
            Ok(state) => lost(&state),
            Err(_) => error,
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

fn lost(state: &ChildState) -> TransportError {
    TransportError::Lost(match state {
        ChildState::Running => "the server has closed its output".into(),
        ChildState::Exited(status) => match status.code() {
            Some(code) => format!("the server exited with status {code}"),
            // On Unix: "signal: 9 (SIGKILL)".
            None => format!("the server was terminated by {status}"),
        },
        ChildState::Unknown(reason) => format!("the server is gone: {reason}"),
    })
}

struct Supervisor {
    child: Child,
    stop: CancellationToken,
    exit_wait: Duration,
    terminate_wait: Duration,
}

impl Supervisor {
    /// Returns when the child has been reaped.
    async fn run(mut self) -> io::Result<ExitStatus> {
        tokio::select! {
            status = self.child.wait() => return status,
            () = self.stop.cancelled() => {}
        }
        if let Ok(status) = timeout(self.exit_wait, self.child.wait()).await {
            return status;
        }
        self.terminate();
        if let Ok(status) = timeout(self.terminate_wait, self.child.wait()).await {
            return status;
        }
        tracing::debug!("the server did not exit in time and was killed");
        // Fails if it has just exited, which is fine.
        let _ = self.child.start_kill();
        self.child.wait().await
    }

    #[cfg(unix)]
    fn terminate(&self) {
        // The id is valid as long as the child has not been reaped.
        let id = self.child.id().and_then(|id| i32::try_from(id).ok());
        if let Some(id) = id.and_then(rustix::process::Pid::from_raw) {
            let _ = rustix::process::kill_process(id, rustix::process::Signal::TERM);
        }
    }

    /// There is no graceful way.
    #[cfg(not(unix))]
    fn terminate(&mut self) {
        let _ = self.child.start_kill();
    }
}
