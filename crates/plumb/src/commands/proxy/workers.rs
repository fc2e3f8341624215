use std::{io, num::NonZeroUsize, thread::JoinHandle};

use mcp_transport::http::server::{Servable, Worker};
use tokio::{
    runtime::{Builder, Handle},
    sync::watch,
};

/// Threads that serve clients, one per core, each with its own runtime: waking another thread takes
/// longer than forwarding a message.
#[derive(Debug)]
pub(super) struct Workers {
    threads: Vec<(Handle, JoinHandle<()>)>,
    end: watch::Sender<bool>,
}

impl Workers {
    pub(super) fn start() -> io::Result<Workers> {
        let count = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
        let end = watch::channel(false).0;
        let start = |_| {
            let runtime = Builder::new_current_thread().enable_all().build()?;
            let (handle, mut ended) = (runtime.handle().clone(), end.subscribe());
            let name = "plumb-worker".to_owned();
            let thread = std::thread::Builder::new().name(name).spawn(move || {
                runtime.block_on(async {
                    let _ = ended.wait_for(|end| *end).await;
                });
            })?;
            Ok((handle, thread))
        };
        let threads = (0..count).map(start).collect::<io::Result<_>>()?;
        Ok(Workers { threads, end })
    }

    /// A worker on each thread, with its own instance of the service.
    pub(super) fn serving<S: Servable>(&self, service: impl Fn() -> S) -> Vec<Worker<S>> {
        let handles = self.threads.iter().map(|(handle, _)| handle.clone());
        handles.map(|handle| Worker::on(handle, service())).collect()
    }

    /// Stops the threads, and everything that still runs on them.
    pub(super) fn end(self) {
        self.end.send_replace(true);
        for (_, thread) in self.threads {
            // A panic on the thread has been reported there.
            let _ = thread.join();
        }
    }
}
