use std::{
    future::{Future, poll_fn},
    pin::pin,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use bytes::Bytes;
use futures_util::Sink;
use mcp_core::TransportError;
use tokio::{
    io::AsyncWrite,
    sync::mpsc,
    time::{Instant, Interval, MissedTickBehavior, interval_at, timeout},
};
use tokio_tungstenite::tungstenite::{Error, Message};

use super::{
    WsSettings,
    link::{Link, Queued},
};

/// How many messages are written before a flush.
const GATHERED: usize = 64;

/// The task that writes to a connection, keeps it alive and closes it.
pub(super) struct Writer {
    link: Arc<Link>,
    queue: mpsc::UnboundedReceiver<Queued>,
    stall_timeout: Duration,
    close_wait: Duration,
    pings: Option<Interval>,
    /// How much had been read when the last ping was sent.
    pinged: Option<u64>,
}

impl Writer {
    pub(super) fn new(
        link: Arc<Link>,
        queue: mpsc::UnboundedReceiver<Queued>,
        settings: &WsSettings,
    ) -> Self {
        let pings = settings.ping_interval.and_then(|period| {
            let period = period.max(Duration::from_millis(1));
            // An interval this long never ticks.
            let first = Instant::now().checked_add(period)?;
            let mut interval = interval_at(first, period);
            interval.set_missed_tick_behavior(MissedTickBehavior::Delay);
            Some(interval)
        });
        Writer {
            link,
            queue,
            stall_timeout: settings.stall_timeout,
            close_wait: settings.close_wait,
            pings,
            pinged: None,
        }
    }

    pub(super) async fn run(mut self) {
        match self.serve().await {
            Ok(()) => self.close().await,
            Err(error) => self.link.end(Some(error)),
        }
        self.link.finish();
    }

    /// Writes until the connection should be closed.
    async fn serve(&mut self) -> Result<(), TransportError> {
        loop {
            tokio::select! {
                biased;
                () = self.link.closing.cancelled() => return Ok(()),
                first = self.queue.recv() => match first {
                    Some(first) => self.write(first).await?,
                    None => return Ok(()),
                },
                () = self.link.pongs_wait.notified() => self.flush().await?,
                () = next_tick(&mut self.pings) => self.ping().await?,
            }
        }
    }

    /// Writes a message and those that wait behind it, then flushes once.
    async fn write(&mut self, first: Queued) -> Result<(), TransportError> {
        let mut room = first.room;
        self.feed(Message::Text(first.text)).await?;
        for _ in 1..GATHERED {
            let Ok(next) = self.queue.try_recv() else { break };
            room.merge(next.room);
            self.feed(Message::Text(next.text)).await?;
        }
        self.flush().await
    }

    async fn ping(&mut self) -> Result<(), TransportError> {
        let read = self.link.traffic.read();
        if self.pinged == Some(read) && self.link.is_receiver_waiting() {
            return Err(TransportError::Lost(
                "nothing was received, not even an answer to a ping".into(),
            ));
        }
        self.pinged = Some(read);
        self.feed(Message::Ping(Bytes::new())).await?;
        self.flush().await
    }

    /// Writes what is queued, sends a close frame, and waits for the peer's.
    async fn close(&mut self) {
        while let Ok(next) = self.queue.try_recv() {
            if let Err(error) = self.write(next).await {
                self.link.end(Some(error));
                return;
            }
        }
        let _ = timeout(self.close_wait, self.send_close_frame()).await;
    }

    async fn send_close_frame(&self) {
        if let Some(frame) = self.link.take_close_frame() {
            // Fails if the peer has already closed.
            let _ = self.feed(Message::Close(Some(frame))).await;
        }
        let _ = self.flush().await;
        while let Some(Ok(_)) = poll_fn(|context| self.link.poll_socket(context)).await {}
        poll_fn(|context| {
            self.link.with_socket(|socket| match socket {
                Some(socket) => {
                    let stream = socket.get_mut().get_mut();
                    pin!(stream).poll_shutdown(context).map(|_| ())
                }
                None => Poll::Ready(()),
            })
        })
        .await;
    }

    async fn feed(&self, message: Message) -> Result<(), TransportError> {
        self.with_progress(|context| {
            self.link.with_socket(|socket| match socket {
                Some(socket) => socket.poll_ready(context),
                None => Poll::Ready(Err(Error::AlreadyClosed)),
            })
        })
        .await?;
        self.link
            .with_socket(|socket| match socket {
                Some(socket) => socket.start_send(message),
                None => Err(Error::AlreadyClosed),
            })
            .map_err(|error| lost(&error))
    }

    async fn flush(&self) -> Result<(), TransportError> {
        self.with_progress(|context| {
            self.link.with_socket(|socket| match socket {
                Some(socket) => {
                    let flushed = socket.poll_flush(context);
                    if matches!(flushed, Poll::Ready(Ok(()))) {
                        self.link.written_everything();
                    }
                    flushed
                }
                None => Poll::Ready(Err(Error::AlreadyClosed)),
            })
        })
        .await
    }

    /// Waits as long as something is written within each limit.
    async fn with_progress(
        &self,
        poll: impl FnMut(&mut Context<'_>) -> Poll<Result<(), Error>>,
    ) -> Result<(), TransportError> {
        let mut work = pin!(poll_fn(poll));
        loop {
            let before = self.link.traffic.written();
            if let Ok(result) = within(self.stall_timeout, work.as_mut()).await {
                return result.map_err(|error| lost(&error));
            }
            if self.link.traffic.written() == before {
                return Err(TransportError::Stalled { seconds: self.stall_timeout.as_secs() });
            }
        }
    }
}

async fn within<F: Future>(limit: Duration, work: F) -> Result<F::Output, ()> {
    timeout(limit, work).await.map_err(|_| ())
}

async fn next_tick(interval: &mut Option<Interval>) {
    match interval {
        Some(interval) => {
            interval.tick().await;
        }
        None => std::future::pending().await,
    }
}

fn lost(error: &Error) -> TransportError {
    match error {
        Error::ConnectionClosed | Error::AlreadyClosed | Error::Protocol(_) => {
            TransportError::Lost("the peer closed the connection".into())
        }
        other => TransportError::Lost(other.to_string()),
    }
}
