//! Graceful shutdown, on signals.

#[cfg(unix)]
mod signals;

use std::{io, time::Duration};

use tokio::sync::watch;

/// The phase of a shutdown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(clippy::exhaustive_enums, reason = "whoever ends in order has to know all of them")]
pub enum Phase {
    /// Normal operation.
    Serving,
    /// No new clients are accepted; open requests may still be answered.
    Draining,
    /// Open requests are answered with an error.
    Stopping,
    /// Everything is ended immediately.
    Forced,
}

/// The error for requests that are still open then.
pub(crate) const STOPPED: &str = "the proxy was stopped before the server answered";

/// The shutdown phase of a proxy, for all parts that depend on it. By default it stays at serving.
#[derive(Debug, Clone, Default)]
pub struct Drain(Option<watch::Receiver<Phase>>);

/// Advances the phase of a [`Drain`]. There is only one for each.
#[derive(Debug)]
pub struct Trigger(watch::Sender<Phase>);

impl Drain {
    /// A drain in the serving phase, and its trigger.
    pub fn new() -> (Trigger, Drain) {
        let (sender, receiver) = watch::channel(Phase::Serving);
        (Trigger(sender), Drain(Some(receiver)))
    }

    /// The current phase.
    pub fn phase(&self) -> Phase {
        self.0.as_ref().map_or(Phase::Serving, |phase| *phase.borrow())
    }

    /// Completes once a phase, or a later one, has begun.
    pub async fn reached(&self, phase: Phase) {
        if let Some(receiver) = &self.0
            && receiver.clone().wait_for(|now| *now >= phase).await.is_ok()
        {
            return;
        }
        // Without a trigger, it never ends.
        std::future::pending::<()>().await;
    }
}

impl Trigger {
    /// Begins a phase, unless a later one has begun already.
    pub fn begin(&self, phase: Phase) {
        self.0.send_if_modified(|now| {
            let is_later = phase > *now;
            *now = phase.max(*now);
            is_later
        });
    }
}

/// Callbacks for signals.
pub trait SignalHandler: Send + Sync + 'static {
    /// Called when a phase begins.
    fn phase(&self, phase: Phase);

    /// Called when the settings should be reloaded.
    fn reload(&self);
}

/// Handles signals from now on. SIGTERM or SIGINT starts draining; after `wait`, open requests
/// fail. A second one ends everything at once. SIGHUP reloads the settings, unless it was sent
/// because the terminal of standard error was closed.
///
/// # Errors
///
/// If signals cannot be handled.
#[cfg(unix)]
pub fn on_signals(wait: Duration, handler: impl SignalHandler) -> io::Result<Drain> {
    signals::take(wait, std::sync::Arc::new(handler))
}

/// Handles Ctrl-C from now on: it starts draining; after `wait`, open requests fail. A second one
/// ends everything at once.
///
/// # Errors
///
/// If Ctrl-C cannot be handled.
#[cfg(not(unix))]
pub fn on_signals(wait: Duration, handler: impl SignalHandler) -> io::Result<Drain> {
    let (trigger, drain) = Drain::new();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    std::thread::spawn(move || {
        runtime.block_on(async {
            requested().await;
            trigger.begin(Phase::Draining);
            handler.phase(Phase::Draining);
            let next = tokio::select! {
                () = requested() => Phase::Forced,
                () = tokio::time::sleep(wait) => Phase::Stopping,
            };
            trigger.begin(next);
            handler.phase(next);
            requested().await;
            trigger.begin(Phase::Forced);
        });
    });
    Ok(drain)
}

/// Completes on SIGTERM or SIGINT.
pub async fn requested() {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};

        let signals = (signal(SignalKind::terminate()), signal(SignalKind::interrupt()));
        if let (Ok(mut terminate), Ok(mut interrupt)) = signals {
            tokio::select! {
                _ = terminate.recv() => {}
                _ = interrupt.recv() => {}
            }
            return;
        }
    }
    if tokio::signal::ctrl_c().await.is_err() {
        std::future::pending::<()>().await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn phases_only_go_forward() {
        let (trigger, drain) = Drain::new();
        assert_eq!(drain.phase(), Phase::Serving);
        trigger.begin(Phase::Stopping);
        drain.reached(Phase::Draining).await;
        trigger.begin(Phase::Draining);
        assert_eq!(drain.phase(), Phase::Stopping);
        assert_eq!(Drain::default().phase(), Phase::Serving);
    }
}
