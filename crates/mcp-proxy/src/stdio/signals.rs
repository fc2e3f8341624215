use std::{sync::mpsc::Sender, thread};

use super::Event;

/// Sends an event whenever we are told to stop.
#[cfg(unix)]
pub(super) fn report(events: Sender<Event>) {
    use tokio::signal::unix::{SignalKind, signal};

    thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let Ok(runtime) = runtime else { return };
        runtime.block_on(async {
            let listen = || {
                Ok::<_, std::io::Error>((
                    signal(SignalKind::terminate())?,
                    signal(SignalKind::interrupt())?,
                    signal(SignalKind::hangup())?,
                ))
            };
            let Ok((mut terminate, mut interrupt, mut hangup)) = listen() else { return };
            loop {
                tokio::select! {
                    _ = terminate.recv() => {}
                    _ = interrupt.recv() => {}
                    _ = hangup.recv() => {}
                }
                if events.send(Event::Stop).is_err() {
                    return;
                }
            }
        });
    });
}

#[cfg(not(unix))]
pub(super) fn report(events: Sender<Event>) {
    thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let Ok(runtime) = runtime else { return };
        runtime.block_on(async {
            while tokio::signal::ctrl_c().await.is_ok() && events.send(Event::Stop).is_ok() {}
        });
    });
}
