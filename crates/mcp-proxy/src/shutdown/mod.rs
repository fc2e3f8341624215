//! Being told to stop, and ending in order.

#[cfg(unix)]
mod signals;

use std::{io, time::Duration};

use tokio::sync::watch;

/// How far a proxy is on its way to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(clippy::exhaustive_enums, reason = "whoever ends in order has to know all of them")]
pub enum Phase {
    /// Everything is as usual.
    Serving,
    /// There are no new clients; those who wait may get their answers.
    Draining,
    /// Whoever still waits is told that there will be no answer.
    Stopping,
    /// Everything ends at once.
    Forced,
}

/// What whoever still waits is told then.
pub(crate) const STOPPED: &str = "the proxy was told to stop before the server has answered";

/// The phase of a proxy, for all who have to act on it. By default it never ends.
#[derive(Debug, Clone, Default)]
pub struct Drain(Option<watch::Receiver<Phase>>);

/// Leads a [`Drain`] to its end. There is only one.
#[derive(Debug)]
pub struct Trigger(watch::Sender<Phase>);

impl Drain {
    /// A proxy that serves, and what ends it.
    pub fn new() -> (Trigger, Drain) {
        let (sender, receiver) = watch::channel(Phase::Serving);
        (Trigger(sender), Drain(Some(receiver)))
    }

    /// Where it stands.
    pub fn phase(&self) -> Phase {
        self.0.as_ref().map_or(Phase::Serving, |phase| *phase.borrow())
    }

    /// Completes when a phase, or a later one, has begun.
    pub async fn reached(&self, phase: Phase) {
        if let Some(receiver) = &self.0
            && receiver.clone().wait_for(|now| *now >= phase).await.is_ok()
        {
            return;
        }
        // There is nobody who could end it.
        std::future::pending::<()>().await;
    }
}

impl Trigger {
    /// Begins a phase, unless a later one has begun.
    pub fn begin(&self, phase: Phase) {
        self.0.send_if_modified(|now| {
            let is_later = phase > *now;
            *now = phase.max(*now);
            is_later
        });
    }
}

/// What a proxy is told by signals, besides to end.
pub trait Told: Send + Sync + 'static {
    /// A phase has begun.
    fn phase(&self, phase: Phase);

    /// The settings should be read again.
    fn reload(&self);
}

/// Takes signals from now on. SIGTERM and SIGINT begin to drain; after `wait`, whoever still waits is
/// told. A second one ends everything at once. SIGHUP asks for the settings to be read again, unless
/// the terminal is gone that standard error was on.
///
/// # Errors
///
/// If signals cannot be taken.
#[cfg(unix)]
pub fn on_signals(wait: Duration, told: impl Told) -> io::Result<Drain> {
    signals::take(wait, std::sync::Arc::new(told))
}

/// Takes Ctrl-C from now on: it begins to drain, and after `wait`, whoever still waits is told. A
/// second one ends everything at once.
///
/// # Errors
///
/// If it cannot be taken.
#[cfg(not(unix))]
pub fn on_signals(wait: Duration, told: impl Told) -> io::Result<Drain> {
    let (trigger, drain) = Drain::new();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    std::thread::spawn(move || {
        runtime.block_on(async {
            requested().await;
            trigger.begin(Phase::Draining);
            told.phase(Phase::Draining);
            let next = tokio::select! {
                () = requested() => Phase::Forced,
                () = tokio::time::sleep(wait) => Phase::Stopping,
            };
            trigger.begin(next);
            told.phase(next);
            requested().await;
            trigger.begin(Phase::Forced);
        });
    });
    Ok(drain)
}

/// Completes when the process is told to stop, by SIGTERM or SIGINT.
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
