use std::{
    io::{self, IsTerminal as _},
    sync::Arc,
    thread,
    time::Duration,
};

use tokio::{
    signal::unix::{Signal, SignalKind, signal},
    time::{Instant, sleep_until},
};

use super::{Drain, Phase, SignalHandler, Trigger};

/// The signals that a proxy handles.
struct Signals {
    terminate: Signal,
    interrupt: Signal,
    hangup: Signal,
}

/// The meaning of a signal.
enum Wish {
    Stop,
    Reload,
}

pub(super) fn take(wait: Duration, handler: Arc<dyn SignalHandler>) -> io::Result<Drain> {
    let (trigger, drain) = Drain::new();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let signals = {
        let _inside = runtime.enter();
        Signals {
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
            hangup: signal(SignalKind::hangup())?,
        }
    };
    let on_terminal = io::stderr().is_terminal();
    thread::spawn(move || runtime.block_on(attend(signals, wait, on_terminal, &trigger, &handler)));
    Ok(drain)
}

async fn attend(
    mut signals: Signals,
    wait: Duration,
    on_terminal: bool,
    trigger: &Trigger,
    handler: &Arc<dyn SignalHandler>,
) {
    let mut deadline = None;
    let begin = |phase| {
        trigger.begin(phase);
        handler.phase(phase);
    };
    loop {
        let wish = tokio::select! {
            wish = signals.next(on_terminal) => wish,
            () = until(deadline) => {
                deadline = None;
                begin(Phase::Stopping);
                continue;
            }
        };
        match wish {
            Wish::Stop if trigger.0.borrow().ge(&Phase::Draining) => begin(Phase::Forced),
            Wish::Stop => {
                deadline = Some(Instant::now() + wait);
                begin(Phase::Draining);
            }
            Wish::Reload => {
                // Reloading may take a while, and must not delay a signal to stop.
                let handler = Arc::clone(handler);
                thread::spawn(move || handler.reload());
            }
        }
    }
}

async fn until(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => sleep_until(deadline).await,
        None => std::future::pending().await,
    }
}

impl Signals {
    async fn next(&mut self, on_terminal: bool) -> Wish {
        tokio::select! {
            _ = self.terminate.recv() => Wish::Stop,
            _ = self.interrupt.recv() => Wish::Stop,
            // A closed terminal sends SIGHUP, too.
            _ = self.hangup.recv() => {
                if on_terminal && !io::stderr().is_terminal() { Wish::Stop } else { Wish::Reload }
            }
        }
    }
}
