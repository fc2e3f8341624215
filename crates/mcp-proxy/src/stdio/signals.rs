use std::{io, sync::mpsc::Sender, thread};

use super::Event;

/// Sends an event whenever we are told to stop, from now on.
pub(super) fn report(events: Sender<Event>) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let mut stops = {
        let _inside = runtime.enter();
        Stops::listen()?
    };
    thread::spawn(move || {
        runtime.block_on(async {
            loop {
                stops.next().await;
                if events.send(Event::Stop).is_err() {
                    return;
                }
            }
        });
    });
    Ok(())
}

/// The signals that tell us to stop.
#[cfg(unix)]
struct Stops([tokio::signal::unix::Signal; 3]);

#[cfg(unix)]
impl Stops {
    fn listen() -> io::Result<Stops> {
        use tokio::signal::unix::{SignalKind, signal};

        Ok(Stops([
            signal(SignalKind::terminate())?,
            signal(SignalKind::interrupt())?,
            signal(SignalKind::hangup())?,
        ]))
    }

    async fn next(&mut self) {
        let [terminate, interrupt, hangup] = &mut self.0;
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
            _ = hangup.recv() => {}
        }
    }
}

#[cfg(windows)]
struct Stops(tokio::signal::windows::CtrlC);

#[cfg(windows)]
impl Stops {
    fn listen() -> io::Result<Stops> {
        Ok(Stops(tokio::signal::windows::ctrl_c()?))
    }

    async fn next(&mut self) {
        self.0.recv().await;
    }
}
