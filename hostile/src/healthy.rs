//! Well-behaved clients during an attack.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use crate::http::Session;

/// Maximum time for an answer to count.
const IN_TIME: Duration = Duration::from_secs(2);

/// Pings a server over HTTP repeatedly, in its own session.
pub(crate) struct Healthy {
    stop: Arc<AtomicBool>,
    answers: Arc<AtomicUsize>,
    thread: JoinHandle<()>,
}

impl Healthy {
    pub(crate) fn start(address: &str) -> anyhow::Result<Healthy> {
        let session = Session::plain(address)?;
        let (stop, answers) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
        let thread = {
            let (stop, answers) = (stop.clone(), answers.clone());
            thread::spawn(move || {
                for id in 1.. {
                    if stop.load(Ordering::Relaxed) {
                        break;
                    }
                    let start = Instant::now();
                    let ping = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#);
                    let is_answered =
                        session.post(&ping).is_ok_and(|answer| answer.status() == 200);
                    if is_answered && start.elapsed() < IN_TIME {
                        answers.fetch_add(1, Ordering::Relaxed);
                    }
                    thread::sleep(Duration::from_millis(10));
                }
            })
        };
        Ok(Healthy { stop, answers, thread })
    }

    /// Stops, and returns the number of answers in time.
    pub(crate) fn stop(self) -> usize {
        self.stop.store(true, Ordering::Relaxed);
        let _ = self.thread.join();
        self.answers.load(Ordering::Relaxed)
    }
}
